"""The texts of NDL of a run, including those in texts of MEL, as rules see them: statements with
the macros around them.

Knows no rule and does not evaluate networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.traced import Weaver
from netsharp_lsp.cntk.ndl.syntax import Definition, NdlAssignment, NdlCall, Option, Word, values
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Place, Repair
from netsharp_lsp.once import once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ndl.syntax import NdlScript, Statement, Value
    from netsharp_lsp.cntk.networks.faults import BuildingFault
    from netsharp_lsp.cntk.run.edits import Edit
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity


class Within(NamedTuple):
    """A statement and the macro that it is in, None outside of macros."""

    statement: Statement
    macro: Definition | None


class Fix(NamedTuple):
    """A replacement of a span as a fix; safe if the network stays equal."""

    title: str
    new: str
    safe: bool
    start: int
    end: int


class NdlText:
    """One parsed text.  `role` is the role of the part of a program that it is; `alone`: it is, or
    is in, a file that no known configuration uses.
    """

    __slots__ = ("_calls", "_statements", "alone", "role", "script")

    def __init__(self, script: NdlScript, role: str, alone: bool) -> None:
        self.script = script
        self.role = role
        self.alone = alone
        self._statements: tuple[Within, ...] | None = None
        self._calls: tuple[tuple[NdlCall, Definition | None], ...] | None = None

    def place(self, start: int, end: int) -> Place:
        """Return the place of a span in its file."""
        return self.script.place(start, end)

    def statements(self) -> tuple[Within, ...]:
        """Return all statements, those in macros after their macro."""
        if self._statements is None:
            self._statements = tuple(self._found())
        return self._statements

    def _found(self) -> Iterator[Within]:
        waiting = [Within(one, None) for one in reversed(self.script.statements)]
        while waiting:
            within = waiting.pop()
            yield within
            if isinstance(within.statement, Definition) and within.statement.body is not None:
                body = within.statement.body.statements
                waiting += [Within(one, within.statement) for one in reversed(body)]

    def assignments(self) -> Iterator[tuple[NdlAssignment, Definition | None]]:
        """Yield all assignments with the macro around them."""
        for statement, macro in self.statements():
            if isinstance(statement, NdlAssignment):
                yield statement, macro

    def calls(self) -> tuple[tuple[NdlCall, Definition | None], ...]:
        """Return all calls at any depth with the macro around them."""
        if self._calls is None:
            self._calls = tuple(self._found_calls())
        return self._calls

    def _found_calls(self) -> Iterator[tuple[NdlCall, Definition | None]]:
        for statement, macro in self.assignments():
            for value in values(statement.value):
                if isinstance(value, NdlCall):
                    yield value, macro

    def finding(
        self,
        code: str,
        at: Value,
        message: str,
        fix: Fix | None = None,
        notes: tuple[tuple[str, Value], ...] = (),
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding about a value."""
        shown = [Note(sentence, self.place(one.start, one.end)) for sentence, one in notes]
        place = self.place(at.start, at.end)
        return Finding(code, place, message, shown, self._repair(fix), severity)

    def _repair(self, fix: Fix | None) -> Repair | None:
        """Return a fix if the text is written as it is read, that is, without a variable."""
        if fix is None:
            return None
        found = self.script.text.place(fix.start, fix.end)
        if found.text != self.script.text.text[fix.start : fix.end]:
            return None
        place = self.place(fix.start, fix.end)
        return Repair(fix.title, [Change(place, fix.new)], safe=fix.safe)


def options(call: NdlCall) -> list[Option]:
    """Return the options of a call."""
    return [one for one in call.arguments if isinstance(one, Option)]


def words(value: Value) -> Iterator[Word]:
    """Yield the words in a value that may be names: no numbers and no names of options."""
    for one in values(value):
        if isinstance(one, Word) and not one.is_number and not one.is_hole:
            yield one


@once
def ndl_texts(experiment: Experiment) -> list[NdlText]:
    """Return the texts of NDL that the networks of a run consist of, each once."""
    texts: dict[object, NdlText] = {}
    for built in experiment.networks:
        for part in built.parts:
            text = part.script.text
            key = (part.script.place(0, len(text)), text.text)
            texts.setdefault(key, NdlText(part.script, part.role, built.found is None))
    edits = [NdlText(_statements(edit), "edit", not edit.command) for edit in experiment.edits]
    return [*texts.values(), *edits]


def edit_faults(edit: Edit) -> tuple[BuildingFault, ...]:
    """Return the faults of the statements of NDL in a text of MEL, evaluated without the nodes of
    the model.
    """
    script = _statements(edit)
    if not script.statements:
        return ()
    from netsharp_lsp.cntk.ndl.evaluation import Part, evaluate

    return evaluate((*edit.macros, Part("run", "", script))).faults


@once
def _statements(edit: Edit) -> NdlScript:
    """Return the statements of NDL in a text of MEL."""
    from netsharp_lsp.cntk.ndl.containers import plugged
    from netsharp_lsp.cntk.ndl.reading import read_script

    weaver = Weaver()
    for statement in edit.text.mel.statements:
        if statement.kind == "ndl":
            end = statement.text.place(len(statement.text), len(statement.text))
            weaver.take(statement.text, 0, len(statement.text))
            weaver.add_placeholder(b"\n", end)
    return read_script(plugged(weaver.done()))


def macros(experiment: Experiment) -> dict[str, Definition]:
    """Return the macros that the texts of a run define, by their names in lower case; the first of
    a name wins.
    """
    found: dict[str, Definition] = {}
    for text in ndl_texts(experiment):
        for definition in text.script.definitions():
            found.setdefault(definition.name.text.lower(), definition)
    return found
