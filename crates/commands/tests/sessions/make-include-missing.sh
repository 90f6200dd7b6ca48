cat > Makefile <<'EOF_FILE'
include nosuch.mk
all:
	echo
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
