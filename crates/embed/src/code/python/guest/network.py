"""What wants a network or another process says so in one sentence."""

import sys

WHY = "the network is not there yet"
_NO_PROCESSES = "there are no processes here; `commands` and `subprocess.run` run commands, asyncio runs calls together"


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
        module.HTTPConnection.connect = refuse
        # Others ask whether it is there, and do without if it is not.
        module.__getattr__ = _not_in_http
    elif module.__name__ == "urllib.request":
        _change_urllib(module)


def _not_in_http(name):
    more = f": {WHY}" if name == "HTTPSConnection" else ""
    raise AttributeError(f"module 'http.client' has no attribute '{name}'{more}", name=name)


def _change_urllib(module):
    opened = module.OpenerDirector.open

    def open(self, fullurl, data=None, timeout=None):
        url = fullurl if isinstance(fullurl, str) else fullurl.full_url
        if url.partition(":")[0].lower() in ("http", "https", "ftp"):
            raise module.URLError(OSError(40, WHY))
        return opened(self, fullurl, data)

    module.OpenerDirector.open = open
