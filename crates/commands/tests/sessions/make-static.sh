cat > Makefile <<'EOF_FILE'
OBJ = x.o y.o
all: $(OBJ)
$(OBJ): %.o: %.src
	@echo $@ from $< stem $*
	touch $@
EOF_FILE
touch -d @1600000000 Makefile
touch x.src
touch -d @1600000000 x.src
touch y.src
touch -d @1600000000 y.src
make
echo "[$?]"
make
echo "[$?]"
