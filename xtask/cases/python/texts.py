import textwrap, string, difflib, pprint, reprlib
print(textwrap.fill("the quick brown fox "*4,30)); print(textwrap.dedent("  a\n   b")); print(string.Template("$a ${b} $$").substitute(a=1,b=2)); print(f"{3.14159:10.2f}|{'x':^7}|{255:#x}|{1234567:,}|{0.25:%}|{-5:+d}|{'abc'!r:>8}|{2**70:e}")
print("\n".join(difflib.unified_diff(["a","b"],["a","c"],lineterm=""))); print(difflib.get_close_matches("appel",["ape","apple"])); pprint.pprint({"k%d"%i:list(range(i)) for i in range(12)},width=50); print("%5.1f %s %r %x"%(1.25,"a","b",255), "{:>{w}}".format(1,w=4), reprlib.repr(list(range(99))))
