"""What programs use of `requests`, over the host: get, post, Session, Response and the exceptions.

The published package stands on sockets, which are not here; this stands in its place. What is missing says so by not being
there: adapters, proxies, certificates of one's own, streams that are longer than an answer may be.
"""

import json as _json
import sys as _sys
import time as _time
from urllib.parse import urlencode as _urlencode, urljoin as _urljoin, urlsplit as _urlsplit, urlunsplit as _urlunsplit

__version__ = "2.32.0+drydock"
_HOPS_MAX = 30


class RequestException(OSError):
    def __init__(self, *args, request=None, response=None):
        super().__init__(*args)
        self.request, self.response = request, response


class ConnectionError(RequestException): pass
class HTTPError(RequestException): pass
class Timeout(RequestException): pass
class ConnectTimeout(ConnectionError, Timeout): pass
class ReadTimeout(Timeout): pass
class TooManyRedirects(RequestException): pass
class InvalidURL(RequestException, ValueError): pass
class MissingSchema(RequestException, ValueError): pass
class JSONDecodeError(RequestException, _json.JSONDecodeError):
    def __init__(self, error):
        _json.JSONDecodeError.__init__(self, error.msg, error.doc, error.pos)
        self.request = self.response = None


class CaseInsensitiveDict(dict):
    def __init__(self, pairs=()):
        super().__init__()
        self.update(pairs)

    def update(self, pairs=(), **more):
        for name, value in list(pairs.items() if hasattr(pairs, "items") else pairs) + list(more.items()):
            self[name] = value

    def _find(self, name):
        return next((it for it in self if it.lower() == str(name).lower()), name)

    def __setitem__(self, name, value): super().__setitem__(self._find(name), value)
    def __getitem__(self, name): return super().__getitem__(self._find(name))
    def __delitem__(self, name): super().__delitem__(self._find(name))
    def __contains__(self, name): return super().__contains__(self._find(name))
    def get(self, name, default=None): return super().get(self._find(name), default)
    def pop(self, name, *default): return super().pop(self._find(name), *default)
    def setdefault(self, name, default=None): return super().setdefault(self._find(name), default)


class Response:
    def __init__(self):
        self.status_code, self.headers, self.content, self.url = 0, CaseInsensitiveDict(), b"", ""
        self.reason, self.history, self.encoding, self.elapsed, self.request, self.cookies = "", [], None, None, None, {}

    @property
    def ok(self): return self.status_code < 400

    @property
    def is_redirect(self): return "location" in self.headers and self.status_code in (301, 302, 303, 307, 308)

    @property
    def apparent_encoding(self): return "utf-8"

    @property
    def text(self): return self.content.decode(self.encoding or "utf-8", "replace")

    def json(self, **named):
        try:
            return _json.loads(self.content, **named)
        except _json.JSONDecodeError as error:
            raise JSONDecodeError(error) from None

    def raise_for_status(self):
        kind = "Client" if self.status_code < 500 else "Server"
        if self.status_code >= 400:
            text = f"{self.status_code} {kind} Error: {self.reason} for url: {self.url}"
            raise HTTPError(text, response=self, request=self.request)

    def iter_content(self, chunk_size=1, decode_unicode=False):
        whole = self.text if decode_unicode else self.content
        step = chunk_size or len(whole) or 1
        return (whole[at:at + step] for at in range(0, len(whole), step))

    def iter_lines(self, chunk_size=512, decode_unicode=False, delimiter=None):
        whole = self.text if decode_unicode else self.content
        return iter(whole.split(delimiter) if delimiter else whole.splitlines())

    def close(self): pass
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def __bool__(self): return self.ok
    def __iter__(self): return self.iter_content(128)
    def __repr__(self): return f"<Response [{self.status_code}]>"


