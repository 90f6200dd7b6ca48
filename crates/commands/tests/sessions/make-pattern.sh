cat > Makefile <<'EOF_FILE'
SRC := $(wildcard *.in)
OUT := $(SRC:.in=.out)
all: $(OUT)
%.out: %.in
	@echo "$< -> $@ ($*)"
	cat $< > $@
EOF_FILE
touch -d @1600000000 Makefile
cat > a.in <<'EOF_FILE'
1
EOF_FILE
touch -d @1600000000 a.in
cat > b.in <<'EOF_FILE'
2
EOF_FILE
touch -d @1600000000 b.in
make
echo "[$?]"
make
echo "[$?]"
touch a.in -d 2024-06-01; make
echo "[$?]"
make c.out
echo "[$?]"
