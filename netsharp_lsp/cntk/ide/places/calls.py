"""The call that contains an offset, and the form of the called function, in any of the
languages.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.reading.syntax import Name, Select
from netsharp_lsp.cntk.ide.meanings.descriptions import of_ndl
from netsharp_lsp.cntk.ide.meanings.glossary import comment_above, ndl_parameters, parameter_text
from netsharp_lsp.cntk.ide.meanings.words import parameter_meaning
from netsharp_lsp.cntk.ide.naming.ndl_names import scripts_of
from netsharp_lsp.cntk.ide.places.text import nodes_at
from netsharp_lsp.cntk.library import PREFIX, library_text
from netsharp_lsp.cntk.library.documentation import of
from netsharp_lsp.cntk.mel.functions import meant
from netsharp_lsp.cntk.ndl.functions import function_of
from netsharp_lsp.cntk.reading.syntax import ConfigurationCall, Named
from netsharp_lsp.once import once

if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.analysis.scopes import Declaration, Signature
    from netsharp_lsp.cntk.brainscript.reading.syntax import BrainScriptCall
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.ndl.syntax import Definition, NdlScript
    from netsharp_lsp.cntk.run.programs import ReadProgram

_NAME = re.compile(r"[A-Za-z_]\w*")


class CallAt(NamedTuple):
    """A call: the function's `name`, its `parameters` as text, the argument at the offset
    (`active`, by number; `named` where it is passed by name), the function's form as `label`, its
    description, the arguments that are `given` by name, and its language. `known`: its parameters
    have the meanings of the library's. `called` is a function of the library by its name with
    points, empty for any other.
    """

    name: str
    label: str
    parameters: tuple[str, ...]
    active: int
    named: str
    description: str
    given: tuple[str, ...]
    language: str
    known: bool
    called: str = ""

    @property
    def meaning(self) -> str:
        """Return the meaning of the parameter that is being written; empty where it is unknown."""
        return self.meaning_of(self.parameter)

    def meaning_of(self, parameter: str) -> str:
        """Return the meaning of a parameter as it is declared."""
        return parameter_meaning(name_of(parameter)) if self.known else ""

    @property
    def parameter(self) -> str:
        """The parameter that is being written, as it is declared; empty for none."""
        names = [name_of(word) for word in self.parameters]
        if self.named:
            lowered = [name.lower() for name in names]
            wanted = self.named.lower()
            return self.parameters[lowered.index(wanted)] if wanted in lowered else ""
        last = self.parameters.index("...") if "..." in self.parameters else len(names) - 1
        at = min(self.active, last) if "..." in self.parameters else self.active
        return self.parameters[at] if 0 <= at < len(names) else ""


def call_at(edited: Edited, offset: int) -> CallAt | None:
    """Return the innermost call around an offset whose form is known."""
    island = edited.text.island_at(offset)
    if island is not None:
        return _in_brainscript(edited, offset)
    document = edited.text.document_at(offset)
    found = None
    for node in nodes_at(document.records if document is not None else (), offset):
        if isinstance(node, ConfigurationCall) and node.arguments.start < offset:
            found = node
    return None if found is None else _in_ndl(edited, found, offset)


def _in_ndl(edited: Edited, call: ConfigurationCall, offset: int) -> CallAt | None:
    before = [one for one in call.arguments.separators if one[1] <= offset]
    named = [one for one in call.arguments.elements if isinstance(one, Named)]
    at = (one.name.text for one in named if one.start <= offset <= one.end)
    given = tuple(one.name.text for one in named)
    name = call.function.text
    form = _form(edited, name)
    if form is None:
        return None
    label, words, description, language, known = form
    return CallAt(
        name, label, words, len(before), next(at, ""), description, given, language, known
    )


def _form(edited: Edited, name: str) -> tuple[str, tuple[str, ...], str, str, bool] | None:
    """Return the form of a function of MEL or NDL, or of a macro: label, parameters, description,
    its language, and whether its parameters are those of the library.
    """
    edit = meant(name) if edited.language == "mel" else None
    if edit is not None:
        shown = edit.form[edit.form.index("(") + 1 : -1].split(", ")
        words = tuple(word.strip("[]") if "=" not in word else word[1:-1] for word in shown)
        return edit.form, tuple(filter(None, words)), edit.documentation, "mel", False
    macro = macro_named(edited, name)
    if macro is not None:
        words = tuple(one.text for one in macro.definition.parameters)
        return macro.form, words, macro.comment, "ndl", False
    function = function_of(name)
    if function is None:
        return None
    words = ndl_parameters(function)
    return f"{name}({', '.join(words)})", words, of_ndl(function.name), "ndl", True


class CalledMacro(NamedTuple):
    """A macro of NDL: its definition, and the text that contains it."""

    definition: Definition
    script: NdlScript

    @property
    def form(self) -> str:
        """Return its signature."""
        words = ", ".join(one.text for one in self.definition.parameters)
        return f"{self.definition.name.text}({words})"

    @property
    def comment(self) -> str:
        """Return the comment directly above it."""
        place = self.script.text.place(self.definition.start, self.definition.end)
        return comment_above(place.source.text, place.start)


def macro_named(edited: Edited, name: str) -> CalledMacro | None:
    """Return the macro of a name in the runs of a text; names are case-insensitive."""
    return _macros(edited).get(name.lower())


@once
def _macros(edited: Edited) -> dict[str, CalledMacro]:
    """Return the macros in the runs of a text by name in lower case; the first definition is
    used.
    """
    found: dict[str, CalledMacro] = {}
    for experiment in edited.experiments:
        for script in scripts_of(experiment):
            for definition in script.definitions():
                found.setdefault(definition.name.text.lower(), CalledMacro(definition, script))
    return found


def _in_brainscript(edited: Edited, offset: int) -> CallAt | None:
    for _, program, source, inner in edited.inside(offset):
        application = program.program.call_at(source, inner)
        if application is None:
            continue
        signature = program.program.signature(application)
        if signature is not None:
            return _applied(program, (application.call, signature), inner)
    return None


def _applied(
    program: ReadProgram, applied: tuple[BrainScriptCall, Signature], offset: int
) -> CallAt | None:
    call, signature = applied
    declaration = signature.declaration
    if declaration is None:
        return None
    words = parameters_of(program, declaration)
    active, named = 0, ""
    for number, argument in enumerate(call.arguments):
        if argument.place.start <= offset:
            active, named = number, argument.name
        if argument.place.end < offset:
            active, named = number + 1, ""
    if call.arguments and offset <= call.arguments[-1].place.end:
        active = min(active, len(call.arguments) - 1)
    given = tuple(one.name for one in call.arguments if one.name)
    description = description_of(program, declaration)
    name = _called(call)
    label = _label(declaration, words, name)
    known = declaration.library
    called = declaration.qualified if known else ""
    return CallAt(
        name, label, words, active, named, description, given, "brainscript", known, called
    )


def _called(call: BrainScriptCall) -> str:
    """Return the name by which a function is called."""
    words: list[str] = []
    function = call.function
    while isinstance(function, Select):
        words.insert(0, function.name)
        function = function.record
    return ".".join([function.name, *words]) if isinstance(function, Name) else ""


def description_of(program: ReadProgram, declaration: Declaration) -> str:
    """Return the description of a function of BrainScript: the library's, or the comment above
    it.
    """
    if declaration.library:
        entry = of(declaration.qualified)
        return entry.text if entry is not None else ""
    place = declaration.whole
    return comment_above(program.data(place.source), place.start)


def parameters_of(program: ReadProgram, declaration: Declaration) -> tuple[str, ...]:
    """Return the parameters of a function of BrainScript as they are declared."""
    source = declaration.place.source
    data = library_text(source) if source.startswith(PREFIX) else program.data(source)
    return tuple(parameter_text(one, data) for one in declaration.parameters or ())


def form_of(program: ReadProgram, declaration: Declaration, name: str = "") -> str:
    """Return the form of a function of BrainScript, under the name that it is called by."""
    return _label(declaration, parameters_of(program, declaration), name)


def _label(declaration: Declaration, words: tuple[str, ...], name: str = "") -> str:
    inside = ", ".join(words)
    arguments = f"{{{inside}}}" if declaration.braced else f"({inside})"
    return f"{name or declaration.qualified} {arguments}"


def name_of(parameter: str) -> str:
    """Return the name of a parameter that is declared with its default."""
    found = _NAME.match(parameter)
    return found.group() if found is not None else ""
