"""Faults of a configuration, as values with places; prints nothing and decides nothing."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.sources import SourcePlace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: The kinds of fault, with their severities.
SEVERITIES = {
    "binary": "error",
    "carriage-return": "error",
    "cycle": "error",
    "deep": "error",
    "duplicate-file": "error",
    "empty-value": "error",
    "encoding": "info",
    "included-twice": "warning",
    "include-variable": "error",
    "long": "error",
    "missing-file": "error",
    "missing-include": "error",
    "newline-in-variable": "error",
    "outside": "info",
    "stray-bracket": "warning",
    "unclosed": "error",
    "undefined": "info",
    "unmatched": "error",
}
#: Faults after which CNTK cannot know the meaning of the text.
UNREADABLE = frozenset(
    {"binary", "carriage-return", "duplicate-file", "empty-value", "include-variable"}
    | {"missing-file", "missing-include", "unclosed", "unmatched"}
)

#: More faults than that are not kept.
MOST = 10_000


class TextFault:
    """A fault of one `kind` of `SEVERITIES`: its message, its place, and related places.

    `place` is None for a file that could not be read as a whole; `name` is the variable or the file
    that a fault is about, if there is one.
    """

    __slots__ = ("kind", "message", "name", "place", "related")

    def __init__(
        self,
        kind: str,
        message: str,
        place: SourcePlace | None,
        related: tuple[tuple[str, SourcePlace], ...] = (),
        *,
        name: str = "",
    ) -> None:
        self.kind = kind
        self.message = message
        self.place = place
        self.related = related
        self.name = name

    @property
    def severity(self) -> str:
        """Return `error`, `warning` or `info`."""
        return SEVERITIES[self.kind]

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place is not None else ""
        return f"{where}{self.severity}: {self.message}"

    def __repr__(self) -> str:
        return f"TextFault({self.kind!r}, {self.message!r})"


class TextFaults:
    """Faults in order, each once: a text is parsed more than once."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[object, TextFault] = {}

    def add(self, fault: TextFault) -> None:
        """Add a fault unless it is known, or there are more than a user can read."""
        if len(self._found) >= MOST:
            return
        key = (fault.kind, fault.place.key if fault.place is not None else fault.message)
        self._found.setdefault(key, fault)

    def __iter__(self) -> Iterator[TextFault]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)
