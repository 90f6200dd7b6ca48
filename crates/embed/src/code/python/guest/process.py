"""`subprocess` by way of the tools: a list is a command, a string with `shell=True` a line of `sh`.

A command gets all of its input when it begins and is heard when it has ended, so there is no talking to it in
between. What is not granted as a tool cannot be started here either.
"""

import io
import os
import posix
import sys

_drydock = sys.modules["drydock"]
_BINS = ("/bin/", "/usr/bin/", "/usr/local/bin/")
PIPE, STDOUT, DEVNULL = -1, -2, -3


def change(module):
    module.Popen = Popen


def absent(name):
    return None


class Popen:
    """A command that was begun, with the arguments and attributes of `subprocess.Popen`."""

    _last = 1000

    def __init__(self, args, bufsize=-1, executable=None, stdin=None, stdout=None, stderr=None, preexec_fn=None,
                 close_fds=True, shell=False, cwd=None, env=None, universal_newlines=None, startupinfo=None,
                 creationflags=0, restore_signals=True, start_new_session=False, pass_fds=(), *, user=None,
                 group=None, extra_groups=None, encoding=None, errors=None, text=None, umask=-1, pipesize=-1,
                 process_group=None):
        if preexec_fn is not None:
            raise ValueError("preexec_fn: there are no processes here")
        self.args, self.returncode = args, None
        self._is_text = bool(text or universal_newlines or encoding or errors)
        self._encoding, self._errors = encoding or "utf-8", errors or "strict"
        self._tool, self._wanted = _command(args, shell, executable)
        self._wanted["cwd"] = os.path.abspath(os.fspath(cwd)) if cwd is not None else os.getcwd()
        if not os.path.isdir(self._wanted["cwd"]):
            raise FileNotFoundError(2, "No such file or directory", cwd)
        self._wanted["env"] = {os.fsdecode(key): os.fsdecode(value) for key, value in _variables(env).items()}
        self._sinks = (stdout, stderr)
        if stderr == STDOUT:
            self._wanted["merge"] = True
        self._call, self._answer, self._is_killed = None, None, False
        Popen._last += 1
        self.pid = Popen._last
        self.stdin = self.stdout = self.stderr = None
        for name, wanted in (("stdout", stdout), ("stderr", stderr)):
            if wanted == PIPE:
                setattr(self, name, self._wrap(io.BufferedReader(_Output(self, name))))
        if stdin == PIPE:
            raw = _Input(self)
            self.stdin = io.TextIOWrapper(raw, self._encoding, self._errors, write_through=True) if self._is_text else raw
        else:
            self.begin(_all_of(stdin))

    def _wrap(self, raw):
        return io.TextIOWrapper(raw, self._encoding, self._errors) if self._is_text else raw

    def begin(self, data=None):
        """Begins the command, if it has not begun; the call can be awaited."""
        if self._call is None:
            data = data.encode(self._encoding, self._errors) if isinstance(data, str) else data
            sys.stdout.flush()
            sys.stderr.flush()
            written = self.stdin.buffer.taken() if self.stdin is not None and self._is_text else b""
            if self.stdin is not None and not self._is_text:
                written = self.stdin.taken()
            self._call = self._tool(stdin=written + bytes(data or b""), **self._wanted)
        return self._call

    def _end(self, timeout=None):
        if self._answer is not None:
            return True
        call = self.begin()
        if timeout is not None:
            import time
            end = time.monotonic() + timeout
            while call.answer is None:
                if not _drydock._wire.ready(max(0, end - time.monotonic())):
                    return False
                _drydock._wire.receive()
        try:
            self._answer = call.result()
        except _drydock.ToolError as error:
            self._answer = {"status": _status_of(error), "stdout": b"", "stderr": f"{error}\n".encode()}
        self.returncode = -9 if self._is_killed else self._answer["status"]
        for fd, name, sink in ((1, "stdout", self._sinks[0]), (2, "stderr", self._sinks[1])):
            _pour(self._answer[name], fd, sink)
        return True

    def poll(self):
        self._end(0)
        return self.returncode

    def wait(self, timeout=None):
        if not self._end(timeout):
            raise sys.modules["subprocess"].TimeoutExpired(self.args, timeout)
        return self.returncode

    def communicate(self, input=None, timeout=None):
        self.begin(input)
        self.wait(timeout)
        return tuple(None if stream is None else stream.read() for stream in (self.stdout, self.stderr))

    def kill(self):
        self._is_killed = self._answer is None

    terminate = kill

    def send_signal(self, signal):
        self.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        if self.stdin is not None:
            self.stdin.close()
        if not self._is_killed:
            self.wait()

    def __repr__(self):
        return f"<Popen: returncode: {self.returncode} args: {self.args!r}>"


class _Input(io.BufferedIOBase):
    """What is written is handed over when the command begins: at the latest when this is closed."""

    def __init__(self, process):
        self._process, self._parts = process, []

    def writable(self):
        return True

    def write(self, data):
        if self._process._call is not None:
            raise BrokenPipeError(32, "the command has begun and has all of its input")
        self._parts.append(bytes(data))
        return len(data)

    def taken(self):
        parts, self._parts = self._parts, []
        return b"".join(parts)

    def close(self):
        if not self.closed:
            super().close()
            self._process.begin()


class _Output(io.RawIOBase):
    def __init__(self, process, name):
        self._process, self._name, self._at = process, name, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        self._process._end()
        data = self._process._answer[self._name][self._at:self._at + len(buffer)]
        buffer[:len(data)] = data
        self._at += len(data)
        return len(data)


def _command(args, shell, executable):
    """The tool for what was asked, and what it is handed besides streams and variables."""
    commands = getattr(_drydock, "aio").__dict__.get("commands")
    if shell:
        line = args if isinstance(args, (str, bytes)) else args[0]
        if commands is None or "sh" not in commands:
            raise PermissionError(1, "a line wants the tool `commands.sh`, which is not here")
        return commands.sh, {"line": os.fsdecode(line)}
    words = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
    words = [os.fsdecode(it) for it in words]
    if not words:
        raise IndexError("list index out of range")
    name = os.fsdecode(executable) if executable is not None else words[0]
    for place in _BINS:
        if name.startswith(place):
            name = name[len(place):]
    try:
        tool = getattr(commands, name) if "/" not in name and not name.startswith("_") else None
    except AttributeError:
        tool = None
    if tool is None:
        raise FileNotFoundError(2, "No such file or directory", words[0])
    return tool, {"args": words[1:]}


def _variables(env):
    return dict(os.environ) if env is None else dict(env)


def _status_of(error):
    return 126 if "grant" in str(error) or "denied" in str(error) else 125


def _all_of(stdin):
    if stdin is None or stdin == DEVNULL:
        return b""
    fd = stdin if isinstance(stdin, int) else stdin.fileno()
    parts = []
    while part := posix.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _pour(data, fd, sink):
    """Hands an output over to where it was wanted, unless that is a pipe."""
    if sink in (PIPE, STDOUT, DEVNULL) or not data:
        return
    if sink is not None:
        if not isinstance(sink, int):
            sink.flush()
        fd = sink if isinstance(sink, int) else sink.fileno()
    while data:
        data = data[posix.write(fd, data):]
