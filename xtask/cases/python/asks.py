# stdin: 5 3 1
n=input('? ')
print(sorted(map(int,n.split())))
try:
  while True: print(input())
except EOFError: print('eof')
