import json, sys
d={"b":[1,2.5,None,True],"a":{"x":"é中"},"n":float("inf")}
print(json.dumps(d, sort_keys=True, indent=2)); print(json.dumps(d, ensure_ascii=False))
try: json.loads("{bad}")
except json.JSONDecodeError as e: print(e, e.pos, e.lineno)
print(json.loads('[1e10, "\\ud83d\\ude00"]'))
