import sqlite3
c=sqlite3.connect("t.db"); c.execute("create table t(a int, b text)"); c.executemany("insert into t values(?,?)",[(1,"x"),(2,"y")]); c.commit()
c.row_factory=sqlite3.Row; print([dict(r) for r in c.execute("select *, a*2 d from t order by a desc")], c.execute("select count(*), max(b) from t").fetchone()[0])
try: c.execute("select * from nope")
except sqlite3.OperationalError as e: print(e)
with c: c.execute("update t set a=9 where a=1")
print(c.total_changes, list(map(tuple,c.execute("select * from t")))); c.close()