class _Cookies(dict):
    """What a program put in goes to every host, and what a server set goes back to where it came from."""

    def __init__(self):
        super().__init__()
        self._homes = {}

    def __setitem__(self, name, value):
        self._homes.pop(name, None)
        super().__setitem__(name, value)

    def set(self, name, value, **more): self[name] = value
    def get_dict(self): return dict(self)

    def _take(self, url, header):
        pair, *more = header.split(";")
        name, _, value = pair.partition("=")
        named = {key.strip().lower(): text.strip() for key, _, text in (it.partition("=") for it in more)}
        parts = _urlsplit(url)
        host, name = parts.hostname or "", name.strip()
        domain = named.get("domain", "").lstrip(".").lower()
        if domain and domain != host and not (host.endswith("." + domain) and "." in domain):
            return
        path = named.get("path", "")
        if not path.startswith("/"):
            path = parts.path.rpartition("/")[0] or "/"
        if named.get("max-age", "1").startswith(("0", "-")) or not name:
            self.pop(name, None)
            return
        self[name] = value.strip()
        self._homes[name] = (domain or host, bool(domain), path, "secure" in named)

    def _for(self, url):
        parts = _urlsplit(url)
        host, place = parts.hostname or "", parts.path or "/"
        def fits(name):
            if name not in self._homes:
                return True
            home, below, path, secure = self._homes[name]
            at_home = host == home or below and host.endswith("." + home)
            under = place == path or place.startswith(path if path.endswith("/") else path + "/")
            return at_home and under and (not secure or parts.scheme == "https")
        return {name: value for name, value in self.items() if fits(name)}


class Session:
    def __init__(self):
        self.headers = CaseInsensitiveDict({"User-Agent": f"python-requests/{__version__}", "Accept": "*/*"})
        self.params, self.cookies, self.auth, self.max_redirects, self.verify = {}, _Cookies(), None, _HOPS_MAX, True

    def request(self, method, url, params=None, data=None, headers=None, cookies=None, files=None, auth=None,
                timeout=None, allow_redirects=True, json=None, stream=False, verify=True, **more):
        if verify is False:
            raise RequestException("certificates are always verified; there is no way to switch that off")
        named = CaseInsensitiveDict(self.headers)
        named.update({name: value for name, value in (headers or {}).items() if value is not None})
        body = _multipart(named, files, data) if files else _body(named, data, json)
        method, cookies = method.upper(), dict(cookies or {})
        auth = auth or self.auth
        if auth is not None and "authorization" not in named:
            named["Authorization"] = _basic(*auth) if isinstance(auth, tuple) else auth.value
        if isinstance(timeout, tuple):
            timeout = timeout[-1]
        url, history, began = _with_params(url, {**self.params, **_pairs(params)}), [], _time.monotonic()
        while True:
            answer = self._once(method, url, named, {**self.cookies._for(url), **cookies}, body, timeout)
            answer.history = list(history)
            if not (allow_redirects and answer.is_redirect):
                answer.elapsed = _elapsed(began)
                return answer
            history.append(answer)
            if len(history) > self.max_redirects:
                raise TooManyRedirects(f"Exceeded {self.max_redirects} redirects.", response=answer)
            there = _urljoin(url, answer.headers["location"])
            if answer.status_code == 303 and method != "HEAD" or answer.status_code < 303 and method == "POST":
                method, body = "GET", b""
                named.pop("content-type", None)
            if _urlsplit(there)[:2] != _urlsplit(url)[:2]:
                named.pop("authorization", None)
                named.pop("cookie", None)
                cookies = {}
            url = there

    def _once(self, method, url, headers, cookies, body, timeout):
        pairs = list(headers.items())
        if cookies and "cookie" not in headers:
            pairs.append(("Cookie", "; ".join(f"{name}={value}" for name, value in cookies.items())))
        if "://" not in url:
            raise MissingSchema(f"Invalid URL {url!r}: No scheme supplied. Perhaps you meant https://{url}?")
        try:
            status, found, content = _part("network").fetch(url, method, pairs, body, timeout, True)
        except TimeoutError as error:
            raise ReadTimeout(str(error)) from error
        except OSError as error:
            raise ConnectionError(str(error)) from error
        answer = Response()
        answer.status_code, answer.content, answer.url = status, content, url
        for name, value in found:
            if name == "set-cookie":
                cookie, _, rest = value.split(";")[0].partition("=")
                answer.cookies[cookie.strip()] = rest.strip()
                self.cookies._take(url, value)
            answer.headers[name] = f"{answer.headers[name]}, {value}" if name in answer.headers else value
        kind = answer.headers.get("content-type", "")
        charset = kind.lower().partition("charset=")[2].split(";")[0].strip(' "')
        answer.encoding = charset or ("ISO-8859-1" if kind.startswith("text/") and charset else None)
        from http import HTTPStatus
        answer.reason = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
        return answer

    def get(self, url, **named): return self.request("GET", url, **named)
    def options(self, url, **named): return self.request("OPTIONS", url, **named)
    def head(self, url, **named): return self.request("HEAD", url, **{"allow_redirects": False, **named})
    def post(self, url, data=None, json=None, **named): return self.request("POST", url, data=data, json=json, **named)
    def put(self, url, data=None, **named): return self.request("PUT", url, data=data, **named)
    def patch(self, url, data=None, **named): return self.request("PATCH", url, data=data, **named)
    def delete(self, url, **named): return self.request("DELETE", url, **named)
    def close(self): pass
    def __enter__(self): return self
    def __exit__(self, *_): pass


