import csv, io, sys
r=list(csv.DictReader(io.StringIO('a,b\n1,"x,y"\n2,"q""z"\n'))); print(r)
w=csv.writer(sys.stdout, quoting=csv.QUOTE_ALL); w.writerow(["a",1,None,"x\ny"])
with open('t.csv','w',newline='') as f: csv.writer(f).writerows([[1,2],[3,4]])
print(open('t.csv').read())
