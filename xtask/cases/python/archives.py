import zipfile, tarfile, io
b=io.BytesIO()
with zipfile.ZipFile(b,"w",zipfile.ZIP_DEFLATED) as z: z.writestr("a/b.txt","hello"*100)
z=zipfile.ZipFile(b); print(z.namelist(), z.read("a/b.txt")[:5], z.getinfo("a/b.txt").compress_size)
open("f.txt","w").write("q")
with tarfile.open("t.tgz","w:gz") as t: t.add("f.txt")
with tarfile.open("t.tgz") as t: print(t.getnames(), t.extractfile("f.txt").read())
