"""The findings of rules on CNTK's languages, at places that name their file; knows no rule.

One run of CNTK reads several files, so a finding belongs to a file, not to a check.
"""

from __future__ import annotations

from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.diagnostics import findings
from netsharp_lsp.diagnostics.model import Diagnostic, Edit, Fix, Related

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.sources import SourcePlace
    from netsharp_lsp.diagnostics.model import Severity

__all__ = ["Change", "Finding", "Note", "Place", "Repair", "placed"]


def placed(place: SourcePlace) -> Place:
    """Return a place of a configuration with the name of its file."""
    return Place(place.source.name, place.start, place.end)


class Note(findings.Note[Place]):
    """A sentence about another place that belongs to a finding."""

    __slots__ = ()


class Change(findings.Change[Place]):
    """A replacement of a place's text."""

    __slots__ = ()


class Repair(findings.Repair[Change]):
    """A proposed fix in the finding's own file; safe if the evaluated values stay equal, or if the
    text was invalid.
    """

    __slots__ = ()


class Finding(findings.Finding[Place, Change]):
    """One fault at one place of a file."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Finding({self.code!r}, {self.message!r}, {self.place!r})"

    def diagnostic(self, severity: Severity) -> Diagnostic:
        """Return the finding as the report of its file shows it."""
        file = self.place.source
        related = [
            Related(
                note.message,
                note.place.start,
                note.place.end,
                note.place.source if note.place.source != file else None,
            )
            for note in self.notes
        ]
        fix = None
        if self.repair is not None:
            edits = [
                Edit(change.place.start, change.place.end, change.text)
                for change in self.repair.changes
            ]
            fix = Fix(self.repair.title, self.repair.safe, edits)
        return Diagnostic(
            self.code,
            self.severity or severity,
            self.message,
            self.place.start,
            self.place.end,
            related,
            fix,
        )
