"""HTTP for the standard library, through the host. There are no sockets; there are requests, to hosts that were granted.

A program of `drydock py` asks whoever runs it; `python3` of a line, which has this in its snapshot, asks `/dev/http`.

`http.client` is handed something that it takes for a connection: it gathers a request, asks the host for it, and reads as
its answer. So whatever is made of `http.client` (`urllib.request`, `xmlrpc.client`) works as it stands, and every redirect is
a request of its own, which is judged again.
"""

import posix
import sys

WHY = "there are no sockets here; urllib.request, http.client and requests reach hosts that were granted (--allow-host)"
_NO_PROCESSES = "there are no processes here; `commands` and `subprocess.run` run commands, asyncio runs calls together"
_ANSWER_BYTES_MAX = 5 << 20
_STREAMED_BYTES_MAX = 64 << 20


def refuse(*_, **__):
    raise OSError(40, WHY)


def absent(name):
    if name == "multiprocessing":
        raise ModuleNotFoundError(f"No module named 'multiprocessing': {_NO_PROCESSES}", name=name)
    return None


def change(module):
    if module.__name__ == "socket":
        for name in ("create_connection", "getaddrinfo", "gethostbyname", "create_server", "socketpair", "gethostbyaddr"):
            setattr(module, name, refuse)
        module.socket = type("socket", (module.socket,), {"__init__": refuse})
        module.SocketType = module.socket
        module.gaierror = getattr(module, "gaierror", OSError)
        module.gethostname = lambda: "drydock"
        module.getfqdn = lambda name="": name or "drydock"
    elif module.__name__ == "http.client":
        _change_client(module)
    elif module.__name__ == "urllib.request":
        opened = module.AbstractHTTPHandler.do_open

        def do_open(self, *given, **named):
            # There is no connection that could fail before an answer is read, and what fails there is as good as that.
            try:
                return opened(self, *given, **named)
            except module.URLError:
                raise
            except OSError as error:
                raise module.URLError(error) from error

        module.AbstractHTTPHandler.do_open = do_open


def fetch(url, method="GET", headers=(), body=b"", timeout=None, decode=False):
    """Asks the host for one URL: status, pairs of headers, bytes. What goes wrong is an OSError of the usual kind."""
    import binascii
    request = {"url": url, "method": method, "headers": {}, "max_bytes": _ANSWER_BYTES_MAX, "decode": decode}
    for name, value in headers:
        request["headers"].setdefault(name.lower(), []).append(value)
    if body:
        request["body_b64"] = binascii.b2a_base64(body, newline=False).decode()
    if timeout is not None:
        request["timeout_ms"] = max(1, int(timeout * 1000))
    return _by_host(request) if "_wire" in globals() else _by_device(request)


def _by_host(request):
    import binascii, json
    answer = json.loads(_wire.ask("fetch", json.dumps(request)))
    if "error" in answer:
        raise _error(answer["error"])
    return answer["status"], answer["headers"], binascii.a2b_base64(answer["body_b64"])


def _by_device(request):
    """One opening is one request; its answer comes in frames of a letter, a length and so many bytes."""
    import json
    request["max_bytes"] = _STREAMED_BYTES_MAX
    try:
        device = posix.open("/dev/http", posix.O_RDWR)
    except FileNotFoundError:
        raise PermissionError(1, "there is no network here: the power `net` was not granted") from None

    def read(count):
        whole = b""
        while len(whole) < count:
            piece = posix.read(device, count - len(whole))
            if not piece:
                raise ConnectionError("the answer ended early")
            whole += piece
        return whole

    try:
        text = json.dumps(request).encode()
        rest = len(text).to_bytes(4, "little") + text
        while rest:
            rest = rest[posix.write(device, rest):]
        head, body = {}, []
        while True:
            frame = read(5)
            kind, content = frame[:1], read(int.from_bytes(frame[1:], "little"))
            if kind == b"H":
                head = json.loads(content)
            elif kind == b"B":
                body.append(content)
            elif kind == b"E":
                return head["status"], head["headers"], b"".join(body)
            else:
                raise _error(json.loads(content))
    finally:
        posix.close(device)


def _error(error):
    text = error["message"]
    if error.get("flag"):
        text += f"; {error['flag']} on drydock's command line grants it"
    if error["kind"] == "timeout":
        return TimeoutError(text)
    if error["kind"] == "denied":
        return PermissionError(1, text)
    if error["code"] == "connect_failed":
        return ConnectionRefusedError(111, text)
    if error["code"] == "name_unresolved":
        gaierror = getattr(sys.modules.get("socket"), "gaierror", OSError)
        return gaierror(-2, text)
    return ConnectionError(text)


class Connection:
    """What `http.client` takes for a socket."""

    def __init__(self, scheme, host, port, timeout):
        self.scheme, self.host, self.port, self.timeout = scheme, host, port, timeout
        self.sent = bytearray()

    def sendall(self, data, flags=0):
        self.sent += data

    send = sendall

    def makefile(self, mode="rb", buffering=None, **_):
        import io
        sent, self.sent = bytes(self.sent), bytearray()
        return io.BytesIO(self.answer(sent))

    def answer(self, sent):
        head, _, body = sent.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        if any(name.lower() == "transfer-encoding" and "chunked" in value.lower() for name, value in headers):
            body = _joined(body)
        timeout = self.timeout if isinstance(self.timeout, (int, float)) else None
        url = target if "://" in target else self.origin() + target
        status, headers, body = fetch(url, method, headers, body, timeout)
        ours = ("transfer-encoding",) if method == "HEAD" else ("transfer-encoding", "content-length")
        pairs = [(name, value) for name, value in headers if name.lower() not in ours]
        if method != "HEAD":
            pairs.append(("content-length", str(len(body))))
        reason = sys.modules["http.client"].responses.get(status, "")
        text = f"HTTP/1.1 {status} {reason}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in pairs)
        return text.encode("latin-1", "replace") + b"\r\n" + body

    def origin(self):
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def settimeout(self, timeout):
        self.timeout = timeout

    def gettimeout(self):
        return self.timeout

    def setsockopt(self, *_):
        pass

    def shutdown(self, *_):
        pass

    def close(self):
        pass


def _joined(body):
    """Chunks as one piece."""
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        count = int(size.split(b";")[0] or b"0", 16)
        whole, body = whole + body[:count], body[count + 2:]
        if count == 0:
            break
    return whole


def _change_client(module):
    def connect(self):
        if getattr(self, "_tunnel_host", None):
            raise OSError(40, "there is no proxy here: requests go straight to the host that was granted")
        self.sock = Connection(self._scheme, self.host, self.port, self.timeout)

    class HTTPSConnection(module.HTTPConnection):
        """HTTP over TLS: the host speaks it, and verifies who answers."""

        default_port = 443
        _scheme = "https"

        def __init__(self, host, port=None, *, timeout=None, source_address=None, blocksize=8192, **_):
            super().__init__(host, port, timeout=timeout, source_address=source_address, blocksize=blocksize)

    module.HTTPConnection._scheme = "http"
    module.HTTPConnection.connect = connect
    HTTPSConnection.__module__ = "http.client"
    module.HTTPSConnection = HTTPSConnection
    module._create_https_context = lambda *_: None
