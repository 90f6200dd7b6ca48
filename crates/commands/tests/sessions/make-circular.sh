cat > Makefile <<'EOF_FILE'
a: b
	@echo a
b: a
	@echo b
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
