from dataclasses import *
from enum import *
@dataclass(order=True, frozen=True)
class A:
    x:int; y:str="q"; z:list=field(default_factory=list, compare=False)
class C(Enum): RED=1; BLUE=auto()
class F(IntFlag): A=1; B=2
print(A(1), A(1)<A(2), asdict(A(3)), C.RED, repr(C.BLUE), C["RED"].value, F.A|F.B, list(C))
try: A(1).x=4
except FrozenInstanceError as e: print(e)
