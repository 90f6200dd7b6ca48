import os
print('x',flush=True)
os._exit(5)