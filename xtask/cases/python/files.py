import os, tempfile, pathlib, shutil, glob, stat, sys
with tempfile.TemporaryDirectory() as d:
    p=pathlib.Path(d); (p/"a"/"b").mkdir(parents=True); (p/"a"/"x.txt").write_text("héllo\n", encoding="utf-8"); (p/"a"/"b"/"y.bin").write_bytes(bytes(range(5)))
    for r,ds,fs in os.walk(d): print(os.path.relpath(r,d), sorted(ds), sorted(fs))
    print(sorted(os.path.relpath(x,d) for x in glob.glob(d+"/**",recursive=True)), [x.name for x in sorted(p.rglob("*.*"))])
    shutil.copytree(p/"a",p/"c"); shutil.move(str(p/"c"),str(p/"e")); print(sorted(os.listdir(d)), os.path.getsize(p/"a"/"x.txt"), (p/"e"/"b"/"y.bin").read_bytes())
    os.rename(p/"a"/"x.txt",p/"z.txt"); os.symlink("z.txt",p/"l"); print(os.readlink(p/"l"), (p/"l").read_text(encoding="utf-8"), os.path.islink(p/"l"))
    shutil.make_archive(str(p/"arc"),"zip",p/"e"); print((p/"arc.zip").exists())
    with open(p/"q","w+") as f: f.write("abcdef"); f.seek(2); print(f.read(2), f.tell()); f.truncate(3)
    print(open(p/"q").read(), p.joinpath("q").stat().st_size); os.utime(p/"q",(1,2)); print(os.stat(p/"q").st_mtime)
    shutil.rmtree(p/"e"); os.remove(p/"q"); print((p/"e").exists(), p.is_dir(), p.suffix, pathlib.PurePosixPath("/a/b.tar.gz").suffixes)
print(os.path.exists(d)); f=tempfile.NamedTemporaryFile("w",suffix=".x"); print(f.name.endswith(".x")); print(os.path.join("a","/b"), os.path.splitext("a.b.c"), os.path.normpath("a/../b//c"), os.path.commonpath(["/a/b","/a/c"]))
print(os.path.isabs(__file__), os.path.dirname(os.path.abspath(__file__))==os.getcwd(), pathlib.Path(__file__).resolve().parent==pathlib.Path.cwd(), os.sep, os.linesep==chr(10), os.name, sys.platform in("linux","wasi"))
