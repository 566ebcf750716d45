"""Facts on programs of BrainScript that several rules use, from evaluation and parser, and the
severity that follows from them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.brainscript.analysis.scopes import Application, Use
    from netsharp_lsp.cntk.networks.faults import BuildingFault, Place
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram
    from netsharp_lsp.diagnostics.model import Severity

#: Damages that may have swallowed a definition.
SWALLOWING = frozenset(("junk", "definition-equals", "keyword", "number", "equals", "unexpected"))


class Facts(NamedTuple):
    """Facts about a program, by places in the user's texts.

    ``met`` are the kinds of fault at each place, ``lost`` words that damage may have swallowed;
    ``sketch``: a part was omitted on purpose.
    """

    met: dict[Place, frozenset[str]]
    failed: bool
    lost: frozenset[str]
    sketch: bool


@lru_cache(maxsize=4)
def facts(program: BrainScriptProgram) -> Facts:
    """Return the facts that the evaluation and the parser found about a program."""
    met: dict[Place, frozenset[str]] = {}
    # There are as many places as faults, and few sets of kinds.
    same: dict[frozenset[str], frozenset[str]] = {}
    for fault in program.built.faults:
        place = users_place(program, fault)
        kinds = met.get(place, frozenset()) | {fault.kind}
        met[place] = same.setdefault(kinds, kinds)
    words: set[str] = set()
    sketch = False
    for text in program.texts:
        damages = text.known.damages
        sketch = sketch or any(damage.kind == "placeholder" for damage in damages)
        swallowing = (damage.span[0] for damage in damages if damage.kind in SWALLOWING)
        for line in _lines(text.data, sorted(swallowing)):
            words.update(_words(line))
    return Facts(met, bool(program.built.faults), frozenset(words), sketch)


def _lines(data: bytes, offsets: list[int]) -> Iterator[bytes]:
    """Yield the lines that contain the given offsets, which are sorted."""
    done = 0
    for offset in offsets:
        if offset >= done:
            start = data.rfind(b"\n", 0, offset) + 1
            done = data.find(b"\n", offset) + 1 or len(data) + 1
            yield data[start : done - 1]


def _words(line: bytes) -> list[str]:
    """Return the words of a line."""
    return "".join(
        sign if sign.isalnum() or sign == "_" else " " for sign in line.decode("utf-8", "replace")
    ).split()


def users_place(program: BrainScriptProgram, fault: BuildingFault) -> Place:
    """Return where a fault is in the texts of the user: its place, or the innermost call that leads
    there.
    """
    places = (fault.place, *reversed(fault.calls))
    return next((one for one in places if not program.in_library(one)), fault.place)


def severity(
    program: BrainScriptProgram, at: Place, subject: Use | Application, alone: Severity = "error"
) -> Severity:
    """Return "error" if evaluation fails here, or would next, otherwise "warning": it is not
    evaluated.
    """
    known = facts(program)
    reached = at in known.met or (known.failed and subject.eager)
    if not reached:
        return "hint" if program.alone and alone == "hint" else "warning"
    return alone if program.alone else "error"
