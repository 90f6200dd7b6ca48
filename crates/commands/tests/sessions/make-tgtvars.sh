cat > Makefile <<'EOF_FILE'
all: V = target
all: dep
	@echo $(V)
dep:
	@echo dep $(V)
other:
	@echo other $(V)
V=global
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
make other
echo "[$?]"
