cat > Makefile <<'EOF_FILE'
.SUFFIXES:
.SUFFIXES: .txt .out
.txt.out:
	cp $< $@
all: a.out
EOF_FILE
touch -d @1600000000 Makefile
cat > a.txt <<'EOF_FILE'
x
EOF_FILE
touch -d @1600000000 a.txt
make
echo "[$?]"
