"""The migration of `netsharp migrate`: the runs that it applies to and their new texts.

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
    """The migration of the units of some runs, or `problems`: why it cannot be determined.

    `notices`: what is skipped, because it is outside the roots or exceeds a limit.
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
        """Return the units, migrated on first use."""
        if self._units is None:
            for unit in self._found:
                unit.migrated()
            self._units = [MigrationUnit(unit) for unit in self._found]
        return self._units

    def data(self, written: Sequence[str]) -> dict[str, Any]:
        """Return the report as a JSON value."""
        return Report(self._found, shown_name).data(written)

    def text(self, written: Sequence[str]) -> Iterator[str]:
        """Yield the report in lines."""
        return Report(self._found, shown_name).text(written)


class MigrationUnit:
    """A unit that is migrated."""

    __slots__ = ("_unit",)

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    @property
    def fails(self) -> bool:
        """Return whether a network differs, or something has to be done by hand first."""
        return self._unit.plan.fails

    @property
    def needs_person(self) -> bool:
        """Return whether something is left to the user."""
        return bool(self._unit.plan.todo)

    def differences(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Yield each file with its text before and after."""
        for file, text in self._unit.plan.texts.items():
            yield file, self._unit.originals.data(file), text

    def changed(self) -> dict[str, bytes]:
        """Return the bytes of files that change."""
        return self._unit.changed()

    def ordered(self, files: Iterable[str]) -> list[str]:
        """Return new files of BrainScript first, so that no configuration names a missing file."""
        return sorted(files, key=lambda file: not file.endswith(".bs"))


def planned_migration(request: Wanted) -> Migration:
    """Find the runs that use a wanted file and determine the new texts."""
    named = Named(request.languages, request.folders, request.layers)
    plan = planned(named, request.find, request.files, request.roots)
    runs = [
        Experiment(one.run.assigning(request.assignments), request.files, given=one.given)
        for one in plan.runs
    ]
    unknown = [
        f"{shown_name(layers.sources[0].name)}: {fault.message} The proof needs it."
        for layers in (run.configuration.layers for run in runs)
        for fault in layers.faults
        if fault.kind == "outside" and layers.sources
    ]
    problems = [*plan.problems, *unknown]
    if problems:
        return Migration(problems, (), plan.notices)
    found = units(runs, request.files, MigrationSettings(force=request.force))
    return Migration((), found, plan.notices)


def shown_name(file: str) -> str:
    """Return a file's name for users: relative, where it is below the current folder."""
    name = os.path.relpath(file)
    return file if name.startswith("..") else name
