"""Merge conflicts that were left in a file of a run, whatever its language."""

from __future__ import annotations

from netsharp_lsp.cntk.rules import CONFLICT, rule
from netsharp_lsp.cntk.rules.findings import Finding, Note, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.run.conflicts import FileConflict
    from netsharp_lsp.cntk.run.experiment import Experiment


@rule("CK123", "error", on=CONFLICT, of_texts=True, language="brainscript")
def unresolved(subject: FileConflict, _: Experiment) -> Iterator[Finding]:
    """Report an unresolved conflict once, at the first of its marks."""
    conflict, file = subject.conflict, subject.file
    start, end = conflict.marks[0][1:]
    notes = [Note(sentence, Place(file, *span)) for sentence, *span in conflict.notes]
    yield Finding("CK123", Place(file, start, end), conflict.message, notes)
