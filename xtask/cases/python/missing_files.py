for p,m in (("missing","r"),(".","r"),("/x/y/z","w")):
    try: open(p,m)
    except OSError as e: print(type(e).__name__, e.strerror, e.filename, e)
import os
for f in (lambda: os.mkdir("."), lambda: os.rmdir("nope"), lambda: os.listdir("q")):
    try: f()
    except OSError as e: print(type(e).__name__, e.strerror, e.filename)
