"""Which runs of CNTK the arguments of a command mean, and what is wrong with how they are told."""

from __future__ import annotations

import os

from netsharp_lsp.project.cntk_workspace import (
    declared_runs,
    layered_run,
    relevant,
    scripted_runs,
    supposed_run,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from netsharp_lsp.project.cntk_workspace import PlacedRun
    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.workspace import Files


class Wanted:
    """What a command line names: languages of files by their real paths, folders, and layers."""

    __slots__ = ("folders", "languages", "layers")

    def __init__(
        self, languages: Mapping[str, str], folders: Sequence[str], layers: Sequence[str]
    ) -> None:
        self.languages = languages
        self.folders = folders
        self.layers = layers


class Plan:
    """The runs to look at, and sentences on those that cannot be."""

    __slots__ = ("problems", "runs")

    def __init__(self, runs: list[PlacedRun], problems: list[str]) -> None:
        self.runs = runs
        self.problems = problems


def planned(wanted: Wanted, find: Find, files: Files, excludes: Callable[[str], bool]) -> Plan:
    """Find the runs that use a wanted file; a configuration in none is a run of its own."""
    settings = {id(one): one for one in (find(os.path.dirname(p)) for p in wanted.languages)}
    problems: list[str] = []
    told: list[PlacedRun] = []
    for one in settings.values():
        for run in declared_runs(one, files):
            if run.missing:
                problems.append(_missing(run, one))
            else:
                told.append(run)
    for folder in wanted.folders:
        told += scripted_runs(folder, excludes, _defines(folder, find), files)
    runs = relevant(told, frozenset(wanted.languages), files)
    for layers in wanted.layers:
        run = layered_run(layers, _defines("", find), files)
        if not run.missing:  # Whoever reads the inputs says which are not there.
            runs.append(run)
    taken = {path for run in runs for path in run.configurations}
    for path, language in wanted.languages.items():
        if language == "cntk" and path not in taken:
            runs.append(supposed_run(path, find(os.path.dirname(path)).defines, files))
    return Plan(runs, list(dict.fromkeys(problems)))


def _defines(folder: str, find: Find) -> frozenset[str]:
    return find(os.path.abspath(folder)).defines


def _missing(run: PlacedRun, settings: Settings) -> str:
    return (
        f"{settings.file}: cntk.run names {', '.join(run.missing)}, which is not in "
        f"{run.run.directory}. Name files as they are called from its 'directory'."
    )
