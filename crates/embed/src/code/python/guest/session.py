"""What a program leaves to the next one of its session: definitions by their source, values by pickle.

Imports, functions, classes and lambdas are run again from their text; other globals are pickled together, so what
they share stays shared. What cannot be pickled (open files, generators, sockets) is named and left out.
"""

import _ast
import binascii
import json
import pickle
import sys

_PIECE = 4_000_000
_BYTES_MAX = 64 << 20
_DEFINING = (_ast.Import, _ast.ImportFrom, _ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)
_MODULE, _FUNCTION = type(sys), type(lambda: 0)
_wire = sys.modules["drydock"]._wire


class Session:
    def __init__(self, scope):
        self.scope, self.own = scope, {name: id(value) for name, value in scope.items()}
        self.definitions = []

    def load(self):
        """Brings back what the last program left."""
        parts = []
        while part := eval(_wire.ask("kept", str(len(parts)))):
            parts.append(part)
        if not parts:
            return
        kept = json.loads("".join(parts))
        self.definitions = kept["definitions"]
        for names, text in self.definitions:
            exec(compile(text, "<session>", "exec", 0, True), self.scope)
        self.scope.update(pickle.loads(binascii.a2b_base64(kept["values"])))

    def save(self, tree, text):
        """Leaves what can be left."""
        if tree is not None:
            lines = text.splitlines(True)
            for node in tree.body:
                self._note(node, lines)
        kept = [(names, source) for names, source in self.definitions if any(self._stands(it) for it in names)]
        defined = {name for names, _ in kept for name in names}
        values, lost = {}, []
        for name, value in self.scope.items():
            if name.startswith("__") or self.own.get(name) == id(value) or name in defined or isinstance(value, _MODULE):
                continue
            values[name] = value
        data = self._pickled(values, lost)
        state = json.dumps({"definitions": kept, "values": binascii.b2a_base64(data, newline=False).decode()})
        if len(state) > _BYTES_MAX:
            sys.stderr.write(f"drydock: the session keeps nothing new: {len(state)} bytes are more than {_BYTES_MAX}\n")
            return
        for start in range(0, len(state), _PIECE):
            _wire.ask("keep", json.dumps(state[start:start + _PIECE]))
        if lost:
            sys.stderr.write(f"drydock: not kept in the session: {', '.join(lost)}\n")

    def _note(self, node, lines):
        names = _names(node)
        if not names:
            return
        first = min([node.lineno, *(it.lineno for it in getattr(node, "decorator_list", ()))])
        text = "".join(lines[first - 1:node.end_lineno])
        if node.col_offset or text.count(";"):
            # More than one statement may be on these lines; only a whole line of its own is run again.
            head = lines[node.lineno - 1].encode()
            text = head[node.col_offset:node.end_col_offset].decode() if node.lineno == node.end_lineno else text
        self.definitions = [it for it in self.definitions if not set(it[0]) <= set(names)]
        self.definitions.append([names, text])

    def _stands(self, name):
        return name == "*" or isinstance(self.scope.get(name), (_MODULE, _FUNCTION, type)) or callable(self.scope.get(name))

    def _pickled(self, values, lost):
        try:
            return pickle.dumps(values)
        except Exception:
            pass
        kept = {}
        for name, value in values.items():
            try:
                pickle.dumps(value)
                kept[name] = value
            except Exception:
                lost.append(name)
        return pickle.dumps(kept)


def _names(node):
    """The names that a definition binds; none if it is no definition."""
    if isinstance(node, (_ast.Import, _ast.ImportFrom)):
        return [(it.asname or it.name.partition(".")[0]) for it in node.names]
    if isinstance(node, _DEFINING):
        return [node.name]
    if isinstance(node, _ast.Assign) and isinstance(node.value, _ast.Lambda):
        return [it.id for it in node.targets if isinstance(it, _ast.Name)]
    return []
