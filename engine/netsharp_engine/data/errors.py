"""The one kind of error that reading and preparing data raises: a sentence for people.

It must not know files or arrays; the module that raises it names the file, line and column.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from netsharp_engine.excerpt import excerpt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Files that people know by another name than their path.
KNOWN_AS: dict[str, str] = {}
#: A longer name is not searched for: comparing two takes the product of their lengths.
LONGEST_COMPARED = 100
#: The most names that are compared.
MOST_COMPARED = 10_000


class DataError(ValueError):
    """A table cannot be used; ``str(error)`` says what, where, why and what to do.

    Attributes
    ----------
    results : dict of str to CommandResult
        Of `netsharp.run`: what came of the commands that were done all the same; else empty.

    Since
    -----
    0.1
    """

    def __init__(self, sentence: str) -> None:
        for path, name in KNOWN_AS.items():
            sentence = sentence.replace(path, name)
        super().__init__(sentence)
        self.results: dict[str, Any] = {}


class UnknownClassError(DataError):
    """A label is none of a model's classes; ``place`` is its file, row and column."""

    def __init__(self, message: str, place: str, name: str) -> None:
        super().__init__(message)
        self.place, self.name = place, name


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a trailing question such as `` Did you mean 'age'?``, or all names when few, or
    nothing.
    """
    names = list(dict.fromkeys(known))
    short = [each for each in names[:MOST_COMPARED] if len(each) <= LONGEST_COMPARED]
    folded = {each.casefold(): each for each in reversed(short)}
    compared = name.casefold() if len(name) <= LONGEST_COMPARED else ""
    close = get_close_matches(compared, list(folded), n=3)  # of its cutoff, 0.6
    if close:
        listed = " or ".join(f"'{excerpt(folded[each])}'" for each in close)
        return f" Did you mean {listed}?"
    if 0 < len(names) <= 12:
        return f" There are: {', '.join(map(excerpt, names))}."
    return ""


def place(path: str, line: int, column: str | None = None) -> str:
    """Return ``FILE, line N, column 'C'``: the start of every sentence about one cell."""
    where = f"{path}, line {line}"
    return where if column is None else f"{where}, column '{excerpt(column)}'"
