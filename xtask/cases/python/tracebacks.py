import traceback, sys
def g(): raise ValueError("inner")
def f():
    try: g()
    except ValueError as e: raise RuntimeError("outer") from e
try: f()
except RuntimeError: print([l for l in traceback.format_exc().splitlines() if "File" not in l and set(l)-set(" ^~")]); print(sys.exc_info()[0])
class E(Exception): pass
try: raise ExceptionGroup("g",[E(1),ValueError(2)])
except* E as x: print("eg",x.exceptions)
except* ValueError: pass
