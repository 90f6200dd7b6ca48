import argparse
p=argparse.ArgumentParser(prog="tool",description="Does it."); p.add_argument("f",nargs="+",help="files"); p.add_argument("-n",type=int,default=3); p.add_argument("--v",action="store_true"); s=p.parse_args(["a","-n","5"]); print(s); p.print_help()
p.parse_args(["-n","x"])
