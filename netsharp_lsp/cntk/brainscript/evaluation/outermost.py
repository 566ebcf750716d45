"""The scope around every network: what CNTK defines, and the library functions.

A network uses few of them, so each becomes a value when it is first used.
"""

from __future__ import annotations

from functools import lru_cache

from netsharp_lsp.cntk.brainscript.evaluation.evaluator import desugared
from netsharp_lsp.cntk.brainscript.evaluation.values import Record
from netsharp_lsp.cntk.brainscript.reading.identity import Identified
from netsharp_lsp.cntk.brainscript.reading.syntax import Member

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Evaluator
    from netsharp_lsp.cntk.brainscript.evaluation.values import Thunk
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression, Script


class Outermost(Record):
    """The names that CNTK defines, and the expressions of a library that are not used yet."""

    __slots__ = ("_later", "_run")

    def __init__(self, run: Evaluator, own: Mapping[str, Thunk]) -> None:
        super().__init__(None)
        self.members.update(own)
        self._run = run
        self._later: Mapping[str, Expression] = {}

    def add(self, library: tuple[Script, ...]) -> None:
        """Add the members of a library; a name that already exists is a fault."""
        later = _members(Identified(library))
        if later is None or not self.members.keys().isdisjoint(later):
            for script in library:
                self._run.fill(self, script.entries, "")
        else:
            self._later = later

    def outermost(self, name: str) -> Thunk | None:
        """Return a member of the library, as a value from now on."""
        expression = self._later.get(name)
        if expression is None:
            return None
        found = self.members[name] = self._run.thunk(expression, self, name)
        return found


@lru_cache(maxsize=4)
def _members(library: Identified) -> Mapping[str, Expression] | None:
    """Return the expressions of a library by name; None if names repeat or files are included."""
    found: dict[str, Expression] = {}
    for script in library.scripts:
        for entry in script.entries:
            if not isinstance(entry, Member) or entry.name in found:
                return None
            if entry.name:
                found[entry.name] = desugared(entry)
    return found
