import unicodedata, sys, html, codecs
s="Straße 😀 é"; print(s, len(s), s.upper(), s.casefold(), unicodedata.normalize("NFC",s)[-1], unicodedata.name("é"), s.encode("utf-16-le")[:4], "中".encode("gb2312"), b"\xe9".decode("latin-1"), ascii(s), html.escape("<a&'>"), html.unescape("&eacute;&#65;"))
try: b"\xff".decode()
except UnicodeDecodeError as e: print(e)
open("l1","w",encoding="latin-1").write("é"); print(open("l1","rb").read(), open("l1",encoding="latin-1").read(), codecs.encode("abc","rot13"), "a".center(5,"*"), "abc".translate({97:"x"}), "A-b c".title(), "x".isidentifier(), "٣".isdigit(), int("٣"))
