cat > Makefile <<'EOF_FILE'
all:
x: all
f:

EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
make x
echo "[$?]"
touch f; make f
echo "[$?]"
