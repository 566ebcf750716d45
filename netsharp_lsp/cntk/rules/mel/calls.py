"""Rules on edits in MEL: calls, models, and the nodes that they name."""

from __future__ import annotations

from netsharp_lsp.cntk.mel.faults import NETWORK
from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Repair, placed
from netsharp_lsp.cntk.rules.networks.shapes import KINDS as SHAPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.faults import EditFault, Replacement
    from netsharp_lsp.cntk.rules.findings import Place
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

#: The code of each kind of fault, and its severity.
KINDS: dict[str, tuple[str, Severity]] = {
    "unknown-function": ("ME001", "error"),
    "shortened": ("ME002", "hint"),
    "count": ("ME003", "error"),
    "ignored": ("ME004", "warning"),
    "option": ("ME005", "error"),
    "option-value": ("ME006", "error"),
    "no-default": ("ME007", "error"),
    "unknown-model": ("ME008", "error"),
    "model-twice": ("ME009", "warning"),
    "unknown-node": ("ME010", "error"),
    "no-match": ("ME011", "error"),
    "property": ("ME012", "error"),
    "old-property": ("ME013", "info"),
    "property-value": ("ME014", "error"),
    "index": ("ME015", "error"),
    "missing-file": ("ME016", "info"),
    "snippet-file": ("ME017", "error"),
    "snippet-section": ("ME018", "error"),
    "snippet-whole": ("ME019", "warning"),
    "not-saved": ("ME020", "hint"),
    "separator": ("ME021", "warning"),
    "no-value": ("ME022", "error"),
    "rename-taken": ("ME023", "error"),
    "patterns": ("ME024", "error"),
    "across": ("ME025", "error"),
    "several": ("ME026", "error"),
    "no-effect": ("ME027", "warning"),
    "not-freezable": ("ME028", "error"),
    "create-alone": ("ME029", "error"),
    "statement": ("ME030", "error"),
    "copied-onto-itself": ("ME023", "error"),
    "outside": ("CK119", "info"),
    "not-connected": ("ME031", "error"),
    "numbers": ("ME032", "error"),
}
#: Statements of NDL in a text of MEL have the codes of NDL.
KINDS["ndl-function"] = ("ND002", "error")
#: Mismatches in an edited network have the codes of networks.
KINDS.update({f"{NETWORK}{kind}": (code, "error") for kind, (code, _) in SHAPES.items()})
for _code, _severity in KINDS.values():
    if _code.startswith("ME") and _code != "ME001":
        emitted(_code, _severity)


@rule("ME001", "error", on=EXPERIMENT)
def edits(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report the faults of each edit of the run."""
    for edit in experiment.edits:
        for fault in edit.faults:
            if not _is_comment(fault):
                yield _finding(fault)


def _is_comment(fault: EditFault) -> bool:
    """Return whether an invalid statement is a wrong comment, which other rules report."""
    return fault.kind == "statement" and (b"//" in fault.text.text or b"#" in fault.text.text)


def _finding(fault: EditFault) -> Finding:
    code, _ = KINDS[fault.kind]
    notes = [Note(message, _place(text)) for message, text in fault.notes]
    severity: Severity | None = None if fault.is_error else "warning"
    return Finding(
        code, _place(fault.text), fault.message, notes, _repair(fault.replacement), severity
    )


def _place(text: Traced) -> Place:
    return placed(text.place(0, len(text)))


def _repair(replacement: Replacement | None) -> Repair | None:
    """Return a fix if the text is written as it is read, that is, without a variable."""
    if replacement is None:
        return None
    texts = [old for old, _ in replacement.changes]
    if any(old.place(0, len(old)).text != old.text for old in texts):
        return None
    changes = [Change(_place(old), new) for old, new in replacement.changes]
    return Repair(replacement.title, changes, safe=replacement.safe)
