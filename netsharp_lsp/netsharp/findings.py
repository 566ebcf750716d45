"""The findings of rules, at places that move with their declaration; knows no rule.

A finding becomes a `Diagnostic` with absolute offsets only when a snapshot asks for it, so a
finding about one declaration stays true when another one above it grows.
"""

from __future__ import annotations

from enum import Enum

from netsharp_lsp.diagnostics import findings
from netsharp_lsp.diagnostics.model import Diagnostic, Fix, Related
from netsharp_lsp.text.edits import Edit
from netsharp_lsp.text.shorten import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from netsharp_lsp.diagnostics.model import Severity
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Node


class Rests(Enum):
    """The text that must be parsed for a finding to be true; `meaning.doubts` knows what is.

    `TEXT`: nothing, it is about the bytes themselves. `WORDS`: the words it marks, with the
    attribute, size or condition around them. `ITEM`: the whole layer, constant or item of a share
    that it is in. `NAME`: its words, and that the name which it marks occurs in no unparsed text.
    `UNDECLARED`: the same, and that no declaration lost its name. `LAYERS`: its item, and that no
    layer was left unparsed.
    """

    TEXT = 0
    WORDS = 1
    ITEM = 2
    NAME = 3
    UNDECLARED = 4
    LAYERS = 5


class RelativeSpan:
    """A span of a declaration; without a declaration, absolute offsets in the text."""

    __slots__ = ("declaration", "end", "start")

    def __init__(self, declaration: Declaration | None, start: int, end: int) -> None:
        self.declaration = declaration
        self.start = start
        self.end = end

    @classmethod
    def of(cls, declaration: Declaration, node: Node) -> RelativeSpan:
        """Return the span of a node."""
        return cls(declaration, node.start, node.end)

    def before(self) -> RelativeSpan:
        """Return the empty place at the start."""
        return RelativeSpan(self.declaration, self.start, self.start)

    def after(self) -> RelativeSpan:
        """Return the empty place at the end."""
        return RelativeSpan(self.declaration, self.end, self.end)

    def offsets(self, specification: Specification) -> tuple[int, int]:
        """Return absolute offsets in the text of a snapshot."""
        if self.declaration is None:
            return self.start, self.end
        base = specification.starts[self.declaration]
        return base + self.start, base + self.end


class Top(RelativeSpan):
    """The empty place before the first declaration, whichever that is."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, 0, 0)

    def offsets(self, specification: Specification) -> tuple[int, int]:
        """Return absolute offsets in the text of a snapshot."""
        start = specification.starts[specification.declarations[0]]
        return start, start


class Note(findings.Note[RelativeSpan]):
    """A sentence about another place that belongs to a finding."""

    __slots__ = ()


class Change(findings.Change[RelativeSpan]):
    """A replacement of a place's text."""

    __slots__ = ()

    def written(self, specification: Specification) -> str:
        """Return the text for a snapshot."""
        return self.text


class NewLine(Change):
    """A replacement by a line, with the line end of the text."""

    __slots__ = ()

    def written(self, specification: Specification) -> str:
        """Return the text for a snapshot."""
        return self.text + specification.line_end


class Repair(findings.Repair[Change]):
    """A proposed fix; safe when the text was broken or the network stays equal."""

    __slots__ = ()


class Finding(findings.Finding[RelativeSpan, Change]):
    """One fault at one place of a specification; only NS089 has two severities.

    `also`: other places whose items must be parsed for it to be true.
    """

    __slots__ = ("also",)

    def __init__(
        self,
        code: str,
        place: RelativeSpan,
        message: str,
        notes: Iterable[findings.Note[RelativeSpan]] = (),
        repair: findings.Repair[Change] | None = None,
        severity: Severity | None = None,
        *,
        also: Iterable[RelativeSpan] = (),
    ) -> None:
        super().__init__(code, place, message, notes, repair, severity)
        self.also: Final = tuple(also)

    def diagnostic(self, specification: Specification, severity: Severity) -> Diagnostic:
        """Return the finding in absolute offsets of a snapshot."""
        start, end = self.place.offsets(specification)
        related, fix = self.related(specification), self.fix(specification)
        return Diagnostic(
            self.code, self.severity or severity, self.message, start, end, related, fix
        )

    def related(self, specification: Specification) -> tuple[Related, ...]:
        """Return the other places of the finding in a snapshot."""
        notes = self.notes
        return tuple(Related(note.message, *note.place.offsets(specification)) for note in notes)

    def fix(self, specification: Specification) -> Fix | None:
        """Return the repair in absolute offsets of a snapshot."""
        repair = self.repair
        if repair is None:
            return None
        edits = [
            Edit(*change.place.offsets(specification), change.written(specification))
            for change in repair.changes
        ]
        return Fix(repair.title, repair.safe, edits)


class LateDiagnostic(Diagnostic):
    """A finding in one text: its start and severity; the rest is computed at first use.

    `base`: where its declaration begins, if the caller knows it.
    """

    __slots__ = ("_finding", "_specification")

    def __init__(
        self,
        finding: Finding,
        specification: Specification,
        severity: Severity,
        base: int | None = None,
    ) -> None:
        place = finding.place
        self.code = finding.code
        self.severity = finding.severity or severity
        if base is None:
            self.start, self.end = place.offsets(specification)
        else:
            self.start = base + place.start
            self.end = base + place.end
        self._finding = finding
        self._specification = specification

    def __getattr__(self, name: str) -> object:
        """Compute the slots that are still empty."""
        if name == "message":
            self.message = shortened(self._finding.message)
            return self.message
        if name == "related":
            self.related = self._finding.related(self._specification)
            return self.related
        if name == "fix":
            self.fix = self._finding.fix(self._specification)
            return self.fix
        raise AttributeError(name)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the diagnostic without its text."""
        return Diagnostic, (
            self.code,
            self.severity,
            self.message,
            self.start,
            self.end,
            self.related,
            self.fix,
        )

    @property
    def wording(self) -> Finding | None:
        """Return the finding itself, which is kept from version to version with its declaration."""
        found = self._finding
        return None if found.notes or found.place.declaration is None else found

    @property
    def fix_title(self) -> str | None:
        """Return the title of the fix; None without one."""
        repair = self._finding.repair
        return None if repair is None else shortened(repair.title)

    @property
    def is_safely_fixed(self) -> bool:
        """Return whether there is a fix, and a safe one."""
        repair = self._finding.repair
        return repair is not None and repair.safe
