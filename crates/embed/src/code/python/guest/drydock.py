"""What a program of `drydock py` finds: its tools, and how it is run.

Every tool is a plain function that waits: `commands.jq(".n", stdin=text).stdout`. The same below `aio` begins at once
and is awaited, so several run together: `await asyncio.gather(aio.sh("a"), aio.sh("b"))`. The way to the host is one
file, `/dev/drydock`; each request written there is a call at the gate.
"""

import sys
import posix

_NAME = "<drydock>"
_VALUE = "__drydock_value__"
_ANSWER_BYTES_MAX = 8_000_000


class ToolError(Exception):
    """A tool failed; `code` says in which way, such as `tool_error` or `validation_error`."""

    def __init__(self, message, code="tool_error"):
        super().__init__(message)
        self.code = code


class Result(dict):
    """What a command did: `status`, `stdout`, `stderr`, as items and as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __await__(self):
        # It is there already: whoever awaits a plain call gets what it answered.
        return self
        yield

    def check(self):
        """Itself, or `ToolError` if the status is not 0."""
        if self["status"] != 0:
            text = self["stderr"]
            text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
            raise ToolError(f"status {self['status']}: {text.strip()}")
        return self


class _Wire:
    """Requests and answers on the device, by number."""

    def __init__(self):
        self.fd = None
        self.last = 0
        self.open = {}
        self.done = {}

    def send(self, request, hear=None):
        if self.fd is None:
            self.fd = posix.open("/dev/drydock", posix.O_RDWR)
        self.last += 1
        frame = len(request).to_bytes(4, "little") + self.last.to_bytes(4, "little") + request
        while frame:
            frame = frame[posix.write(self.fd, frame):]
        self.open[self.last] = hear
        return self.last

    def read(self, count):
        parts = []
        while count:
            part = posix.read(self.fd, min(count, 1 << 20))
            if not part:
                raise EOFError("the host has nothing to answer")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def receive(self):
        """Waits for one answer and hands it to whoever hears it."""
        answer = self.read(int.from_bytes(self.read(4), "little"))
        number = int(answer[8:answer.index(b",")])
        hear = self.open.pop(number, None)
        if hear is None:
            self.done[number] = answer
        else:
            hear(answer)

    def ready(self, seconds):
        """Whether an answer is there before so many seconds have passed; None waits for one."""
        import select
        return bool(select.select([self.fd], [], [], seconds)[0])

    def wait(self, number, seconds=None):
        """The answer to one request, or None if it took longer."""
        if seconds is not None:
            import time
            end = time.monotonic() + seconds
        while number not in self.done:
            if seconds is not None and not self.ready(max(0, end - time.monotonic())):
                return None
            self.receive()
        return self.done.pop(number)

    def ask(self, tool, text=None):
        """Asks whoever runs the program, and nobody's tool; the answer's JSON."""
        request = '{"provider":"","tool":"%s"%s}' % (tool, "" if text is None else ',"input":' + text)
        answer = self.wait(self.send(request.encode())).decode()
        if not answer.startswith(',"ok":true,"result":', answer.index(",")):
            raise ToolError(answer)
        return answer[answer.index(":", answer.index(",") + 12) + 1:-1]


_wire = _Wire()


def _part(name):
    """A part of this module that most programs do without."""
    full = "drydock." + name
    if full not in sys.modules:
        source = eval(_wire.ask("part", f'"{name}"'))
        module = type(sys)(full)
        module.__file__ = f"<drydock/{name}>"
        # How its parts find one another and the host; in a line, where there is no host, they are not told (`network`).
        module._part, module._wire = _part, _wire
        sys.modules[full] = module
        exec(compile(source, module.__file__, "exec"), module.__dict__)
    return sys.modules[full]


class _Call:
    """A call that has begun."""

    def __init__(self, request, finish):
        self.finish = finish
        self.answer = None
        self.future = None
        self.number = _wire.send(request, self.hear)

    def hear(self, answer):
        self.answer = answer
        if self.future is not None and not self.future.done():
            self.future.set_result(None)

    def result(self):
        while self.answer is None:
            _wire.receive()
        return self.finish(self.answer)

    def __await__(self):
        if self.answer is None:
            loop = sys.modules["asyncio.events"]._get_running_loop() if "asyncio.events" in sys.modules else None
            if loop is None:
                yield self
            else:
                self.future = loop.create_future()
                yield from self.future
        return self.result()


def _decoded(name, encoding):
    def finish(answer):
        import json
        answer = json.loads(answer)
        if not answer["ok"]:
            raise ToolError(answer["message"], answer["code"])
        result = answer["result"]
        if name != "commands":
            return result
        if encoding == "base64":
            import binascii
            for stream in ("stdout", "stderr"):
                result[stream] = binascii.a2b_base64(result[stream])
        return Result(result)

    return finish


_POSITIONS = {
    "commands.sh": ("line", "stdin"),
    "files.read": ("path", "encoding"),
    "files.write": ("path", "content"),
    "files.list": ("path",),
}


def _input(name, tool, given, named):
    """What a tool is handed for these arguments."""
    if len(given) == 1 and type(given[0]) is dict and not named:
        return dict(given[0])
    names = _POSITIONS.get(name + "." + tool)
    if names is not None:
        if len(given) > len(names):
            raise TypeError(f"{tool}() takes {len(names)} positional arguments but {len(given)} were given")
        named = {**dict(zip(names, given)), **named}
    elif name == "commands":
        if given and "args" in named:
            raise TypeError(f"{tool}() got its arguments twice: as a list and by position")
        if len(given) == 1 and isinstance(given[0], (list, tuple)):
            given = given[0]
        if given or "args" in named:
            words = named.get("args", given)
            named = {**named, "args": [posix.fspath(it) if hasattr(it, "__fspath__") else str(it) for it in words]}
    elif given:
        if len(given) > 1 or named:
            raise TypeError(f"{tool}() takes one value, or arguments by name")
        return given[0]
    return {key: _plain(value) for key, value in named.items() if value is not None} if named else None


def _plain(value):
    return posix.fspath(value) if hasattr(value, "__fspath__") else value


class _Tool:
    def __init__(self, provider, name, is_awaited):
        self._provider, self.__name__, self._is_awaited = provider, name, is_awaited

    def __call__(self, *given, **named):
        import json
        wanted = _input(self._provider, self.__name__, given, named)
        encoding = None
        if isinstance(wanted, dict):
            for key in ("stdin", "content"):
                if isinstance(wanted.get(key), (bytes, bytearray)):
                    import binascii
                    wanted[key] = binascii.b2a_base64(wanted[key], newline=False).decode()
                    wanted["encoding"] = "base64"
            encoding = wanted.get("encoding")
        request = {"provider": self._provider, "tool": self.__name__}
        if wanted is not None:
            request["input"] = wanted
        call = _Call(json.dumps(request).encode(), _decoded(self._provider, encoding))
        return call if self._is_awaited else call.result()

    def __repr__(self):
        return f"<tool {self._provider}.{self.__name__}>"


class _Tools:
    """A namespace: an attribute for every tool."""

    def __init__(self, provider, names, is_awaited):
        self.__dict__.update({name: _Tool(provider, name, is_awaited) for name in names})
        self.__dict__["_provider"] = provider

    def __getitem__(self, name):
        return getattr(self, name)

    def __contains__(self, name):
        return name in self.__dict__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        safe = "".join(it if it.isalnum() or it == "_" else "_" for it in name)
        for other in (safe, safe + "_"):
            if other != name and other in self.__dict__:
                return self.__dict__[other]
        what = "command" if self._provider == "commands" else "tool"
        raise AttributeError(f"there is no {what} `{name}` here", name=name, obj=self)

    def __repr__(self):
        return f"<tools of {self._provider}>"


class _Aio:
    """The same tools, to be awaited."""


def _name_tools(providers):
    module, aio = sys.modules["drydock"].__dict__, _Aio()
    scope = {"aio": aio, "display": display}
    for provider, names in providers:
        scope[provider] = _Tools(provider, names, False)
        aio.__dict__[provider] = _Tools(provider, names, True)
        if provider == "commands" and "sh" in names:
            scope["sh"], aio.sh = scope[provider].sh, aio.commands.sh
    module.update(scope)
    module["__all__"] = sorted({*scope, "ToolError"})
    return scope


def display(*values):
    """Adds values to the rich results of `--json`: images, tables, HTML, JSON; else their text."""
    for value in values:
        _part("rich").display(value)


# Packages with native code that another row of the catalog has.
_CARRIED = ("numpy", "pandas", "scipy", "sklearn", "matplotlib")

_PROCESSES = {"fork", "forkpty", "execv", "execve", "execvp", "execl", "execlp", "spawnv", "spawnl", "posix_spawn",
              "wait", "waitpid", "kill", "killpg", "nice", "setsid"}


def _not_in_os(name):
    """The words of an attribute that `os` has not; what asks with `hasattr` must not be told otherwise."""
    more = ": there are no processes here; `subprocess.run` and `commands` run commands" if name in _PROCESSES else ""
    raise AttributeError(f"module 'os' has no attribute '{name}'{more}", name=name)


def _no_thread(*_, **__):
    raise RuntimeError("can't start new thread: there are no threads here; asyncio and `aio` run calls together")


class _Patched:
    """Loads a module of the standard library and then changes what needs processes, threads or sockets."""

    PARTS = {
        "subprocess": "process", "asyncio": "loop", "concurrent.futures.thread": "loop", "socket": "network",
        "http.client": "network", "urllib.request": "network", "multiprocessing": "network",
        "requests": "requests",
    }

    def find_spec(self, name, path=None, target=None):
        part = self.PARTS.get(name)
        if part is None:
            return None
        if name == "requests":
            # The published one stands on sockets, so ours stands in its place wherever that lies.
            return _part(part).absent(name)
        from _frozen_importlib_external import PathFinder
        spec = PathFinder.find_spec(name, path, target)
        if spec is None:
            return _part(part).absent(name)
        spec.loader = _Loader(spec.loader, part)
        return spec


class _Loader:
    def __init__(self, loader, part):
        self._loader, self._part = loader, part

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        _part(self._part).change(module)


def _system(command):
    """As `os.system`: the line's outputs are ours, and its status is a wait status."""
    process = _part("process")
    return process.Popen(command, shell=True).wait() << 8


