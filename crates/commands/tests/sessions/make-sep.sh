cat > Makefile <<'EOF_FILE'
all:
        echo spaces
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
