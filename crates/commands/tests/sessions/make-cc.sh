cat > Makefile <<'EOF_FILE'
CC=echo cc
CFLAGS=-O2
all: prog
prog: a.o b.o
	$(CC) -o $@ $^
EOF_FILE
touch -d @1600000000 Makefile
touch a.c
touch -d @1600000000 a.c
touch b.c
touch -d @1600000000 b.c
make
echo "[$?]"
make -n
echo "[$?]"
make x
echo "[$?]"
