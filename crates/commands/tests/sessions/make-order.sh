cat > Makefile <<'EOF_FILE'
out/f: src | out
	cp src out/f
out:
	mkdir -p out
EOF_FILE
touch -d @1600000000 Makefile
cat > src <<'EOF_FILE'
x
EOF_FILE
touch -d @1600000000 src
make
echo "[$?]"
make
echo "[$?]"
touch -d 2024-06-01 src; make
echo "[$?]"
