cat > Makefile <<'EOF_FILE'
.SILENT: a
a:
	echo a
b:
	echo b
EOF_FILE
touch -d @1600000000 Makefile
make a b
echo "[$?]"
