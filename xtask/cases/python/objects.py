import pickle, copy, io, locale, time, weakref, gc, sys, shelve, marshal
class A:
    def __init__(s): s.x=[1]
    def __reduce__(s): return (A,())
print(pickle.loads(pickle.dumps({"a":A().x,"t":(1,2)})), pickle.dumps([1],0), time.strftime("%Y-%m-%d",time.gmtime(86400*365)), time.gmtime(0).tm_year, locale.getlocale()[1] in (None,"UTF-8"), time.perf_counter()<time.perf_counter()+1, time.mktime(time.gmtime(0)))
with shelve.open("sh") as s: s["k"]=[1]
with shelve.open("sh") as s: print(s["k"])
class D:
    def __del__(s): print("del")
d=D(); r=weakref.ref(d); del d; print(r()); print(sys.getsizeof([])>0, sys.maxsize>0, sys.byteorder, sys.version_info[0])
match {"k":[1,2]}:
    case {"k":[a,*b]}: print(a,b)
def gen():
    x=yield 1
    print("got",x); yield from "ab"
g=gen(); next(g); print(g.send(9), list(g)); print({*"a"}|{"b"}=={"a","b"}, {i:i*i for i in range(3)}, [*range(3)], (lambda *a,**k:(a,k))(1,b=2))
