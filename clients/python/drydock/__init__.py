"""A sandbox for what agents write: lines, commands, JavaScript and files, in one process beside yours.

`Sandbox` starts the `drydock` binary that came with this package and speaks JSON lines with it;
`AsyncSandbox` does the same with `await`. Nothing is shared with your process but what you hand over.
"""

from __future__ import annotations

import asyncio
import base64
import codecs
import itertools
import json
import os
import queue
import shutil
import subprocess
import sysconfig
import threading
from dataclasses import dataclass, field
from typing import Any, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence

__all__ = ["AsyncSandbox", "Change", "Chunk", "DrydockError", "Program", "PyProgram", "Result", "Sandbox"]
__version__ = "0.1.0"

#: Longest message of the binary.
_LINE_BYTES_MAX = 128 << 20


class DrydockError(Exception):
    """An operation without a result: `code` is stable, the text is for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Result:
    """How a line or a command ended. A status that is not 0 is an answer, not an exception."""

    status: int
    stdout: str
    stderr: str
    stdout_bytes: bytes = field(repr=False)
    stderr_bytes: bytes = field(repr=False)
    #: The limit that ended it, if one did, such as `timed_out`.
    limit: str | None = None

    def check(self) -> "Result":
        """Itself, or `DrydockError` with the code `failed` if the status is not 0."""
        if self.status != 0:
            raise DrydockError("failed", f"status {self.status}: {self.stderr.strip() or self.limit or 'no message'}")
        return self


@dataclass(frozen=True)
class Program:
    """What a JavaScript program answered."""

    value: Any
    logs: list[str]


@dataclass(frozen=True)
class PyProgram:
    """What a Python program answered, wrote, changed and displayed."""

    value: Any
    status: int
    stdout: str
    stderr: str
    files: list[Change]
    displays: list[dict[str, Any]]


@dataclass(frozen=True)
class Chunk:
    """Something that was written: to `stdout` or to `stderr`."""

    stream: str
    text: str


@dataclass(frozen=True)
class Change:
    """A file that differs from the mounted directory: `added`, `modified` or `removed`."""

    path: str
    kind: str
    size: int


def _binary() -> str:
    """The binary: `DRYDOCK_BINARY`, the one of this package, or the one on the path."""
    named = os.environ.get("DRYDOCK_BINARY")
    if named:
        return named
    folders = [sysconfig.get_path("scripts")]
    if "nt" != os.name:
        folders.append(sysconfig.get_path("scripts", scheme="posix_user"))
    for folder in folders:
        candidate = os.path.join(folder, "drydock")
        if os.access(candidate, os.X_OK):
            return candidate
    found = shutil.which("drydock")
    if found is None:
        raise DrydockError("no_binary", "the binary `drydock` was not found; set DRYDOCK_BINARY")
    return found


def _words(
    dir: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None,
    workspace: str | None,
    allow: Iterable[str] | None,
    timeout: float | None,
    memory: str | None,
    env: Mapping[str, str] | None,
    allow_commit: bool,
    flags: Sequence[str],
) -> list[str]:
    words = [_binary(), "stdio"]
    if dir is not None:
        many = [dir] if isinstance(dir, (str, os.PathLike)) else list(dir)
        words += [f"--dir={os.fspath(it)}" for it in many]
    if workspace is not None:
        words.append(f"--workspace={workspace}")
    if allow is not None:
        words.append("--allow=" + ",".join(allow))
    if timeout is not None:
        words.append(f"--timeout={round(timeout * 1000)}ms")
    if memory is not None:
        words.append(f"--memory={memory}")
    words += [f"--env={name}={value}" for name, value in (env or {}).items()]
    if allow_commit:
        words.append("--allow-commit")
    return words + list(flags)


def _with_time(given: dict[str, Any], timeout: float | None) -> dict[str, Any]:
    return given if timeout is None else {**given, "timeout_ms": round(timeout * 1000)}


def _line_input(script: str, stdin: str | None, timeout: float | None) -> dict[str, Any]:
    given: dict[str, Any] = {"script": script}
    if stdin is not None:
        given["stdin"] = stdin
    return _with_time(given, timeout)


def _command_input(name: str, args: Sequence[str], stdin: str | None, timeout: float | None) -> dict[str, Any]:
    given: dict[str, Any] = {"name": name, "args": list(args)}
    if stdin is not None:
        given["stdin"] = stdin
    return _with_time(given, timeout)


def _program_input(code: str, args: Any, timeout: float | None) -> dict[str, Any]:
    given: dict[str, Any] = {"code": code}
    if args is not None:
        given["args"] = args
    return _with_time(given, timeout)


def _write_input(path: str, content: str | bytes) -> dict[str, Any]:
    if isinstance(content, str):
        return {"path": path, "text": content}
    return {"path": path, "base64": base64.b64encode(content).decode("ascii")}


def _result(answer: Mapping[str, Any]) -> Result:
    def exact(name: str) -> bytes:
        encoded = answer.get(name + "_base64")
        return base64.b64decode(encoded) if encoded is not None else answer[name].encode()

    return Result(
        status=answer["status"],
        stdout=answer["stdout"],
        stderr=answer["stderr"],
        stdout_bytes=exact("stdout"),
        stderr_bytes=exact("stderr"),
        limit=answer.get("limit"),
    )


def _program(answer: Mapping[str, Any]) -> Program:
    if not answer["ok"]:
        error = answer["error"]
        raise DrydockError(error["code"], error["message"])
    return Program(value=answer.get("result"), logs=list(answer["logs"]))


def _py_program(answer: Mapping[str, Any]) -> PyProgram:
    if not answer["ok"]:
        error = answer["error"]
        raise DrydockError(error["code"], error.get("traceback") or error["message"])
    return PyProgram(
        value=answer.get("result"),
        status=answer["status"],
        stdout=answer["stdout"],
        stderr=answer["stderr"],
        files=_changes(answer.get("files", [])),
        displays=list(answer.get("displays", [])),
    )


def _content(answer: Mapping[str, Any]) -> bytes:
    text = answer.get("text")
    return text.encode() if text is not None else base64.b64decode(answer["base64"])


def _changes(rows: Iterable[Mapping[str, Any]]) -> list[Change]:
    return [Change(path=it["path"], kind=it["kind"], size=it["size"]) for it in rows]


class _Decoder:
    """Bytes of two streams to text, characters that are cut in two included."""

    def __init__(self) -> None:
        make = codecs.getincrementaldecoder("utf-8")
        self._of = {name: make(errors="replace") for name in ("stdout", "stderr")}

    def chunk(self, message: Mapping[str, Any]) -> Chunk:
        raw = message.get("text", "").encode() if "text" in message else base64.b64decode(message["base64"])
        return Chunk(message["stream"], self._of[message["stream"]].decode(raw))


def _failure(message: Mapping[str, Any]) -> DrydockError:
    return DrydockError(message["error"]["code"], message["error"]["message"])


class Sandbox:
    """A sandbox, for code that waits. Use it in a `with` statement, or call `close()`.

    `dir` mounts directories of yours copy-on-write (`"path"`, `"path:/place:ro"`); `workspace` names files
    that stay; `allow` lists the commands that may run; `timeout` (seconds) and `memory` (`"64MiB"`) bound each
    call; `flags` are further flags of `drydock stdio`. Calls from several threads run side by side.
    """

    def __init__(
        self,
        dir: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        *,
        workspace: str | None = None,
        allow: Iterable[str] | None = None,
        timeout: float | None = None,
        memory: str | None = None,
        env: Mapping[str, str] | None = None,
        allow_commit: bool = False,
        flags: Sequence[str] = (),
    ) -> None:
        words = _words(dir, workspace, allow, timeout, memory, env, allow_commit, flags)
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any] | None]] = {}
        self._closed = False
        self._said: list[bytes] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._complaints = threading.Thread(target=self._hear_complaints, daemon=True)
        ready: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._waiting[0] = ready
        self._listener.start()
        self._complaints.start()
        if ready.get() is None:
            raise self._gone()

    def sh(self, script: str, *, stdin: str | None = None, timeout: float | None = None,
           on_output: Callable[[Chunk], None] | None = None) -> Result:
        """Runs a script in bash's language. `on_output` is told of what is written, as it is written."""
        return _result(self._call("sh", _line_input(script, stdin, timeout), on_output))

    def stream(self, script: str, *, stdin: str | None = None, timeout: float | None = None) -> Iterator[Chunk | Result]:
        """What a script writes, as it writes it; the last item is its `Result`. Leaving the loop ends the script."""
        decoder = _Decoder()
        number, answers = self._send("sh", _line_input(script, stdin, timeout), stream=True)
        ended = False
        try:
            while True:
                message = answers.get()
                if message is None:
                    ended = True
                    raise self._gone()
                if "stream" in message:
                    yield decoder.chunk(message)
                    continue
                ended = True
                if "error" in message:
                    raise _failure(message)
                yield _result(message["result"])
                return
        finally:
            if not ended:
                self._write({"cancel": number})
            self._forget(number)

    def run(self, name: str, *args: str, stdin: str | None = None, timeout: float | None = None) -> Result:
        """Runs one command with a list of arguments that no shell looks at."""
        return _result(self._call("run", _command_input(name, args, stdin, timeout)))

    def js(self, code: str, args: Any = None, *, timeout: float | None = None) -> Program:
        """Runs a JavaScript program; its last expression, or what it returns, is the value."""
        return _program(self._call("js", _program_input(code, args, timeout)))

    def py(self, code: str, args: Any = None, *, stdin: str = "", timeout: float | None = None) -> PyProgram:
        """Runs a Python program; its last expression is the value. Wants `drydock catalog add python`."""
        return _py_program(self._call("py", {**_program_input(code, args, timeout), "stdin": stdin}))

    def read(self, path: str) -> str:
        """A file as text."""
        return self.read_bytes(path).decode()

    def read_bytes(self, path: str) -> bytes:
        """A file as bytes."""
        return _content(self._call("read_file", {"path": path}))

    def write(self, path: str, content: str | bytes) -> None:
        """Writes a whole file, making its directories."""
        self._call("write_file", _write_input(path, content))

    def diff(self) -> str:
        """What was changed in the mounted directories, as a unified diff."""
        return str(self._call("diff", {})["diff"])

    def changes(self) -> list[Change]:
        """What was changed in the mounted directories, as a list."""
        return _changes(self._call("diff", {"names_only": True})["changes"])

    def commit(self, *, force: bool = False) -> list[Change]:
        """Writes the changes into the mounted directories; needs `allow_commit` and a workspace."""
        return _changes(self._call("commit", {"force": force})["written"])

    def close(self) -> None:
        """Ends whatever runs, and the process."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        try:
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process.wait(timeout=5)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        for thread in (self._listener, self._complaints):
            thread.join(timeout=1)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, operation: str, given: dict[str, Any], on_output: Callable[[Chunk], None] | None = None) -> Any:
        decoder = _Decoder()
        number, answers = self._send(operation, given, stream=on_output is not None)
        try:
            while True:
                message = answers.get()
                if message is None:
                    raise self._gone()
                if "stream" in message:
                    if on_output is not None:
                        on_output(decoder.chunk(message))
                    continue
                if "error" in message:
                    raise _failure(message)
                return message["result"]
        except BaseException:
            # Whoever interrupts the wait does not want the answer any more.
            self._write({"cancel": number})
            raise
        finally:
            self._forget(number)

    def _send(self, operation: str, given: dict[str, Any], stream: bool) -> tuple[int, queue.SimpleQueue[dict[str, Any] | None]]:
        number = next(self._ids)
        answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        with self._lock:
            if self._closed or self._process.poll() is not None:
                raise self._gone()
            self._waiting[number] = answers
        self._write({"id": number, "op": operation, "input": given, "stream": stream})
        return number, answers

    def _write(self, message: dict[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        with self._lock:
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(line)
                self._process.stdin.flush()
            except (OSError, ValueError):
                # The listener sees the end of the process and tells everybody who waits.
                pass

    def _forget(self, number: int) -> None:
        with self._lock:
            self._waiting.pop(number, None)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            with self._lock:
                answers = self._waiting.get(message.get("id", 0))
            if answers is not None:
                answers.put(message)
        with self._lock:
            self._closed = True
            waiting = list(self._waiting.values())
        for answers in waiting:
            answers.put(None)

    def _hear_complaints(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said = [*self._said[-19:], line]

    def _gone(self) -> DrydockError:
        self._complaints.join(timeout=1)
        said = b"".join(self._said).decode(errors="replace").strip()
        return DrydockError("closed", said or "the sandbox is closed")


class AsyncSandbox:
    """The same with `await`: `async with AsyncSandbox() as box: await box.sh("…")`. See `Sandbox`."""

    def __init__(
        self,
        dir: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        *,
        workspace: str | None = None,
        allow: Iterable[str] | None = None,
        timeout: float | None = None,
        memory: str | None = None,
        env: Mapping[str, str] | None = None,
        allow_commit: bool = False,
        flags: Sequence[str] = (),
    ) -> None:
        self._command = _words(dir, workspace, allow, timeout, memory, env, allow_commit, flags)
        self._process: asyncio.subprocess.Process | None = None
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Queue[dict[str, Any] | None]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._said: list[bytes] = []
        self._closed = False

    async def open(self) -> "AsyncSandbox":
        """Starts the process; `async with` does it for you."""
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=pipe, stdout=pipe, stderr=pipe, limit=_LINE_BYTES_MAX
        )
        ready: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._waiting[0] = ready
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._hear_complaints())]
        if await ready.get() is None:
            raise await self._gone()
        return self

    async def sh(self, script: str, *, stdin: str | None = None, timeout: float | None = None,
                 on_output: Callable[[Chunk], None] | None = None) -> Result:
        """Runs a script in bash's language. `on_output` is told of what is written, as it is written."""
        return _result(await self._call("sh", _line_input(script, stdin, timeout), on_output))

    async def stream(self, script: str, *, stdin: str | None = None, timeout: float | None = None) -> AsyncIterator[Chunk | Result]:
        """What a script writes, as it writes it; the last item is its `Result`. Leaving the loop ends the script."""
        decoder = _Decoder()
        number, answers = self._send("sh", _line_input(script, stdin, timeout), stream=True)
        ended = False
        try:
            while True:
                message = await answers.get()
                if message is None:
                    ended = True
                    raise await self._gone()
                if "stream" in message:
                    yield decoder.chunk(message)
                    continue
                ended = True
                if "error" in message:
                    raise _failure(message)
                yield _result(message["result"])
                return
        finally:
            if not ended:
                self._write({"cancel": number})
            self._waiting.pop(number, None)

    async def run(self, name: str, *args: str, stdin: str | None = None, timeout: float | None = None) -> Result:
        """Runs one command with a list of arguments that no shell looks at."""
        return _result(await self._call("run", _command_input(name, args, stdin, timeout)))

    async def js(self, code: str, args: Any = None, *, timeout: float | None = None) -> Program:
        """Runs a JavaScript program; its last expression, or what it returns, is the value."""
        return _program(await self._call("js", _program_input(code, args, timeout)))

    async def py(self, code: str, args: Any = None, *, stdin: str = "", timeout: float | None = None) -> PyProgram:
        """Runs a Python program; its last expression is the value. Wants `drydock catalog add python`."""
        return _py_program(await self._call("py", {**_program_input(code, args, timeout), "stdin": stdin}))

    async def read(self, path: str) -> str:
        """A file as text."""
        return (await self.read_bytes(path)).decode()

    async def read_bytes(self, path: str) -> bytes:
        """A file as bytes."""
        return _content(await self._call("read_file", {"path": path}))

    async def write(self, path: str, content: str | bytes) -> None:
        """Writes a whole file, making its directories."""
        await self._call("write_file", _write_input(path, content))

    async def diff(self) -> str:
        """What was changed in the mounted directories, as a unified diff."""
        return str((await self._call("diff", {}))["diff"])

    async def changes(self) -> list[Change]:
        """What was changed in the mounted directories, as a list."""
        return _changes((await self._call("diff", {"names_only": True}))["changes"])

    async def commit(self, *, force: bool = False) -> list[Change]:
        """Writes the changes into the mounted directories; needs `allow_commit` and a workspace."""
        return _changes((await self._call("commit", {"force": force}))["written"])

    async def close(self) -> None:
        """Ends whatever runs, and the process."""
        if self._process is None or self._closed and self._process.returncode is not None:
            return
        self._closed = True
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), timeout=5)
        except asyncio.TimeoutError:
            self._process.kill()
            await self._process.wait()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> "AsyncSandbox":
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, operation: str, given: dict[str, Any], on_output: Callable[[Chunk], None] | None = None) -> Any:
        decoder = _Decoder()
        number, answers = self._send(operation, given, stream=on_output is not None)
        try:
            while True:
                message = await answers.get()
                if message is None:
                    raise await self._gone()
                if "stream" in message:
                    if on_output is not None:
                        on_output(decoder.chunk(message))
                    continue
                if "error" in message:
                    raise _failure(message)
                return message["result"]
        except BaseException:
            # A task that is cancelled does not want the answer any more.
            self._write({"cancel": number})
            raise
        finally:
            self._waiting.pop(number, None)

    def _send(self, operation: str, given: dict[str, Any], stream: bool) -> tuple[int, asyncio.Queue[dict[str, Any] | None]]:
        if self._process is None:
            raise DrydockError("closed", "the sandbox is not open; use `async with`")
        if self._closed:
            raise DrydockError("closed", "the sandbox is closed")
        number = next(self._ids)
        answers: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._waiting[number] = answers
        self._write({"id": number, "op": operation, "input": given, "stream": stream})
        return number, answers

    def _write(self, message: dict[str, Any]) -> None:
        if self._process is not None and self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _listen(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            answers = self._waiting.get(message.get("id", 0))
            if answers is not None:
                answers.put_nowait(message)
        self._closed = True
        for answers in list(self._waiting.values()):
            answers.put_nowait(None)

    async def _hear_complaints(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        while line := await self._process.stderr.readline():
            self._said = [*self._said[-19:], line]

    async def _gone(self) -> DrydockError:
        await asyncio.wait(self._tasks[1:], timeout=1)
        said = b"".join(self._said).decode(errors="replace").strip()
        return DrydockError("closed", said or "the sandbox is closed")
