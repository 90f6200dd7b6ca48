import heapq, bisect, functools, operator, copy, array, types
h=[5,2,8]; heapq.heapify(h); heapq.heappush(h,1); print([heapq.heappop(h) for _ in range(4)], heapq.nlargest(2,[1,5,3]), bisect.bisect([1,3,5],3), list(heapq.merge([1,4],[2,3])))
@functools.lru_cache(None)
def fib(n): return n if n<2 else fib(n-1)+fib(n-2)
print(fib(100), fib.cache_info(), functools.reduce(operator.mul,[1,2,3]), sorted([(2,"a"),(1,"b")],key=operator.itemgetter(1)), functools.partial(int,base=2)("101"), copy.deepcopy({"a":[1]}), array.array("i",[1,2]))
@functools.singledispatch
def f(x): return "o"
@f.register
def _(x:int): return "i"
print(f(1),f(""))
