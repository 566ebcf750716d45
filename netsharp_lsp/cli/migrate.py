"""`netsharp migrate`: turn NDL networks into BrainScript that is proven to mean the same.

Knows files and what people want to hear; what changes and why is not known here.
"""

from __future__ import annotations

import os

from netsharp_lsp.cli.cntk_plan import Wanted, planned
from netsharp_lsp.cli.experiment_arguments import add_experiment_arguments
from netsharp_lsp.cli.files import Naming, gather
from netsharp_lsp.cli.project import (
    UsageError,
    add_settings_arguments,
    roots_for,
    settings_finder,
)
from netsharp_lsp.cli.terminal import complain, give, give_exactly, say
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.project.folders import excluder
from netsharp_lsp.project.read_once import ReadOnce
from netsharp_lsp.project.roots import not_written
from netsharp_lsp.project.writing import refusal, remove_if, write_over
from netsharp_lsp.settings import SettingsError
from netsharp_lsp.text.json_text import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from netsharp_lsp.cntk.migration.unit import Unit
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.project.roots import Roots

DONE, FOUND, FAILED = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp migrate` understands."""
    add = parser.add_argument
    add("paths", nargs="*", default=["."], metavar="PATH", help="configurations, folders, or A+B")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="write what is proven to be equal")
    what.add_argument("--diff", action="store_true", help="write nothing; show what would change")
    add("--force", action="store_true", help="replace .bs files that are there and different")
    add("--format", choices=("text", "json"), default="text", help="how to report")
    add_experiment_arguments(parser)
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Migrate what the arguments name; 1 if something differs or needs a person, 2 if it cannot."""
    try:
        roots = roots_for(args.paths, args)
        files = ReadOnce(DiskFiles(roots=roots))
        experiments, problems = _experiments(args, files, roots)
    except (SettingsError, UsageError) as error:
        complain(str(error))
        return FAILED
    for sentence in problems:
        complain(sentence)
    if problems:
        return FAILED
    units = _units(experiments, files, args)
    written: list[str] = []
    failed = False
    if args.diff:
        _show(units)
    else:
        if args.write:
            written, failed = _written(units, files, roots)
        _report(units, written, args.format)
    if failed:
        return FAILED
    return FOUND if any(unit.plan.fails or unit.plan.todo for unit in units) else DONE


def _experiments(
    args: argparse.Namespace, files: ReadOnce, roots: Roots
) -> tuple[list[Experiment], list[str]]:
    """The runs that the arguments mean, and what is not there."""
    from netsharp_lsp.cntk.run.experiment import Experiment

    find = settings_finder(args, roots)
    gathered = gather(args.paths, excluder(find), Naming(), roots)
    languages = {
        os.path.realpath(item.path): item.language
        for item in gathered.inputs
        if item.path is not None and item.is_cntk
    }
    folders = [path for path in args.paths if os.path.isdir(path)]
    plan = planned(Wanted(languages, folders, gathered.layers), find, files, roots)
    runs = [
        Experiment(one.run.assigning(tuple(args.set)), files, defines=one.defines)
        for one in plan.runs
    ]
    absent = [
        f"{item.name}: there is no such file."
        for item in gathered.inputs
        if item.path is None or not os.path.isfile(item.path)
    ]
    unknown = [
        f"{_name(layers.sources[0].name)}: {fault.message} Without it nothing can be proven."
        for layers in (run.configuration.layers for run in runs)
        for fault in layers.faults
        if fault.kind == "outside" and layers.sources
    ]
    return runs, [*gathered.missing, *absent, *plan.problems, *plan.notices, *unknown]


def _units(
    experiments: Sequence[Experiment], files: ReadOnce, args: argparse.Namespace
) -> list[Unit]:
    from netsharp_lsp.cntk.migration.migrate import Settings, units

    found = units(experiments, files, Settings(force=args.force))
    for unit in found:
        unit.migrated()
    return found


def _name(file: str) -> str:
    """A file as people call it: from where they are, if it lies there."""
    name = os.path.relpath(file)
    return file if name.startswith("..") else name


def _show(units: Sequence[Unit]) -> None:
    from netsharp_lsp.cli.difference import unified

    for unit in units:
        for file, text in unit.plan.texts.items():
            give_exactly(unified(_name(file), unit.originals.data(file), text))


def _written(units: Sequence[Unit], files: ReadOnce, roots: Roots) -> tuple[list[str], bool]:
    """Write every unit that is proven, each wholly; what was written, and whether some was not."""
    written: list[str] = []
    failed = False
    for unit in units:
        if unit.plan.fails:
            continue
        changed = unit.changed()
        reasons = [reason for file in changed if (reason := _refusal(file, roots)) is not None]
        for reason in reasons:
            complain(reason)
        if reasons or not _write_all(changed, files):
            failed = True
            continue
        written += [_name(file) for file in changed]
    return written, failed


def _refusal(file: str, roots: Roots) -> str | None:
    """Why a file cannot be written, or may not."""
    if roots.target(file) is None:
        return f"{_name(file)}: {not_written(file)}"
    return refusal(file)


def _write_all(texts: dict[str, bytes], files: ReadOnce) -> bool:
    """Write files, new ones of BrainScript first, so that no configuration names what is not."""
    done: list[str] = []
    for file in sorted(texts, key=lambda one: not one.endswith(".bs")):
        try:
            write_over(file, texts[file], files.read(file))
        except OSError as error:
            complain(f"{file}: cannot be written: {error.strerror}. Nothing of it is kept.")
            for written in done:
                _restore(written, texts[written], files.read(written))
            return False
        done.append(file)
    return True


def _restore(file: str, written: bytes, before: bytes | None) -> None:
    """Take back what was written, unless somebody has changed it since."""
    try:
        if before is None:
            remove_if(file, written)
        else:
            write_over(file, before, written)
    except OSError as error:
        complain(f"{file}: was written, and cannot be taken back: {error.strerror}.")


def _report(units: Sequence[Unit], written: Sequence[str], form: str) -> None:
    from netsharp_lsp.cntk.migration.report import Report

    report = Report(units, _name)
    if form == "json":
        give(f"{to_json(report.data(written), indent=2)}\n")
        return
    lines = list(report.text(written))
    say(lines)
    if not lines:
        complain("nothing to migrate: no configuration that is named builds a network of NDL.")
