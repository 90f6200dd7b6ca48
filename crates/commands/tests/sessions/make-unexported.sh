cat > Makefile <<'EOF_FILE'
A=1
export B=2
export
unexport C
C=3
all:
	@echo "$$A $$B $$C"
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
