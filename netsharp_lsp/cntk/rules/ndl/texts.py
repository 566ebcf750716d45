"""The texts of NDL of a run as rules look at them: statements with the macros around them; those
in texts of MEL, too.

Knows no rule; what a network comes to is not here.
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
    """A statement and the macro that it stands in, None outside of macros."""

    statement: Statement
    macro: Definition | None


class Fix(NamedTuple):
    """What a fix writes in the place of a span; safe where the network stays equal."""

    title: str
    new: str
    safe: bool
    start: int
    end: int


class NdlText:
    """One text, read.  `role` is that of the part of a program that it is; `alone`: it is, or
    stands in, a file that no configuration is known of.
    """

    __slots__ = ("_calls", "_statements", "alone", "role", "script")

    def __init__(self, script: NdlScript, role: str, alone: bool) -> None:
        self.script = script
        self.role = role
        self.alone = alone
        self._statements: tuple[Within, ...] | None = None
        self._calls: tuple[tuple[NdlCall, Definition | None], ...] | None = None

    def place(self, start: int, end: int) -> Place:
        """Where a span stands in its file."""
        return self.script.place(start, end)

    def statements(self) -> tuple[Within, ...]:
        """Every statement, those in macros behind their macro."""
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
        """Every assignment with the macro around it."""
        for statement, macro in self.statements():
            if isinstance(statement, NdlAssignment):
                yield statement, macro

    def calls(self) -> tuple[tuple[NdlCall, Definition | None], ...]:
        """Every call, however deep, with the macro around it."""
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
        """What a rule says of a value."""
        shown = [Note(sentence, self.place(one.start, one.end)) for sentence, one in notes]
        place = self.place(at.start, at.end)
        return Finding(code, place, message, shown, self._repair(fix), severity)

    def _repair(self, fix: Fix | None) -> Repair | None:
        """A fix where the text is written as it is read: no variable stands there."""
        if fix is None:
            return None
        found = self.script.text.place(fix.start, fix.end)
        if found.text != self.script.text.text[fix.start : fix.end]:
            return None
        place = self.place(fix.start, fix.end)
        return Repair(fix.title, [Change(place, fix.new)], safe=fix.safe)


def options(call: NdlCall) -> list[Option]:
    """The options of a call."""
    return [one for one in call.arguments if isinstance(one, Option)]


def words(value: Value) -> Iterator[Word]:
    """Every word in a value that may be a name: numbers and the names of options are none."""
    for one in values(value):
        if isinstance(one, Word) and not one.is_number and not one.is_hole:
            yield one


@once
def ndl_texts(experiment: Experiment) -> list[NdlText]:
    """Every text of NDL that the networks of a run are made of, each once."""
    texts: dict[object, NdlText] = {}
    for built in experiment.networks:
        for part in built.parts:
            text = part.script.text
            key = (part.script.place(0, len(text)), text.text)
            texts.setdefault(key, NdlText(part.script, part.role, built.found is None))
    edits = [NdlText(_statements(edit), "edit", not edit.command) for edit in experiment.edits]
    return [*texts.values(), *edits]


def edit_faults(edit: Edit) -> tuple[BuildingFault, ...]:
    """What the evaluation says of the statements of NDL in a text of MEL, as if they stood alone:
    nodes of the model are not known to it.
    """
    script = _statements(edit)
    if not script.statements:
        return ()
    from netsharp_lsp.cntk.ndl.evaluation import Part, evaluate

    return evaluate((*edit.macros, Part("run", "", script))).faults


@once
def _statements(edit: Edit) -> NdlScript:
    """The statements of NDL in a text of MEL."""
    from netsharp_lsp.cntk.ndl.containers import plugged
    from netsharp_lsp.cntk.ndl.reading import read_script

    weaver = Weaver()
    for statement in edit.text.mel.statements:
        if statement.kind == "ndl":
            end = statement.text.place(len(statement.text), len(statement.text))
            weaver.take(statement.text, 0, len(statement.text))
            weaver.stand_in(b"\n", end)
    return read_script(plugged(weaver.done()))


def macros(experiment: Experiment) -> dict[str, Definition]:
    """The macros that the texts of a run define, by their names in lower case; the first counts."""
    found: dict[str, Definition] = {}
    for text in ndl_texts(experiment):
        for definition in text.script.definitions():
            found.setdefault(definition.name.text.lower(), definition)
    return found
