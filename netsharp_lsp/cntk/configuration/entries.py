"""The keys of a record with all values assigned to them; knows no look-up and no variables."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.sources import SourcePlace
from netsharp_lsp.cntk.configuration.traced import Traced, Weaver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.records import Record


class Assignment:
    """One assignment of a value to a key; one that `appends` leaves the former value in force."""

    __slots__ = ("appends", "record")

    def __init__(self, record: Record, appends: bool) -> None:
        self.record = record
        self.appends = appends

    @property
    def key(self) -> SourcePlace:
        """Return the place of the key."""
        return self.record.text.place(*self.record.key)

    @property
    def value(self) -> SourcePlace:
        """Return the place of the value, with its quotes or brackets."""
        return self.record.text.place(*self.record.whole)

    @property
    def kind(self) -> str:
        """The kind of the value."""
        return self.record.kind


class Entry:
    """A key of a scope, spelt as first written, with its final text and its history."""

    __slots__ = ("_text", "assignments", "key")

    def __init__(self, record: Record) -> None:
        self.key = record.name
        self.assignments = [Assignment(record, appends=False)]
        self._text: Traced | None = None

    def assign(self, record: Record) -> None:
        """Give the key another value: one that begins with `[` is appended, any other replaces."""
        last = self.assignments[-1]
        appends = record.begins_block and (last.appends or not last.record.is_empty)
        self.assignments.append(Assignment(record, appends))
        self._text = None

    @property
    def text(self) -> Traced:
        """Return the value before substitution."""
        if self._text is None:
            texts = [part.record.content for part in self.parts]
            self._text = texts[0] if len(texts) == 1 else _spaced(texts)
        return self._text

    @property
    def parts(self) -> list[Assignment]:
        """Return the assignments that the value consists of: one, or a block and the appended
        ones.
        """
        first = len(self.assignments) - 1
        if not first:
            return self.assignments
        while self.assignments[first].appends:
            first -= 1
        return self.assignments[first:]

    @property
    def overridden(self) -> list[Assignment]:
        """Return the assignments that a later one overrides."""
        return self.assignments[: len(self.assignments) - len(self.parts)]

    @property
    def kind(self) -> str:
        """Return the kind of the value in force."""
        return self.assignments[-1].kind if len(self.assignments) == 1 else self.parts[0].kind


def _spaced(texts: list[Traced]) -> Traced:
    """Return appended texts, with a blank between."""
    weaver = Weaver()
    for text in texts:
        if len(weaver):
            end = texts[0].place(0, 0)
            weaver.add_placeholder(b" ", SourcePlace(end.source, end.start, end.start))
        weaver.take(text, 0, len(text))
    return weaver.done()
