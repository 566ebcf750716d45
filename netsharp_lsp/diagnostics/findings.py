"""The results of rules before offsets are known: values over the places of any language.

Wording is final. A language turns its findings into diagnostics; knows no language and no rule.
"""

from __future__ import annotations

from netsharp_lsp.generics import Generic, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from netsharp_lsp.diagnostics.model import Severity

PlaceT = TypeVar("PlaceT")
ChangeT = TypeVar("ChangeT")


class Note(Generic[PlaceT]):
    """A sentence about another place that belongs to a finding."""

    __slots__ = ("message", "place")

    def __init__(self, message: str, place: PlaceT) -> None:
        self.message: Final = message
        self.place: Final = place


class Change(Generic[PlaceT]):
    """A replacement of a place's text."""

    __slots__ = ("place", "text")

    def __init__(self, place: PlaceT, text: str) -> None:
        self.place: Final = place
        self.text: Final = text


class Repair(Generic[ChangeT]):
    """A proposed fix; safe when the text was broken or its meaning stays equal."""

    __slots__ = ("changes", "safe", "title")

    def __init__(self, title: str, changes: Iterable[ChangeT], *, safe: bool) -> None:
        self.title: Final = title
        self.changes: Final = tuple(changes)
        self.safe: Final = safe


class Finding(Generic[PlaceT, ChangeT]):
    """One fault at one place. `code` names the rule, which has the severity.

    `severity` is given only where a rule has several, else the rule's own applies.
    """

    __slots__ = ("code", "message", "notes", "place", "repair", "severity")

    def __init__(
        self,
        code: str,
        place: PlaceT,
        message: str,
        notes: Iterable[Note[PlaceT]] = (),
        repair: Repair[ChangeT] | None = None,
        severity: Severity | None = None,
    ) -> None:
        self.code: Final = code
        self.place: Final = place
        self.message: Final = message
        self.notes: Final = tuple(notes)
        self.repair: Final = repair
        self.severity: Final = severity
