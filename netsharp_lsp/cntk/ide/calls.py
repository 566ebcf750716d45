"""The call that an offset stands in, and the form of what it calls, in whatever language."""

from __future__ import annotations

import re
from typing import NamedTuple

from netsharp_lsp.cntk.ide.glossary import ndl_parameters, parameter_text
from netsharp_lsp.cntk.ide.text import nodes_at
from netsharp_lsp.cntk.library import PREFIX, library_text
from netsharp_lsp.cntk.mel.functions import meant
from netsharp_lsp.cntk.ndl.functions import function_of
from netsharp_lsp.cntk.reading.syntax import Call, Named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.analysis.scopes import Application, Declaration
    from netsharp_lsp.cntk.ide.edited import Edited
    from netsharp_lsp.cntk.programs import BrainScriptProgram

_NAME = re.compile(r"[A-Za-z_]\w*")


class CallAt(NamedTuple):
    """A call: the function's `name`, its `parameters` as text, which argument stands at the offset
    (`active`, by number; `named` where it is passed by name), and the function's form as `label`.
    """

    name: str
    label: str
    parameters: tuple[str, ...]
    active: int
    named: str


def call_at(edited: Edited, offset: int) -> CallAt | None:
    """The innermost call around an offset whose form is known."""
    island = edited.text.island_at(offset)
    if island is not None:
        return _in_brainscript(edited, offset)
    document = edited.text.document
    found = None
    for node in nodes_at(document.records if document is not None else (), offset):
        if isinstance(node, Call) and node.arguments.start < offset:
            found = node
    return None if found is None else _in_ndl(edited, found, offset)


def _in_ndl(edited: Edited, call: Call, offset: int) -> CallAt | None:
    before = [one for one in call.arguments.separators if one[1] <= offset]
    named = ""
    for element in call.arguments.elements:
        if isinstance(element, Named) and element.start <= offset <= element.end:
            named = element.name.text
    name = call.function.text
    if edited.language == "mel":
        edit = meant(name)
        if edit is not None:
            words = tuple(word for word, _ in edit.parameters)
            return CallAt(edit.name, edit.form, words, len(before), named)
    function = function_of(name)
    if function is None:
        return None
    words = ndl_parameters(function)
    return CallAt(function.name, f"{function.name}({', '.join(words)})", words, len(before), named)


def _in_brainscript(edited: Edited, offset: int) -> CallAt | None:
    for _, program, source, inner in edited.inside(offset):
        application = program.program.call_at(source, inner)
        if application is not None and application.signature is not None:
            return _applied(program, application, inner)
    return None


def _applied(program: BrainScriptProgram, application: Application, offset: int) -> CallAt | None:
    assert application.signature is not None
    declaration = application.signature.declaration
    if declaration is None:
        return None
    words = parameters_of(program, declaration)
    call = application.call
    active, named = 0, ""
    for number, argument in enumerate(call.arguments):
        if argument.place.start <= offset:
            active, named = number, argument.name
        if argument.place.end < offset:
            active, named = number + 1, ""
    if call.arguments and offset <= call.arguments[-1].place.end:
        active = min(active, len(call.arguments) - 1)
    label = _label(declaration, words)
    return CallAt(declaration.qualified, label, words, active, named)


def parameters_of(program: BrainScriptProgram, declaration: Declaration) -> tuple[str, ...]:
    """The parameters of a function of BrainScript as they are declared."""
    source = declaration.place.source
    data = library_text(source) if source.startswith(PREFIX) else program.data(source)
    return tuple(parameter_text(one, data) for one in declaration.parameters or ())


def form_of(program: BrainScriptProgram, declaration: Declaration) -> str:
    """The form of a function of BrainScript."""
    return _label(declaration, parameters_of(program, declaration))


def _label(declaration: Declaration, words: tuple[str, ...]) -> str:
    inside = ", ".join(words)
    return f"{declaration.qualified} " + (f"{{{inside}}}" if declaration.braced else f"({inside})")


def name_of(parameter: str) -> str:
    """The name of a parameter as it is declared with its default."""
    found = _NAME.match(parameter)
    return found.group() if found is not None else ""
