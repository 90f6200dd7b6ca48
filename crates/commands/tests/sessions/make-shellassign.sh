cat > Makefile <<'EOF_FILE'
A != echo one two
B := $(shell printf "a\nb\n")
all: ; @echo $(A) $(B) $(.SHELLSTATUS)
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
