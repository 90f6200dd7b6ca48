cat > Makefile <<'EOF_FILE'
# c
A = b # trailing
all: # comment
	# shell comment
	@echo "$(A)|" \# x

	@echo after blank
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