class HTTPBasicAuth:
    def __init__(self, username, password):
        self.value = _basic(username, password)


def _elapsed(began):
    from datetime import timedelta
    return timedelta(seconds=_time.monotonic() - began)


def _basic(user, password):
    import base64
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _pairs(of):
    if of is None:
        return {}
    if isinstance(of, (str, bytes)):
        from urllib.parse import parse_qs
        return parse_qs(of, keep_blank_values=True)
    return {name: value for name, value in (of.items() if hasattr(of, "items") else of) if value is not None}


def _with_params(url, params):
    if not params:
        return url
    parts = _urlsplit(url)
    query = "&".join(it for it in (parts.query, _urlencode(params, doseq=True)) if it)
    return _urlunsplit((parts.scheme, parts.netloc, parts.path or "/", query, parts.fragment))


def _body(headers, data, json):
    if json is not None and not data:
        headers.setdefault("Content-Type", "application/json")
        return _json.dumps(json).encode()
    if data is None:
        return b""
    if hasattr(data, "read"):
        data = data.read()
    if isinstance(data, str):
        data = data.encode()
    if not isinstance(data, (bytes, bytearray)):
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        data = _urlencode(data, doseq=True).encode()
    return bytes(data)


def _multipart(headers, files, data):
    import secrets
    boundary = secrets.token_hex(16)
    body = bytearray()

    def part(head, content):
        if hasattr(content, "read"):
            content = content.read()
        content = content.encode() if isinstance(content, str) else bytes(content)
        body.extend(f"--{boundary}\r\n{head}\r\n\r\n".encode() + content + b"\r\n")

    def quoted(text):
        return str(text).replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")

    for name, values in _pairs(data).items():
        for value in values if isinstance(values, (list, tuple)) else [values]:
            part(f'Content-Disposition: form-data; name="{quoted(name)}"', value if isinstance(value, bytes) else str(value))
    for name, given in files.items() if hasattr(files, "items") else files:
        file, content, kind = None, given, None
        if isinstance(given, (list, tuple)):
            file, content, *rest = given
            kind = rest[0] if rest else None
        else:
            path = getattr(given, "name", None)
            file = path.rpartition("/")[2] if isinstance(path, str) else name
        head = f'Content-Disposition: form-data; name="{quoted(name)}"' + (f'; filename="{quoted(file)}"' if file else "")
        part(head + (f"\r\nContent-Type: {quoted(kind)}" if kind else ""), content)
    body.extend(f"--{boundary}--\r\n".encode())
    headers["Content-Type"] = f"multipart/form-data; boundary={boundary}"
    return bytes(body)


def request(method, url, **named): return Session().request(method, url, **named)
def get(url, params=None, **named): return request("GET", url, params=params, **named)
def options(url, **named): return request("OPTIONS", url, **named)
def head(url, **named): return request("HEAD", url, **{"allow_redirects": False, **named})
def post(url, data=None, json=None, **named): return request("POST", url, data=data, json=json, **named)
def put(url, data=None, **named): return request("PUT", url, data=data, **named)
def patch(url, data=None, **named): return request("PATCH", url, data=data, **named)
def delete(url, **named): return request("DELETE", url, **named)
def session(): return Session()


def absent(name):
    """This module under its published name, with the parts that programs import by name."""
    from _frozen_importlib import ModuleSpec
    return ModuleSpec(name, _Loader(), origin="<drydock/requests>", is_package=True)


class _Loader:
    def create_module(self, spec):
        return None

    def exec_module(self, module):
        own = {name: value for name, value in globals().items() if not name.startswith("__")}
        module.__dict__.update(own, __version__=__version__, __path__=[])
        for part in ("exceptions", "auth", "sessions", "models", "structures"):
            inner = type(_sys)(f"{module.__name__}.{part}")
            inner.__dict__.update(own)
            setattr(module, part, inner)
            _sys.modules[inner.__name__] = inner
        module.codes = type("codes", (), {"ok": 200, "created": 201, "not_found": 404})
