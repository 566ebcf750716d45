"""`netsharp migrate`: turn NDL networks into BrainScript that is proven to mean the same.

Knows files and what people want to hear; what changes and why is not known here.
"""

from __future__ import annotations

import os

from netsharp_engine.plain_files import kind_at
from netsharp_lsp.cli.arguments.experiments import add_experiment_arguments
from netsharp_lsp.cli.arguments.settings import (
    UsageError,
    add_settings_arguments,
    roots_for,
    settings_finder,
)
from netsharp_lsp.cli.console.terminal import complain, give, give_exactly, say
from netsharp_lsp.cli.inputs.files import Naming, gather
from netsharp_lsp.language import families, family_with
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.project.folders import excluder
from netsharp_lsp.project.read_once import ReadOnce
from netsharp_lsp.project.roots import not_written
from netsharp_lsp.project.writing import refusal, remove_if, remove_leftovers, write_over
from netsharp_lsp.questions import Wanted
from netsharp_lsp.settings import SettingsError
from netsharp_lsp.text.json_text import to_json
from netsharp_lsp.workspace import no_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from netsharp_lsp.family import Migration, MigrationUnit
    from netsharp_lsp.project.roots import Roots

DONE, FOUND, FAILED = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp migrate` understands."""
    add = parser.add_argument
    add("paths", nargs="*", default=["."], metavar="PATH", help="configurations, folders, or A+B")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--write", action="store_true", help="write the networks that are proven equal"
    )
    what.add_argument("--diff", action="store_true", help="write nothing; show what would change")
    add("--force", action="store_true", help="overwrite .bs files whose content differs")
    add("--format", choices=("text", "json"), default="text", help="the format of the report")
    add_experiment_arguments(parser)
    add_settings_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Migrate the files that the arguments name; 1 if networks differ or need a manual change, 2 on
    failure.
    """
    try:
        roots = roots_for(args.paths, args)
        files = ReadOnce(DiskFiles(roots=roots))
        migration, problems, sources = _planned(args, files, roots)
    except (SettingsError, UsageError) as error:
        complain(str(error))
        return FAILED
    for sentence in (*migration.notices, *problems):
        complain(sentence)
    if problems:
        return FAILED
    units = migration.units
    written: list[str] = []
    failed = False
    if args.diff:
        _show(units)
    else:
        if args.write:
            written, failed = _written(units, files, roots)
            for source in sources:
                if roots.target(source) is not None:
                    remove_leftovers(source)
        _report(migration, written, args.format)
    if failed:
        return FAILED
    return FOUND if any(unit.fails or unit.needs_person for unit in units) else DONE


def _planned(
    args: argparse.Namespace, files: ReadOnce, roots: Roots
) -> tuple[Migration, list[str], list[str]]:
    """Return the migration of the inputs that the arguments name, those that are missing, and the
    files.
    """
    find = settings_finder(args, roots)
    gathered = gather(args.paths, excluder(find), Naming(), roots)
    family = next(one for one in families() if one.migrations is not None)
    languages = {
        os.path.realpath(item.path): item.language
        for item in gathered.inputs
        if item.path is not None and item.family is family
    }
    absent = [
        no_file(item.name, None if item.path is None else kind_at(item.path))
        for item in gathered.inputs
        if item.path is None or not os.path.isfile(item.path)
    ]
    folders = [path for path in args.paths if os.path.isdir(path)]
    request = Wanted(languages, folders, gathered.layers, files, find, roots)
    request.assignments, request.force = tuple(args.set), args.force
    assert family.migrations is not None
    migration = family.migrations.plan(request)
    problems = [*gathered.missing, *absent, *migration.problems]
    return migration, problems, list(languages)


def _name(file: str) -> str:
    """Return a file as people call it: from where they are, if it lies there."""
    name = os.path.relpath(file)
    return file if name.startswith("..") else name


def _show(units: Sequence[MigrationUnit]) -> None:
    from netsharp_lsp.cli.outputs.difference import unified

    for unit in units:
        for file, before, after in unit.differences():
            give_exactly(unified(_name(file), before, after))


def _written(
    units: Sequence[MigrationUnit], files: ReadOnce, roots: Roots
) -> tuple[list[str], bool]:
    """Write every proven unit completely. Return the files written, and whether some were not."""
    written: list[str] = []
    failed = False
    for unit in units:
        if unit.fails:
            continue
        changed = unit.changed()
        reasons = [reason for file in changed if (reason := _refusal(file, roots)) is not None]
        for reason in reasons:
            complain(reason)
        if reasons or not _write_all(
            {file: changed[file] for file in unit.ordered(changed)}, files
        ):
            failed = True
            continue
        written += [_name(file) for file in changed]
    return written, failed


def _refusal(file: str, roots: Roots) -> str | None:
    """Return why a file cannot be written, or may not."""
    if roots.target(file) is None:
        return f"{_name(file)}: {not_written(file)}"
    return refusal(file)


def _write_all(texts: dict[str, bytes], files: ReadOnce) -> bool:
    """Write files in their order, and take them back where one cannot be written."""
    done: list[str] = []
    for file, text in texts.items():
        try:
            write_over(file, text, files.read(file))
        except OSError as error:
            complain(f"{file}: cannot be written: {error.strerror}. Nothing of it is kept.")
            for written in done:
                _restore(written, texts[written], files.read(written))
            return False
        done.append(file)
    return True


def _restore(file: str, written: bytes, before: bytes | None) -> None:
    """Restore the previous content, unless the file has changed since."""
    try:
        if before is None:
            remove_if(file, written)
        else:
            write_over(file, before, written)
    except OSError as error:
        complain(f"{file}: was written, and cannot be taken back: {error.strerror}.")


def _report(migration: Migration, written: Sequence[str], form: str) -> None:
    if form == "json":
        give(f"{to_json(migration.data(written), indent=2)}\n")
        return
    lines = list(migration.text(written))
    say(lines)
    if not lines:
        without = family_with(lambda one: one.migrations).without
        complain(f"nothing to migrate: {without}")
