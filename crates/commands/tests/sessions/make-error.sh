cat > Makefile <<'EOF_FILE'
all: ok bad after
ok:
	@echo ok
bad:
	@echo before; exit 3
	@echo never
after:
	@echo after
ign:
	-false
	@echo still
miss: nothere
	echo x
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
make -k
echo "[$?]"
make ign
echo "[$?]"
make miss
echo "[$?]"
make -k miss
echo "[$?]"
make -i bad
echo "[$?]"
make bad ok
echo "[$?]"
