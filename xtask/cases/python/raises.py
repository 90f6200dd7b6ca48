import atexit
atexit.register(print,'bye')
d={}
d['k']