"""What `netsharp migrate` asks: which runs are meant and what becomes of their texts.

Reads through the files that it is given, and writes nothing.
"""

from __future__ import annotations

import os

from netsharp_lsp.cntk.commands.plan import Named, planned
from netsharp_lsp.cntk.migration.migrate import MigrationSettings, units
from netsharp_lsp.cntk.migration.report import Report
from netsharp_lsp.cntk.run.experiment import Experiment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from netsharp_lsp.cntk.migration.unit import Unit
    from netsharp_lsp.questions import Wanted


class Migration:
    """What becomes of the units of some runs, or `problems`: why that cannot be said.

    `notices`: what is not looked at, because it lies outside or passes a limit.
    """

    def __init__(
        self, problems: Sequence[str], found: Sequence[Unit], notices: Sequence[str] = ()
    ) -> None:
        self.problems = problems
        self.notices = notices
        self._found = found
        self._units: list[MigrationUnit] | None = None

    @property
    def units(self) -> list[MigrationUnit]:
        """The units, worked out at the first question."""
        if self._units is None:
            for unit in self._found:
                unit.migrated()
            self._units = [MigrationUnit(unit) for unit in self._found]
        return self._units

    def data(self, written: Sequence[str]) -> dict[str, Any]:
        """The report as a JSON value."""
        return Report(self._found, shown_name).data(written)

    def text(self, written: Sequence[str]) -> Iterator[str]:
        """The report in lines."""
        return Report(self._found, shown_name).text(written)


class MigrationUnit:
    """A unit that is worked out."""

    __slots__ = ("_unit",)

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    @property
    def fails(self) -> bool:
        """Whether something differs, or cannot be done without a person."""
        return self._unit.plan.fails

    @property
    def needs_person(self) -> bool:
        """Whether something is left to a person."""
        return bool(self._unit.plan.todo)

    def differences(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Each file with its text before and after."""
        for file, text in self._unit.plan.texts.items():
            yield file, self._unit.originals.data(file), text

    def changed(self) -> dict[str, bytes]:
        """The bytes of files that change."""
        return self._unit.changed()

    def ordered(self, files: Iterable[str]) -> list[str]:
        """New files of BrainScript first, so that no configuration names what is not there."""
        return sorted(files, key=lambda file: not file.endswith(".bs"))


def planned_migration(asked: Wanted) -> Migration:
    """Find the runs that use a wanted file and work out what becomes of their texts."""
    named = Named(asked.languages, asked.folders, asked.layers)
    plan = planned(named, asked.find, asked.files, asked.roots)
    runs = [
        Experiment(one.run.assigning(asked.assignments), asked.files, given=one.given)
        for one in plan.runs
    ]
    unknown = [
        f"{shown_name(layers.sources[0].name)}: {fault.message} Without it nothing can be proven."
        for layers in (run.configuration.layers for run in runs)
        for fault in layers.faults
        if fault.kind == "outside" and layers.sources
    ]
    problems = [*plan.problems, *unknown]
    if problems:
        return Migration(problems, (), plan.notices)
    found = units(runs, asked.files, MigrationSettings(force=asked.force))
    return Migration((), found, plan.notices)


def shown_name(file: str) -> str:
    """A file as people call it: from where they are, if it lies there."""
    name = os.path.relpath(file)
    return file if name.startswith("..") else name
