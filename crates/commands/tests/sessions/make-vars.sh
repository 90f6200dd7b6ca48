cat > Makefile <<'EOF_FILE'
A = $(B) x
B := 1
C ?= dflt
B += 2
D = $(A:x=y) $(B:%=<%>)
define M
line1 $(1)
line2
endef
all:
	@echo "$(A)" "$(B)" "$(C)" "$(D)"
	@echo "$(words a b c)" "$(word 2,a b c)" "$(firstword a b)" "$(lastword a b)"
	@echo "$(subst a,b,banana)" "$(patsubst %.c,%.o,x.c y.c z.h)" "$(filter %.c,a.c b.h c.c)" "$(filter-out %.c,a.c b.h)"
	@echo "$(sort c a b a)" "$(dir src/a.c b.c)" "$(notdir src/a.c)" "$(basename src/a.c b)" "$(suffix src/a.c b)" "$(addprefix p/,a b)" "$(addsuffix .o,a b)" "$(join a b,1 2)"
	@echo "$(strip  a   b )" "$(findstring a,abc)" "$(if x,yes,no)" "$(if ,yes,no)" "$(or ,b)" "$(and a,b)" "$(wordlist 2,3,a b c d)"
	@echo "$(foreach v,1 2 3,<$(v)>)" "$(origin A) $(origin CC) $(origin nosuch) $(origin PATH) $(flavor A) $(flavor B)"
	@echo "$(call F,1,2)" "v" "$(shell echo hi; echo there)"
F = f($(1),$(2),$(0))
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
make C=cmd
echo "[$?]"
C=env make
echo "[$?]"
make -e B=zz
echo "[$?]"
make "A=over ride"
echo "[$?]"
make B=9
echo "[$?]"
