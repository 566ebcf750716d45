"""The table that a script trains on: the file that it is read from, and changes of its columns.

Knows the functions of R and pandas that read tables and make categories; reads no disk.
"""

from __future__ import annotations

import math
import re

from netsharp_lsp.importing.values import REST, HostCall, NamedValues
from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.importing.values import ColumnChange, HostValue

#: The functions that read a table from a text file, with what each takes for granted.
READERS: dict[str, dict[str, object]] = {
    "read.csv": {},
    "read.csv2": {"delimiter": "semicolon", "decimal": "comma"},
    "read.delim": {"delimiter": "tab"},
    "read_csv": {},
    "read_csv2": {"delimiter": "semicolon", "decimal": "comma"},
    "read_tsv": {"delimiter": "tab"},
    "fread": {},
    "read_parquet": {},
}
#: Arguments of these by their plain names, and the keys of [data] that say the same.
_KEYS = {
    "sep": "delimiter",
    "delim": "delimiter",
    "delimiter": "delimiter",
    "dec": "decimal",
    "decimal": "decimal",
    "header": "header",
    "encoding": "encoding",
    "fileencoding": "encoding",
    "nrows": "rows",
    "nmax": "rows",
}
_PATHS = ("file", "filepathorbuffer", "path", "input")
#: Arguments that change no value of a table.
_WITHOUT_EFFECT = (
    *("stringsasfactors", "checknames", "showcoltypes", "lowmemory", "engine", "datatable"),
    *("progress", "lazy"),
)
#: Values of arguments that a run has anyway.
_AS_HERE: dict[str, tuple[HostValue, ...]] = {
    "quote": ('"',),
    "quotechar": ('"',),
    "quoting": (0,),
    "commentchar": ("", None),
    "comment": ("", None),
    "nrows": (None, math.inf),
    "nmax": (None, math.inf),
    "sep": (None, "auto"),
    "dec": (None,),
}
_WORDS = {",": "comma", ".": "point", ";": "semicolon", "\t": "tab", " ": "space", "|": "pipe"}
#: The functions that make categories of a column.
FACTORS = ("factor", "as.factor", "ordered", "Categorical", "astype")
_LEVELS = ("levels", "categories")
_QUOTES = re.compile(r"[\s'\"`]")


class TableFile:
    """A table in a file: its path and how it is read, and which arguments cannot be expressed."""

    __slots__ = ("lost", "path", "settings")

    def __init__(self, path: str) -> None:
        self.path = path
        self.settings: dict[str, object] = {}
        self.lost: list[tuple[str, int, str]] = []


def table_file(value: HostValue) -> TableFile | None:
    """Return the file that a call reads a table from; None for other calls."""
    if not isinstance(value, HostCall) or value.name not in READERS:
        return None
    plain = [(one.name.replace("_", "").lower(), one) for one in value.arguments]
    paths = [one for at, (name, one) in enumerate(plain) if name in _PATHS or not (name or at)]
    path = paths[0].value if paths else None
    if not isinstance(path, str) or "://" in path or not path:
        return None
    found = TableFile(path)
    found.settings |= READERS[value.name]
    for name, one in plain:
        name = name.replace(".", "")
        if one in paths or name in _WITHOUT_EFFECT or _is_usual(name, one.value):
            continue
        key = _KEYS.get(name)
        known = None if key is None else _known(key, one.value)
        if key is None or known is None:
            argument = one.written if one.name in ("", REST) else one.name
            what = f"{value.name}: {argument}"
            found.lost.append((what, one.line, f"{one.written} is not carried over"))
        else:
            found.settings[key] = known
    return found


def _is_usual(name: str, value: HostValue) -> bool:
    """Return whether an argument has the value that a run uses anyway."""
    if name in ("nrows", "nmax") and isinstance(value, int | float) and value < 0:
        return True
    usual = _AS_HERE.get(name, ())
    return any(value == one and type(value) is type(one) for one in usual)


def _known(key: str, value: HostValue) -> object:
    """Return the value of a reader's argument as a key; None where no key expresses it."""
    if key == "header":
        return value if isinstance(value, bool) else True if value in (0, "infer") else None
    if key == "rows":
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        return whole if isinstance(whole, int) and not isinstance(whole, bool) else None
    if not isinstance(value, str):
        return None
    return value if key == "encoding" else _WORDS.get(value)


class Factor:
    """A column that becomes a category: its levels in order, None for those in the data."""

    __slots__ = ("column", "levels")

    def __init__(self, column: str, levels: Sequence[str] | None) -> None:
        self.column = column
        self.levels = levels

    @property
    def in_our_order(self) -> bool:
        """Return whether the levels have the order used here: numbers by value, then texts."""
        return self.levels is None or list(self.levels) == sorted(self.levels, key=_order)


def factor_of(change: ColumnChange) -> Factor | None:
    """Return the category that a change makes of a table's column, None for other changes."""
    value, table = change.value, change.table
    if change.column is None or not isinstance(value, HostCall) or value.name not in FACTORS:
        return None
    own = {f"{table}${change.column}", f"{table}[[{change.column}]]"}
    own |= {f"{table}[{change.column}]", f"{table}.{change.column}"}
    if value.name == "astype":
        made = {f"{one}.astype(category)" for one in own}
        assigned = _QUOTES.sub("", change.written).partition("=")[2]
        return Factor(change.column, None) if assigned in made else None
    levels: list[str] | None = None
    for at, one in enumerate(value.arguments):
        name = one.name.lower()
        if at == 0 and name in ("", "x", "values"):
            if _QUOTES.sub("", one.written) not in own:
                return None
        elif name in _LEVELS or (at == 1 and not name):
            if not isinstance(one.value, list) or isinstance(one.value, NamedValues):
                return None
            levels = [str(each) for each in one.value if isinstance(each, str | int | float)]
            if len(levels) < len(one.value):
                return None
        elif name != "ordered":
            return None
    return Factor(change.column, levels)


def _order(level: str) -> tuple[bool, float, str]:
    number = whole_number(level)
    try:
        return (False, float(level if number is None else number), "")
    except (ValueError, OverflowError):
        return (True, 0.0, level)
