from collections import *
print(Counter("mississippi").most_common(2), deque([1,2,3],maxlen=2), defaultdict(list,{"a":[1]}), ChainMap({"a":1},{"b":2})["b"])
N=namedtuple("N","x y"); n=N(1,y=2); print(n, n._asdict(), n._replace(x=5))
