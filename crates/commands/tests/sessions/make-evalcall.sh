cat > Makefile <<'EOF_FILE'
define RULE
$(1):
	@echo rule $(1)
endef
T = p q
$(foreach t,$(T),$(eval $(call RULE,$(t))))
all: $(T)
.DEFAULT_GOAL := all
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
make q
echo "[$?]"