def _prepare(request):
    """The world as the program will find it; its globals."""
    import os, _thread
    sys.dont_write_bytecode = True
    sys.executable = "/usr/local/bin/python3"
    sys.argv[:] = request["argv"]
    sys.path[0:1] = request["path"][:1]
    sys.path.extend(request["path"][1:])
    if request["cwd"]:
        try:
            posix.chdir(request["cwd"])
        except OSError:
            pass
    sys.stdout.reconfigure(line_buffering=True)
    sys.meta_path.insert(0, _Patched())
    os.system = _system
    os.__getattr__ = _not_in_os
    os.getuid = os.geteuid = os.getgid = os.getegid = lambda: 1000
    _thread.start_new_thread = _thread.start_new = _no_thread
    scope = sys.modules["__main__"].__dict__
    for name in [it for it in scope if not it.startswith("__")]:
        del scope[name]
    if request["name"]:
        scope["__file__"] = request["name"]
    scope.update(_name_tools(request["providers"]))
    scope["args"] = None
    if request["args"] is not None:
        import json
        scope["args"] = json.loads(request["args"])
    sys.modules["drydock"].args = scope["args"]
    return scope


def _compiled(text, name):
    """The program's code, its last expression kept as a value; `await` is allowed at the top."""
    import _ast
    try:
        tree = compile(text, name, "exec", 0x400 | 0x2000, True)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, _ast.Expr):
            place = {it: getattr(last, it) for it in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
            target = _ast.Name(id=_VALUE, ctx=_ast.Store(), **place)
            tree.body[-1] = _ast.Assign(targets=[target], value=last.value, **place)
        return compile(tree, name, "exec", 0x2000, True), tree
    except (RecursionError, MemoryError):
        # Too deep for a tree of objects; the compiler itself may still manage it.
        return compile(text, name, "exec", 0x2000, True), None


def _drive(coroutine, text):
    """Runs a program that awaits. asyncio takes long to import, so only who names it has it."""
    if "asyncio" in text or "asyncio" in sys.modules:
        import asyncio
        return asyncio.run(coroutine)
    waited = None
    while True:
        try:
            waited = coroutine.send(None)
        except StopIteration:
            return
        if not isinstance(waited, _Call):
            coroutine.throw(RuntimeError("`import asyncio` in the program itself, to await more than its tools"))
        while waited.answer is None:
            _wire.receive()


def _error(error, name, text):
    """Shows an error as Python does, without our frames; what is said of it."""
    import traceback, linecache
    lines = [it + "\n" for it in text.split("\n")]
    linecache.cache[name or "<string>"] = (len(text), None, lines, name or "<string>")
    shown = traceback.TracebackException.from_exception(error)
    line, links = None, [shown]
    while links:
        link = links.pop()
        if link is None:
            continue
        kept = [it for it in link.stack if not it.filename.startswith("<drydock")]
        link.stack[:] = kept
        if link is shown:
            own = [it.lineno for it in kept if it.filename == (name or "<string>")]
            line = own[-1] if own else getattr(error, "lineno", None)
        if not kept:
            link.stack = None
        links += [link.__cause__, link.__context__, *(link.exceptions or ())]
    carried = isinstance(error, ModuleNotFoundError) and error.name in _CARRIED
    if carried:
        # Said once, by the hint.
        shown.__notes__ = None
    told = "".join(shown.format())
    if sys.excepthook is sys.__excepthook__:
        sys.stderr.write(told)
    else:
        sys.excepthook(type(error), error, error.__traceback__)
    shown.__notes__ = None
    message = "".join(shown.format_exception_only()).strip().splitlines()[-1]
    if isinstance(error, ToolError):
        message = str(error)
    code = error.code if isinstance(error, ToolError) else "runtime_error"
    answer = {"code": str(code), "message": message, "traceback": told[-65536:]}
    if isinstance(line, int):
        answer["line"] = line
    if isinstance(error, MemoryError):
        answer["hint"] = "its memory is limited; --memory allows more"
    if carried:
        answer["hint"] = f"{error.name} is part of python-data: drydock catalog add python-data"
    return answer


def _exit_status(error):
    """The status of `sys.exit`, and what it says on stderr."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1


def _run(request):
    """Runs the program; the answer for the host, as JSON, and the exit status."""
    scope = _prepare(request)
    name, text = request["name"] or "<string>", request["code"]
    session = _part("session").Session(scope) if request["keep"] else None
    status, error, tree = 0, None, None
    try:
        if session:
            session.load()
        code, tree = _compiled(text, name)
        # Nothing of ours is below the program but this.
        coroutine = eval(code, scope) if code.co_flags & 0x80 else exec(code, scope)
        if coroutine is not None:
            _drive(coroutine, text)
    except SystemExit as end:
        status = _exit_status(end)
    except BaseException as raised:
        status, error = 1, _error(raised, request["name"], text)
        raised = None
    value = scope.pop(_VALUE, None)
    if session:
        session.save(tree, text)
    if error is None and value is None and "drydock.rich" not in sys.modules:
        return '{"ok":true,"exit":%d}' % status, status
    return _part("rich").answer(value, error, status)


def _main():
    null, true, false = None, True, False
    request = eval(_wire.ask("request"), {"null": None, "true": True, "false": False})
    answer, status = _run(request)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        pass
    _wire.ask("answer", answer)
    return status
