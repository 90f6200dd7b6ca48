cat > Makefile <<'EOF_FILE'
all:
	$(MAKE) -C d
	@cd d && $(MAKE) two
export V = exported
EOF_FILE
touch -d @1600000000 Makefile
mkdir -p d
cat > d/Makefile <<'EOF_FILE'
one:
	@echo one $(V) $$V $(MAKELEVEL)
two:
	@echo two
EOF_FILE
touch -d @1600000000 d/Makefile
make
echo "[$?]"
make -s
echo "[$?]"
make --no-print-directory
echo "[$?]"
make -n
echo "[$?]"
make V=c
echo "[$?]"
make -C d
echo "[$?]"
make -C d -s
echo "[$?]"
