"""What the rules on texts say about a configuration in memory, in a form that tables hold."""

from __future__ import annotations

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.text.edits import apply_edits
from netsharp_lsp.workspace import Run
from tests.cntk.texts import Memory

#: The codes of texts of configurations.
LAST = "CK039"
LATER = ("CK120",)
NAME = "a.cntk"


def diagnostics(
    text: str, *items: str, declared: bool = False, **files: str
) -> dict[str, list[Diagnostic]]:
    """The findings of each file: `text` is `a.cntk`, others go by their stem."""
    held = {f"{stem}.cntk": content.encode() for stem, content in files.items()}
    memory = Memory({NAME: text.encode(), **held})
    run = Run((f"configFile={NAME}", *items), declared=declared)
    found = diagnostics_by_file(Experiment(run, memory))
    return {
        file: [one for one in listed if one.code <= LAST or one.code in LATER]
        for file, listed in found.items()
    }


def reported(text: str, *items: str, declared: bool = False, **files: str) -> list[tuple[str, str]]:
    """Every code with the words that it marks, in the order of the text; brackets are left
    out where they are only deprecated.
    """
    data = text.encode()
    return [
        (one.code, data[one.start : one.end].decode())
        for one in diagnostics(text, *items, declared=declared, **files).get(NAME, [])
        if one.code != "CK032"
    ]


def severities(text: str, *items: str, declared: bool = False, **files: str) -> dict[str, str]:
    """The severity of each code of the text."""
    found = diagnostics(text, *items, declared=declared, **files)
    return {one.code: one.severity for one in found.get(NAME, [])}


def fixed(text: str, code: str, *items: str, **files: str) -> str:
    """The text after the fixes of a code."""
    found = diagnostics(text, *items, **files).get(NAME, [])
    edits = [edit for one in found if one.code == code and one.fix for edit in one.fix.edits]
    assert edits, found
    return apply_edits(text.encode(), edits).decode()


def message(text: str, code: str, *items: str, declared: bool = False, **files: str) -> str:
    """What the one finding of a code says."""
    found = diagnostics(text, *items, declared=declared, **files).get(NAME, [])
    (one,) = [one for one in found if one.code == code]
    return one.message
