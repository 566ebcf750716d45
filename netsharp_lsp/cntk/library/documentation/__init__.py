"""The documentation of the library functions and of the native node types.

The texts are Markdown files in this folder; signatures come from the library itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from netsharp_lsp.cntk.brainscript.analysis.program import library_of
from netsharp_lsp.cntk.brainscript.analysis.resolving import Resolver
from netsharp_lsp.cntk.library import PREFIX, own_library
from netsharp_lsp.cntk.library.versions import of_function, of_parameter
from netsharp_lsp.cntk.networks.node_types import NODE_TYPES
from netsharp_lsp.cntk.versions import ALWAYS, Releases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.analysis.scopes import Declaration
    from netsharp_lsp.cntk.brainscript.reading.syntax import Parameter
    from netsharp_lsp.cntk.networks.faults import Place

FOLDER = Path(__file__).parent
#: Texts with an entry for each function, by subject.
GROUPS = (
    "layers",
    "parameters_and_inputs",
    "operations",
    "images",
    "sequences",
    "recurrent",
    "criteria",
    "values",
)
NODES = "nodes"
ITEM = re.compile(r"- `?([^`:]+)`?: (.*)")
#: An expression that builds a node, and its shape: `[6 x *]` has a dynamic axis.
EXAMPLE = re.compile(r"> (.+) : (\[[^\]]*\])")


class Entry:
    """The documentation of a function or a node type.

    `signature` shows how it is called, empty for a node type; `formula`, `shape` and `example` (an
    expression and its shape) are empty if there is none.  `parameters` contain a sentence for each
    parameter, in order.
    """

    __slots__ = (
        *("example", "formula", "group", "name"),
        *("parameters", "shape", "signature", "text"),
    )

    def __init__(self, name: str, group: str) -> None:
        self.name = name
        self.group = group
        self.signature = ""
        self.formula = ""
        self.text = ""
        self.shape = ""
        self.example = ("", "")
        self.parameters: dict[str, str] = {}

    @property
    def markdown(self) -> str:
        """Return the whole entry as Markdown."""
        parts = [f"```brainscript\n{self.signature}\n```"] if self.signature else []
        parts += [f"CNTK knows it {self.known}."] if self.known != ALWAYS else []
        parts += [f"`{self.formula}`"] if self.formula else []
        parts += [self.text]
        parts += ["\n".join(map(self._parameter, self.parameters))]
        parts += [f"Shape: {self.shape}."] if self.shape else []
        code, shape = self.example
        parts += [f"For example, this is a node of shape `{shape}`: `{code}`."] if code else []
        return "\n\n".join(part for part in parts if part)

    @property
    def known(self) -> Releases:
        """Return the releases that have it."""
        row = NODE_TYPES.get(self.name) if not self.signature else None
        if row is None:
            return of_function(self.name)
        return Releases(row.since) if row.since else ALWAYS

    def _parameter(self, name: str) -> str:
        known = of_parameter(self.name, name)
        when = f" ({known})" if known not in (ALWAYS, self.known) else ""
        return f"- `{name}`{when}: {self.parameters[name]}"


def of(name: str) -> Entry | None:
    """Return the documentation of a function by its name or an alias, otherwise of a node type of
    that name; None if there is neither.
    """
    return _functions().get(name) or _alias(name) or _entries(NODES).get(name)


def of_node(operation: str) -> Entry | None:
    """Return the documentation of a native node type, None for an unknown type."""
    own = _entries(NODES).get(operation)
    if own is not None:
        return own
    found = of(operation) or of(f"CNTK2.{operation}")
    if found is None or found.name.rpartition(".")[2] != operation:
        return None
    node = Entry(operation, found.group)
    node.formula, node.text, node.shape = found.formula, found.text, found.shape
    node.example = found.example
    return node


def documented(group: str) -> dict[str, Entry]:
    """Return the documentation of the functions of one of `GROUPS`, or of the types of `NODES`, by
    name.
    """
    found = _functions() if group != NODES else _entries(NODES)
    return {name: found[name] for name in _entries(group)}


def signature(declaration: Declaration, name: str = "") -> str:
    """Return the signature of a library function: `Softmax (z, axis=0, tag='')`."""
    opening, closing = ("{", "}") if declaration.braced else ("(", ")")
    parameters = ", ".join(_written(one) for one in declaration.parameters or ())
    return f"{name or declaration.qualified} {opening}{parameters}{closing}"


@lru_cache(maxsize=1)
def meanings() -> dict[str, str]:
    """Return the documentation of parameters by name."""
    lines = (FOLDER / "parameters.md").read_text(encoding="utf-8").splitlines()
    found = (ITEM.fullmatch(line) for line in lines)
    return {one.group(1): one.group(2) for one in found if one is not None}


@lru_cache(maxsize=1)
def _functions() -> dict[str, Entry]:
    """Return the entries of all functions, with signatures and parameters."""
    library = library_of(own_library())
    found: dict[str, Entry] = {}
    for group in GROUPS:
        for name, entry in _entries(group).items():
            declaration = library.find(name)
            if declaration is not None:
                _complete(entry, declaration)
            found[name] = entry
    return found


def _complete(entry: Entry, declaration: Declaration) -> None:
    entry.signature = signature(declaration, entry.name)
    own = entry.parameters
    entry.parameters = {
        one.name: own.get(one.name) or meanings().get(one.name, "")
        for one in declaration.parameters or ()
    }


def _alias(name: str) -> Entry | None:
    """Return the entry of the function that an alias refers to."""
    library = library_of(own_library())
    declaration = library.find(name)
    denoted = Resolver(library.scopes).of(declaration) if declaration is not None else None
    if denoted is None or denoted.declaration is None:
        return None
    return _functions().get(denoted.declaration.qualified)


@lru_cache(maxsize=16)
def _entries(group: str) -> dict[str, Entry]:
    """Return the entries of a text by name; a heading may contain several names."""
    found: dict[str, Entry] = {}
    entries: list[Entry] = []
    for line in (FOLDER / f"{group}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            entries = [Entry(name, group) for name in line[3:].split(", ")]
            found.update((entry.name, entry) for entry in entries)
        for entry in entries:
            _read(entry, line)
    return found


def _read(entry: Entry, line: str) -> None:
    item, example = ITEM.fullmatch(line), EXAMPLE.fullmatch(line)
    if line.startswith("= "):
        entry.formula = line[2:]
    elif line.startswith("→ "):
        entry.shape = line[2:]
    elif example is not None:
        entry.example = (example[1], example[2])
    elif item is not None:
        entry.parameters[item.group(1)] = item.group(2)
    elif line and not line.startswith("#"):
        entry.text = f"{entry.text} {line}".lstrip()


def _written(parameter: Parameter) -> str:
    if parameter.default is None:
        return parameter.name
    return f"{parameter.name}={_library_words(parameter.default.place)}"


def _library_words(place: Place) -> str:
    """Return the text at a place of the library; a function in brackets keeps them."""
    data = _source(place.source)
    text = data[place.start : place.end].decode("utf-8")
    before, after = data[: place.start].rstrip()[-1:], data[place.end :].lstrip()[:1]
    return f"({text})" if "=>" in text and (before, after) == (b"(", b")") else text


@lru_cache(maxsize=16)
def _source(name: str) -> bytes:
    return (FOLDER.parent / name.removeprefix(PREFIX)).read_bytes()
