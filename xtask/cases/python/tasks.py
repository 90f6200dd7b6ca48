import asyncio
async def w(n,t): await asyncio.sleep(t); print("done",n); return n
async def main():
    print(await asyncio.gather(w(1,.03),w(2,.01)))
    q=asyncio.Queue()
    async def prod():
        for i in range(3): await q.put(i)
        await q.put(None)
    async def cons():
        while (x:=await q.get()) is not None: print("got",x)
    await asyncio.gather(prod(),cons())
    try: await asyncio.wait_for(asyncio.sleep(5),.01)
    except asyncio.TimeoutError: print("timeout")
    async with asyncio.Lock(): print("lock")
    async with asyncio.TaskGroup() as tg: t=tg.create_task(w(3,0))
    print(t.result())
asyncio.run(main())
