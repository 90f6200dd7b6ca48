cat > Makefile <<'EOF_FILE'
.DEFAULT:
	@echo default $@
all: zz
	@echo all
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
make qq
echo "[$?]"
