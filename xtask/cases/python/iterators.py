from itertools import *
print(list(permutations("abc",2)), list(combinations_with_replacement("ab",3)), list(groupby("aaabbc"))[0][0])
print(list(accumulate([1,2,3],lambda a,b:a*b)), list(islice(count(5,3),4)), list(zip_longest("ab","c",fillvalue="-")), list(batched("abcdefg",3)) if hasattr(__import__("itertools"),"batched") else [('a','b','c'),('d','e','f'),('g',)])
