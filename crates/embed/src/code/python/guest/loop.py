"""asyncio over `/dev/drydock`: one thread, timers, and the calls of tools; no sockets, pipes or signals."""

import sys

_wire = sys.modules["drydock"]._wire


def change(module):
    if module.__name__ == "asyncio":
        module.set_event_loop_policy(_policy(module)())
        module.create_subprocess_exec, module.create_subprocess_shell = _subprocesses()
    else:
        _Inline().exec_module(module)


def absent(name):
    """A module that a build without threads leaves out."""
    if name != "concurrent.futures.thread":
        return None
    from _frozen_importlib import ModuleSpec
    return ModuleSpec(name, _Inline())


class _Inline:
    """`ThreadPoolExecutor` whose work is done where it is handed over: there is no other thread that could."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        from concurrent.futures import _base

        class ThreadPoolExecutor(_base.Executor):
            def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
                self._is_shut = False
                if initializer is not None:
                    initializer(*initargs)

            def submit(self, work, /, *args, **named):
                if self._is_shut:
                    raise RuntimeError("cannot schedule new futures after shutdown")
                future = _base.Future()
                future.set_running_or_notify_cancel()
                try:
                    future.set_result(work(*args, **named))
                except BaseException as error:
                    future.set_exception(error)
                return future

            def shutdown(self, wait=True, *, cancel_futures=False):
                self._is_shut = True

        module.ThreadPoolExecutor = ThreadPoolExecutor


def _policy(asyncio):
    class Loop(asyncio.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = self

        def select(self, timeout):
            """Waits until a call has ended or so much time has passed; calls settle their own futures."""
            if _wire.open:
                if timeout is None or _wire.ready(timeout):
                    _wire.receive()
            elif timeout is None:
                raise RuntimeError("the program waits for something that nothing can bring about")
            elif timeout > 0:
                import time
                time.sleep(timeout)
            return ()

        def _process_events(self, events):
            pass

        def _write_to_self(self):
            pass

        def run_in_executor(self, executor, work, *args):
            future = self.create_future()
            try:
                future.set_result(work(*args))
            except Exception as error:
                future.set_exception(error)
            return future

        async def create_connection(self, *_, **__):
            sys.modules["drydock"]._part("network").refuse()

        create_server = create_datagram_endpoint = getaddrinfo = create_connection

    class Policy(asyncio.DefaultEventLoopPolicy):
        _loop_factory = Loop

    return Policy


class _Process:
    """What asyncio's subprocesses have, as far as a command has it."""

    def __init__(self, popen):
        self._popen, self.pid = popen, popen.pid
        self.stdin, self.stdout, self.stderr = popen.stdin, popen.stdout, popen.stderr

    @property
    def returncode(self):
        return self._popen.returncode

    async def communicate(self, input=None):
        await self._popen.begin(input)
        return self._popen.communicate()

    async def wait(self):
        await self._popen.begin()
        return self._popen.wait()

    def kill(self):
        self._popen.kill()

    terminate = kill


def _subprocesses():
    popen = sys.modules["drydock"]._part("process").Popen

    async def create_subprocess_exec(program, *args, **options):
        return _Process(popen([program, *args], **options))

    async def create_subprocess_shell(line, **options):
        return _Process(popen(line, shell=True, **options))

    return create_subprocess_exec, create_subprocess_shell
