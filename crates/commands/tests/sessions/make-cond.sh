cat > Makefile <<'EOF_FILE'
X=1
ifeq ($(X),1)
R=one
else ifeq ($(X),2)
R=two
else
R=other
endif
ifdef Y
S=def
else
S=undef
endif
ifneq "$(X)" "1"
T=ne
endif
ifndef Z
U=nz
endif
all:
	@echo $(R) $(S) $(T) $(U)
ifdef Y
	@echo y set
endif
EOF_FILE
touch -d @1600000000 Makefile
make
echo "[$?]"
make X=2
echo "[$?]"
make X=3 Y=1 Z=1
echo "[$?]"
