cat > Makefile <<'EOF_FILE'
a:
	@echo 1
a:
	@echo 2
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
