cat > Makefile <<'EOF_FILE'
$(info reading)
$(warning careful)
all:
	@echo $(info in recipe)x
err:
	@$(error broken thing)
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
make err
echo "[$?]"
