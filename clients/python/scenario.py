"""What a builder does with the Python client, end to end, with the installed package; fails loudly."""

import asyncio
import os
import tempfile
import threading
import time

import drydock
from drydock import AsyncSandbox, Chunk, DrydockError, Result, Sandbox


def expect(what, got, want):
    assert got == want, f"{what}: {got!r} instead of {want!r}"


def sync():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.txt"), "w") as file:
            file.write("b\na\n")
        with Sandbox(f"{folder}:/data", workspace="scenario", allow_commit=True, flags=["--env=A=1"]) as box:
            expect("sh", box.sh("sort /data/a.txt | tr a-z A-Z").stdout, "A\nB\n")
            expect("status", box.sh("exit 3").status, 3)
            expect("stdin", box.sh("cat", stdin="hi").stdout, "hi")
            expect("argument list", box.run("printf", "%s", "a; b | c").stdout, "a; b | c")
            expect("bytes", box.run("printf", r"\377\0").stdout_bytes, b"\xff\0")
            expect("js", box.js("args.n + 1", {"n": 41}).value, 42)
            box.write("/workspace/deep/x.bin", b"\x00\xff")
            expect("read", box.read_bytes("/workspace/deep/x.bin"), b"\x00\xff")
            box.write("/data/new.txt", "new\n")
            expect("changes", [(it.path, it.kind) for it in box.changes()], [("/data/new.txt", "added")])
            assert "+new" in box.diff(), box.diff()
            expect("kept until the commit", os.path.exists(os.path.join(folder, "new.txt")), False)
            expect("commit", [it.kind for it in box.commit()], ["added"])
            expect("committed", os.path.exists(os.path.join(folder, "new.txt")), True)
            items = list(box.stream("echo one; echo two >&2"))
            assert isinstance(items[-1], Result) and items[-1].status == 0, items
            expect("stdout", "".join(it.text for it in items if isinstance(it, Chunk) and it.stream == "stdout"), "one\n")
            try:
                box.read("/workspace/nothing")
                raise AssertionError("a missing file was read")
            except DrydockError as error:
                expect("code", error.code, "not_found")
            try:
                box.js("throw new Error('no')")
                raise AssertionError("a program that throws has no value")
            except DrydockError as error:
                expect("code", error.code, "runtime_error")
            try:
                box.py("1 + 1")
                raise AssertionError("python answered that nobody installed")
            except DrydockError as error:
                expect("code", error.code, "not_installed")
            expect("limit", box.sh("sleep 20", timeout=0.2).status, 124)
            # Side by side from threads.
            answers = []
            threads = [threading.Thread(target=lambda n=n: answers.append(box.sh(f"echo {n}").stdout)) for n in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            expect("threads", sorted(answers), [f"{n}\n" for n in range(8)])
            # A stream that is left ends its script, and the next call is fine.
            for _ in box.stream("while true; do echo x; sleep 0.01; done"):
                break
            expect("after a stream was left", box.sh("echo fine").stdout, "fine\n")
        try:
            box.sh("echo")
            raise AssertionError("a closed sandbox answered")
        except DrydockError as error:
            expect("code", error.code, "closed")
    try:
        Sandbox(flags=["--no-such-flag"])
        raise AssertionError("a wrong flag was taken")
    except DrydockError as error:
        assert "--no-such-flag" in error.message, error


async def asynchronous():
    async with AsyncSandbox(allow=["echo", "cat", "sleep"]) as box:
        results = await asyncio.gather(*(box.sh(f"echo {n}") for n in range(5)))
        expect("gather", [it.stdout for it in results], [f"{n}\n" for n in range(5)])
        expect("not allowed", (await box.sh("jq . <<< 1")).status, 126)
        expect("run", (await box.run("cat", stdin="x")).stdout, "x")
        await box.write("a", "text")
        expect("read", await box.read("a"), "text")
        chunks = [it async for it in box.stream("echo a")]
        expect("stream", chunks[0], Chunk("stdout", "a\n"))
        began = time.monotonic()
        task = asyncio.create_task(box.sh("sleep 60"))
        await asyncio.sleep(0.2)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
        expect("after a cancelled call", (await box.sh("echo fine")).stdout, "fine\n")
        assert time.monotonic() - began < 30, "a cancelled call went on"


sync()
asyncio.run(asynchronous())
print(f"python client {drydock.__version__}: fine")
