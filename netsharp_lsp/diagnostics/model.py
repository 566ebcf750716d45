"""The diagnostics of every language as values; knows no language.

All offsets are UTF-8 bytes from 0, half-open; lines and columns are a matter of reports.
"""

from __future__ import annotations

from itertools import groupby, islice
from operator import attrgetter, lt

from netsharp_lsp.text.edits import Edit
from netsharp_lsp.text.shorten import shortened

__all__ = [
    "RANKS",
    "READING",
    "SEVERITIES",
    "Diagnostic",
    "Edit",
    "Fix",
    "Related",
    "Result",
    "in_order",
    "is_in_order",
    "most_severe",
    "reading_order",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal

    Severity = Literal["error", "warning", "info", "hint"]

#: From the most severe to the least.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info", "hint")
#: Place of each severity in `SEVERITIES`: a smaller number is more severe.
RANKS: dict[str, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}
#: The order in which people read a list: by place, then by code.
READING = attrgetter("start", "end", "code", "message")
_START = attrgetter("start")


class Fix:
    """A proposed change; `safe` when the text was broken or the network stays equal."""

    __slots__ = ("edits", "safe", "title")

    def __init__(self, title: str, safe: bool, edits: Iterable[Edit]) -> None:
        self.title = shortened(title)
        self.safe = safe
        self.edits = tuple(edits)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Fix)
            and self.title == other.title
            and self.safe == other.safe
            and self.edits == other.edits
        )

    def __hash__(self) -> int:
        return hash((self.title, self.safe, self.edits))

    def __repr__(self) -> str:
        return f"Fix({self.title!r}, {self.safe}, {list(self.edits)!r})"


class Related:
    """Another place that belongs to a diagnostic, in `file` or, where None, in the same one."""

    __slots__ = ("end", "file", "message", "start")

    def __init__(self, message: str, start: int, end: int, file: str | None = None) -> None:
        self.message = shortened(message)
        self.start = start
        self.end = end
        self.file = file

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Related)
            and self.message == other.message
            and self.start == other.start
            and self.end == other.end
            and self.file == other.file
        )

    def __hash__(self) -> int:
        return hash((self.message, self.start, self.end, self.file))

    def __repr__(self) -> str:
        return f"Related({self.message!r}, {self.start}, {self.end}, {self.file!r})"


class Diagnostic:
    """One finding: its rule's `code`, its severity, a sentence, the smallest span that shows it."""

    __slots__ = ("code", "end", "fix", "message", "related", "severity", "start")

    def __init__(
        self,
        code: str,
        severity: Severity,
        message: str,
        start: int,
        end: int,
        related: Iterable[Related] = (),
        fix: Fix | None = None,
    ) -> None:
        self.code = code
        self.severity = severity
        self.message = shortened(message)
        self.start = start
        self.end = end
        self.related = tuple(related)
        self.fix = fix

    @property
    def sort_key(self) -> tuple[int, int, str, str]:
        """Return the order in which people read a list: by place, then by code."""
        return self.start, self.end, self.code, self.message

    @property
    def wording(self) -> object | None:
        """Return an object that stays the same in later versions of a text for as long as the
        finding has the same text and relates to no other place; None, as here, if unknown.
        """
        return None

    @property
    def fix_title(self) -> str | None:
        """Return the title of the fix; None without one."""
        return None if self.fix is None else self.fix.title

    @property
    def is_safely_fixed(self) -> bool:
        """Return whether there is a fix, and a safe one."""
        return self.fix is not None and self.fix.safe

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Diagnostic)
            and self.sort_key == other.sort_key
            and self.severity == other.severity
            and self.related == other.related
            and self.fix == other.fix
        )

    def __hash__(self) -> int:
        return hash((self.sort_key, self.severity, self.related, self.fix))

    def __repr__(self) -> str:
        return (
            f"Diagnostic({self.code!r}, {self.severity!r}, {self.message!r}, "
            f"{self.start}, {self.end}, {list(self.related)!r}, {self.fix!r})"
        )


class Result:
    """The result of checking one text: its diagnostics, and its comments as (start, end) spans."""

    __slots__ = ("_comments", "diagnostics")

    def __init__(
        self, diagnostics: Iterable[Diagnostic], comments: Iterable[tuple[int, int]] = ()
    ) -> None:
        self.diagnostics = list(diagnostics)
        self._comments = comments

    @property
    def comments(self) -> list[tuple[int, int]]:
        """Return the comments, computed on request: a long text has many."""
        if not isinstance(self._comments, list):
            self._comments = list(self._comments)
        return self._comments

    def most_severe(self, most: int, wants: Callable[[str], bool]) -> tuple[int, list[Diagnostic]]:
        """Return the number of diagnostics with a wanted code, and the most severe of them."""
        wanted = {code: wants(code) for code in {one.code for one in self.diagnostics}}
        found = [one for one in self.diagnostics if wanted[one.code]]
        return len(found), most_severe(sorted(found, key=READING), most)


def most_severe(found: list[Diagnostic], most: int) -> list[Diagnostic]:
    """Return diagnostics as they are, or, of more than `most`, the most severe."""
    if len(found) <= most:
        return found
    return sorted(found, key=lambda one: RANKS[one.severity])[:most]


def in_order(found: list[Diagnostic]) -> list[Diagnostic]:
    """Sort diagnostics as people read them, each once; those alike by their related places.

    Few of a long list begin at one place, and only for those the full key is computed.
    """
    found.sort(key=_START)
    if is_in_order(found):
        return found
    ordered: list[Diagnostic] = []
    for _, group in groupby(found, _START):
        ordered += _each_once(list(group))
    return ordered


def is_in_order(found: Sequence[Diagnostic]) -> bool:
    """Return whether each diagnostic begins after the one before, so that no sort is needed."""
    starts = list(map(_START, found))
    return all(map(lt, starts, islice(starts, 1, None)))


def _each_once(found: list[Diagnostic]) -> list[Diagnostic]:
    if len(found) == 1 or len(set(map(READING, found))) == len(found):
        return sorted(found, key=READING)
    return sorted(set(found), key=reading_order)


def reading_order(diagnostic: Diagnostic) -> tuple[object, ...]:
    """Return the sort key: text order, then that of the related places of a diagnostic."""
    related = [(one.start, one.end, one.message) for one in diagnostic.related]
    return READING(diagnostic), related
