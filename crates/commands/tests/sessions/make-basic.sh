cat > Makefile <<'EOF_FILE'
all: a b
	@echo done $@ from $^
a:
	echo making a > a
b: a
	cp a b

.PHONY: all clean
clean:
	rm -f a b
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
make
echo "[$?]"
make -n
echo "[$?]"
make clean
echo "[$?]"
make b
echo "[$?]"
make b
echo "[$?]"
make nosuch
echo "[$?]"
make -s
echo "[$?]"
make -B b
echo "[$?]"
touch -d 2001-01-01 a; make b; touch -d 2024-06-01 a; make b
echo "[$?]"
