import sys
print('a'); sys.stderr.write('err\n'); sys.exit(42)