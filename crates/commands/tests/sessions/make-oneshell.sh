cat > Makefile <<'EOF_FILE'
.ONESHELL:
all:
	@X=5
	echo $$X
	echo b
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
