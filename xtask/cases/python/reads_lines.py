# stdin: one two
import sys
for i,l in enumerate(sys.stdin): print(i,l.rstrip()[::-1])
