cat > Makefile <<'EOF_FILE'
a b: c
	touch $@
c:
	touch c
long: \
  a \
  b
	@echo one \
	two
	@echo "x\
	y"
EOF_FILE
touch -d @1600000000 Makefile
make long
echo "[$?]"
make
echo "[$?]"
