import sys
sys.setrecursionlimit(3000)
def f(n): return 0 if n==0 else 1+f(n-1)
print(f(2500))
assert 1==2, 'no'