"""Rules on declarations of BrainScript that are not used, or that hide other names."""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.analysis.scopes import FUNCTION, MEMBER, PARAMETER
from netsharp_lsp.cntk.rules import PROGRAM, emitted, rule
from netsharp_lsp.cntk.rules.brainscript.facts import facts
from netsharp_lsp.cntk.rules.findings import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.brainscript.analysis.scopes import Declaration
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram


@rule("BS032", "hint", on=PROGRAM)
def unused(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report functions, members of inner records and parameters that are not used."""
    if program.alone or facts(program).sketch:
        return
    used = _Used(program)
    for declaration in program.program.declarations:
        unneeded = used.unneeded(declaration)
        if unneeded is not None:
            code, message = unneeded
            yield Finding(code, program.outside(declaration.place), message)


emitted("BS033", "hint", language="brainscript")
emitted("BS034", "hint", language="brainscript")


class _Used:
    """The declarations of a program that are used anywhere."""

    def __init__(self, program: BrainScriptProgram) -> None:
        self.program = program
        uses = program.program.uses
        self.declarations = {id(use.declaration) for use in uses if use.declaration is not None}
        self.loose = {use.name for use in uses if use.member and use.declaration is None}
        functions = [one.call.function.place for one in program.program.applications]
        called = {(place.source, place.end) for place in functions}
        #: Functions that are passed on: their callers determine their parameters.
        self.handed = {
            id(use.declaration)
            for use in uses
            if use.declaration is not None and (use.place.source, use.place.end) not in called
        }

    def unneeded(self, declaration: Declaration) -> tuple[str, str] | None:
        """Return the code and message for a declaration that is not used, otherwise None."""
        name = declaration.name
        if id(declaration) in self.declarations or name in self.loose or name.startswith("_"):
            return None
        if not name or declaration.place.source != self.program.text.name:
            return None
        if declaration.kind == PARAMETER:
            return self._parameter(declaration)
        network = declaration.scope is self.program.program.network
        constructing = self.program.program.survey.constructing
        if id(declaration.scope) in constructing and not network:
            return None
        if declaration.kind == FUNCTION:
            return "BS032", f"The function '{name}' is never called."
        if declaration.kind == MEMBER and not network and declaration.scope.holder is not None:
            return "BS033", (
                f"'{name}' is never used: a member of an inner record is evaluated only when it"
                " is used."
            )
        return None

    def _parameter(self, declaration: Declaration) -> tuple[str, str] | None:
        holder = declaration.scope.holder
        if holder is None or holder.kind != FUNCTION or id(holder) in self.handed:
            return None
        if id(declaration.scope) in self.program.program.survey.constructing:
            return None
        return "BS034", f"'{holder.name}' does not use its parameter '{declaration.name}'."


@rule("BS035", "hint", on=PROGRAM)
def hidden_functions(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report members of the network that hide a library function."""
    if program.alone:
        return
    network = program.program.network
    library = program.program.library.scope.declared
    for name, declaration in (network.declared if network is not None else {}).items():
        hidden = library.get(name)
        if hidden is not None and hidden.kind in (MEMBER, FUNCTION) and hidden.value is not None:
            yield Finding(
                "BS035",
                program.outside(declaration.place),
                f"'{name}' hides the library's '{name}': in this network the name refers to this"
                " member.",
            )
