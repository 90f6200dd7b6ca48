from typing import *; import abc, contextlib, inspect
T=TypeVar("T")
class S(Generic[T]):
    def __init__(s,x:T): s.x=x
class P(Protocol):
    def m(self)->int: ...
print(S[int](3).x, get_type_hints(S.__init__), Optional[int], Union[int,str], List[int], Callable[[int],str])
class A(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
try: A()
except TypeError as e: print(type(e))
@contextlib.contextmanager
def cm():
    print("in")
    try: yield 5
    finally: print("out")
with cm() as v, contextlib.suppress(KeyError): print(v); {}["x"]
print(inspect.signature(lambda a,*b,c=1,**d:0)); import io
with contextlib.redirect_stdout(io.StringIO()) as s: print("cap")
print(repr(s.getvalue()))
