"""Implementations of a name: the streams of an input and the input of a stream, the line with the
value of a macro or function.

`occurrences` determines which name an offset is in, and what it means.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.reading.syntax import RecordLiteral, Select
from netsharp_lsp.cntk.checking.analysis import NOT_FILES
from netsharp_lsp.cntk.ide.naming.ndl_names import scripts_of
from netsharp_lsp.cntk.ide.naming.occurrences import in_reader
from netsharp_lsp.cntk.library import PREFIX, library_file
from netsharp_lsp.cntk.ndl.syntax import NdlAssignment, NdlCall
from netsharp_lsp.ide.answers import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.brainscript.analysis.program import Program
    from netsharp_lsp.cntk.brainscript.analysis.scopes import Declaration
    from netsharp_lsp.cntk.ide.naming.occurrence import Occurrence
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.ndl.syntax import Definition
    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.run.experiment import Experiment

    #: The whole span of an implementation, and that of its name.
    Result = tuple[Place, Place]


def implementations_at(edited: Edited, offset: int) -> tuple[Target, ...]:
    """Return the implementations of the name at an offset, each once; empty where there are
    none.
    """
    found = edited.occurrence_at(offset)
    if found is None or found.key[0] not in ("brainscript", "ndl"):
        return ()
    results = _in_ndl(edited, found) if found.key[0] == "ndl" else _in_brainscript(edited, found)
    return tuple(dict.fromkeys((*_fed(edited, found), *results)))


def _fed(edited: Edited, found: Occurrence) -> Iterator[Target]:
    """Yield the input that a stream is named after; for any other name of an input, its streams."""
    same = edited.same(found)
    streams = _streams(edited)
    from_stream = (found.file, found.start) in streams
    for one in same:
        if one.declares if from_stream else (one.file, one.start) in streams:
            file = None if one.file == edited.name else one.file
            yield Target(one.start, one.end, one.start, one.end, file)


def _streams(edited: Edited) -> set[tuple[str, int]]:
    """Return the places of the keys in the blocks of readers, with their files."""
    return {
        (experiment.files.locate(place.key.source.name), place.key.start)
        for experiment in edited.experiments
        if experiment.run.items
        for value in experiment.configuration.values()
        if in_reader(value.path)
        for place in value.entry.assignments
    }


def _in_ndl(edited: Edited, found: Occurrence) -> Iterator[Target]:
    """Yield the line with the value of a macro: for the macro's name, else for its last call."""
    for experiment in edited.experiments:
        for script in scripts_of(experiment):
            for macro in script.definitions():
                name = script.place(macro.name.start, macro.name.end)
                if found.key[1:] != (experiment.files.locate(name.source), name.start):
                    continue
                line = _value_of(macro)
                if line is not None:
                    named = line.name or line.value
                    whole = script.place(line.start, line.end)
                    yield from _target(
                        edited, experiment, (whole, script.place(named.start, named.end))
                    )


def _value_of(macro: Definition) -> NdlAssignment | None:
    statements = macro.body.statements if macro.body is not None else ()
    lines = [one for one in statements if isinstance(one, NdlAssignment)]
    name = macro.name.text.lower()
    own = [one for one in lines if one.name is not None and one.name.text.lower() == name]
    calls = [one for one in lines if isinstance(one.value, NdlCall)]
    if own:
        return own[0]
    return next(reversed(calls or lines), None)


def _in_brainscript(edited: Edited, found: Occurrence) -> Iterator[Target]:
    """Yield the body of a function, or the member of its record that is its value."""
    for experiment, program in edited.programs():
        known = [*program.program.declarations, *program.program.library.declarations]
        for one in known:
            if one.name != found.name or one.kind not in ("member", "function"):
                continue
            place = program.outside(one.place)
            own = place.source.startswith(PREFIX)
            file = place.source if own else experiment.files.locate(place.source)
            result = _result(program.program, one) if found.key[1:] == (file, place.start) else None
            if result is not None:
                whole, name = result
                outside = program.outside(whole), program.outside(name)
                yield from _target(edited, experiment, outside)


def _result(program: Program, declaration: Declaration) -> Result | None:
    """Return the result of a call of a declaration; None where that is not a function."""
    denoted = program.resolver.of(declaration)
    if denoted is None or denoted.parameters is None:
        return None
    body = denoted.expression
    if isinstance(body, Select) and isinstance(body.record, RecordLiteral):
        record = program.resolver.record(body.record, denoted.scope)
        member = record.declared.get(body.name) if record is not None else None
        if member is not None:
            return member.whole, member.place
    return body.place, body.place


def _target(edited: Edited, experiment: Experiment, result: Result) -> Iterator[Target]:
    """Yield a result as a target in this text, in another file, or in our library."""
    whole, name = result
    file: str | None
    if name.source.startswith(PREFIX):
        file = library_file(name.source)
    elif name.source.startswith(NOT_FILES):
        return
    else:
        file = edited.file_of(experiment, name.source)
    yield Target(whole.start, whole.end, name.start, name.end, file)
