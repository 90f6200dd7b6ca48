cat > Makefile <<'EOF_FILE'
$(error top level)
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
