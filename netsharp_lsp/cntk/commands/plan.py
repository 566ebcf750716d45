"""The runs of CNTK that the arguments of a command name, and the faults of these arguments."""

from __future__ import annotations

import os

from netsharp_lsp.cntk.commands.runs import (
    declared_runs,
    layered_run,
    scripted_runs,
    supposed_run,
)
from netsharp_lsp.cntk.commands.settings import declared_in
from netsharp_lsp.project.folders import excluder
from netsharp_lsp.questions import relevant
from netsharp_lsp.workspace import leads_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import PlacedRun
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.workspace import Files, Premises


class Named:
    """The inputs of a command line: languages of files by canonical path, folders, and layers."""

    __slots__ = ("folders", "languages", "layers")

    def __init__(
        self, languages: Mapping[str, str], folders: Sequence[str], layers: Sequence[str]
    ) -> None:
        self.languages = languages
        self.folders = folders
        self.layers = layers


class Plan:
    """The runs to check, and sentences on those that cannot be: `problems`, and `notices` on those
    that lead outside and on scripts that are not followed to their end.
    """

    __slots__ = ("notices", "problems", "runs")

    def __init__(self, runs: list[PlacedRun], problems: list[str], notices: list[str]) -> None:
        self.runs = runs
        self.problems = problems
        self.notices = notices


def planned(wanted: Named, find: Find, files: Files, roots: Roots) -> Plan:
    """Find the runs that use a wanted file; a configuration in none is a run of its own."""
    settings = {id(one): one for one in (find(os.path.dirname(p)) for p in wanted.languages)}
    problems: list[str] = []
    notices: dict[str, str] = {}

    candidates: list[PlacedRun] = []
    for one in settings.values():
        for run in declared_runs(one, files):
            above = not roots.holds(one.directory)
            if run.outside and above and wanted.languages.keys().isdisjoint(run.configurations):
                continue  # Settings above the roots have runs of other folders, too.
            if run.outside:
                notices.setdefault(str(one.file), f"{one.file}: {leads_out(run.outside[0])}")
            elif run.missing:
                problems.append(_missing(run, one))
            else:
                candidates.append(run)
    for folder in wanted.folders:
        candidates += scripted_runs(
            folder,
            excluder(find),
            given_for(folder, find),
            files,
            roots,
            notices.setdefault,
        )
    runs = relevant(candidates, frozenset(wanted.languages), files)
    for layers in wanted.layers:
        run = layered_run(layers, given_for("", find), files)
        if not run.missing and not run.outside:  # The reader of the inputs reports missing ones.
            runs.append(run)
    taken = {path for run in runs for path in run.configurations}
    for path, language in wanted.languages.items():
        if language == "cntk" and path not in taken:
            runs.append(supposed_run(path, given_for(os.path.dirname(path), find), files))
    return Plan(runs, list(dict.fromkeys(problems)), list(notices.values()))


def given_for(folder: str, find: Find) -> Premises:
    """Return the settings of a folder for all runs."""
    return declared_in(find(os.path.abspath(folder))).given


def _missing(run: PlacedRun, settings: Settings) -> str:
    return (
        f"{settings.file}: cntk.run names {', '.join(run.missing)}, which is not in "
        f"{run.run.directory}. Name files relative to its 'directory'."
    )
