"""Lexical elements of T-SQL: identifiers, texts and numbers, as SQL Server 2016 and later read
them.

It must not know networks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

#: How long an identifier may be [Microsoft: Database identifiers], in units of UTF-16.
LONGEST_NAME = 128
#: A line break ends a batch where GO is alone on a line, and is dropped after a backslash; others
#: are invisible.
_CONTROLS = re.compile(r"([\x00-\x1f\x7f])")


def quoted_name(name: str) -> str:
    """Return a name as a delimited identifier."""
    return f"[{name.replace(']', ']]')}]"


def distinct_names(
    names: Iterable[str], taken: Iterable[str] = (), *, most: int = LONGEST_NAME
) -> list[str]:
    """Return identifiers of at most ``most`` units of UTF-16 that differ where letters of both
    cases are one, as in most databases.
    """
    known, found = {one.casefold() for one in taken}, []
    for name in names:
        plain = _CONTROLS.sub(" ", name).strip() or "column"
        made, number = _cut(plain, most), 2
        while made.casefold() in known:
            ending = f"_{number}"
            made, number = _cut(plain, most - len(ending)) + ending, number + 1
        known.add(made.casefold())
        found.append(made)
    return found


def _cut(name: str, units: int) -> str:
    return name.encode("utf-16-le", "replace")[: 2 * units].decode("utf-16-le", "ignore")


def text(value: str) -> str:
    """Return a text as an expression; control characters are written by their numbers."""
    parts = [one for one in _CONTROLS.split(value) if one]
    words = [
        f"CHAR({ord(one)})" if _CONTROLS.fullmatch(one) else "N'" + one.replace("'", "''") + "'"
        for one in parts
    ]
    if not words:
        return "N''"
    return words[0] if len(words) == 1 else f"CONCAT({', '.join(words)})"


def number(value: float | None) -> str:
    """Return a number as a literal of double precision, with every bit of it, None as NULL.

    Below the least normal number SQL Server has none but 0 [Microsoft: float and real].
    """
    if value is None:
        return "NULL"
    shown = repr(float(value) if abs(value) >= sys.float_info.min else 0.0)
    return shown if "e" in shown else f"{shown}E0"


def clamped(value: str, low: float, high: float) -> str:
    """Return an expression within bounds."""
    least, most = number(low), number(high)
    below, above = f"WHEN {value} < {least} THEN {least}", f"WHEN {value} > {most} THEN {most}"
    return f"CASE {below} {above} ELSE {value} END"
