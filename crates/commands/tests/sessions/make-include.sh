cat > Makefile <<'EOF_FILE'
include a.mk
-include nosuch.mk
all: inc
	@echo $(V)
EOF_FILE
touch -d @1600000000 Makefile
cat > a.mk <<'EOF_FILE'
V=from a
inc:
	@echo inc
EOF_FILE
touch -d @1600000000 a.mk
make
echo "[$?]"
