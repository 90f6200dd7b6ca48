"""Values as JSON, and what they show of themselves: images, tables, HTML. Everything has a bound."""

import json
import sys

_DEPTH_MAX = 200
_TEXT_MAX = 100_000
_SHOWN_BYTES_MAX = 2_000_000
_SHOWN_MAX = 32
_ROWS_MAX = 1_000
_MEDIA = (
    ("_repr_png_", "image", "image/png"), ("_repr_jpeg_", "image", "image/jpeg"), ("_repr_svg_", "image", "image/svg+xml"),
    ("_repr_json_", "json", "application/json"), ("_repr_html_", "html", "text/html"),
    ("_repr_markdown_", "markdown", "text/markdown"),
)
_shown, _room = [], [6_000_000]


class _NotJson(Exception):
    pass


def display(value):
    shown = _describe(value)
    if shown is None:
        text = value if isinstance(value, str) else repr(value)
        shown = {"type": "text", "mediaType": "text/plain", "data": text[:_TEXT_MAX]}
    _add(shown)


def _add(shown):
    size = len(json.dumps(shown))
    if len(_shown) >= _SHOWN_MAX or size > _SHOWN_BYTES_MAX or size > _room[0]:
        shown = {"type": shown["type"], "mediaType": shown["mediaType"], "truncated": True, "bytes": size}
        if len(_shown) >= 2 * _SHOWN_MAX:
            return
    else:
        _room[0] -= size
    _shown.append(shown)


def _describe(value):
    """What the value shows of itself, if it does."""
    if isinstance(value, type):
        return None
    if callable(getattr(value, "to_dict", None)) and hasattr(value, "columns") and hasattr(value, "index"):
        return _table(value)
    for method, kind, media in _MEDIA:
        show = getattr(value, method, None)
        if not callable(show):
            continue
        data = show()
        data = data[0] if isinstance(data, tuple) else data
        if data is None:
            continue
        if isinstance(data, (bytes, bytearray)):
            import binascii
            return {"type": kind, "mediaType": media, "encoding": "base64", "data": binascii.b2a_base64(data, newline=False).decode()}
        return {"type": kind, "mediaType": media, "data": data if isinstance(data, str) else plain(data)}
    return None


def _table(frame):
    """Columns and rows of what looks like a data frame."""
    rows = frame.to_dict("split") if len(frame) <= _ROWS_MAX else frame.head(_ROWS_MAX).to_dict("split")
    table = {
        "type": "table", "mediaType": "application/json", "columns": [str(it) for it in rows["columns"]],
        "index": plain(rows["index"]), "rows": plain(rows["data"]), "rowCount": len(frame),
    }
    if len(frame) > _ROWS_MAX:
        table["truncated"] = True
    return table


def plain(value, depth=0):
    """The value in JSON's own types; what has no place among them as its text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else None
    if depth > _DEPTH_MAX:
        raise _NotJson
    if isinstance(value, dict):
        return {key if isinstance(key, str) else _key(key): plain(it, depth + 1) for key, it in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(it, depth + 1) for it in value]
    if isinstance(value, (set, frozenset)):
        return [plain(it, depth + 1) for it in sorted(value, key=repr)]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "backslashreplace")
    if callable(value) or hasattr(value, "send"):
        raise _NotJson
    for method in ("isoformat", "tolist", "item"):
        show = getattr(value, method, None)
        if callable(show):
            return plain(show(), depth + 1)
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name), depth + 1) for name in value.__dataclass_fields__}
    if hasattr(value, "__fspath__") or type(value).__module__ in ("decimal", "fractions", "uuid", "ipaddress"):
        return str(value)
    return repr(value)[:_TEXT_MAX]


def _key(key):
    if key is True or key is False or key is None:
        return json.dumps(key)
    return str(key)


def answer(value, error, status):
    """The end of a program for the host, as JSON, and its status."""
    done = {"ok": error is None, "exit": status}
    if error is not None:
        done["error"] = error
    elif value is not None:
        try:
            shown = _describe(value)
            if shown is not None:
                _add(shown)
            else:
                done["result"] = plain(value)
        except (_NotJson, RecursionError, ValueError, OverflowError):
            message = "Guest code returned a non-serializable value"
            done = {"ok": False, "exit": 1, "error": {"code": "serialization_error", "message": message}}
        except Exception as raised:
            done = {"ok": False, "exit": 1, "error": sys.modules["drydock"]._error(raised, None, "")}
    if _shown:
        done["displays"] = _shown
    text = json.dumps(done)
    if len(text) > 8_000_000:
        message = f"Guest code returned a value that is too large: {len(text)} bytes"
        done = {"ok": False, "exit": 1, "error": {"code": "serialization_error", "message": message}}
        text = json.dumps(done)
    return text, done["exit"]
