cat > Makefile <<'EOF_FILE'
.DELETE_ON_ERROR:
x:
	echo part > x; false
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
ls
echo "[$?]"
