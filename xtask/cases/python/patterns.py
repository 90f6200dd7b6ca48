import re
print(re.findall(r"(?P<w>\w+)@(\w+)\.com","a@b.com c@d.com"), re.sub(r"\b(\w)(\w*)", lambda m:m[1].upper()+m[2],"hello big world"))
print(re.split(r"[,;]\s*","a, b;c"), re.match(r"(?x) \d{3} - \d+ ","555-1234").span(), re.compile("a.c",re.S|re.I))
try: re.compile("(")
except re.error as e: print(e)
