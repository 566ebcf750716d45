# ruff: noqa: N999 (the file of a command has its name)
"""`netsharp import`: write the calls of scripts that train as specifications and run files.

Knows files and what people want to hear; what arguments mean is not known here.
"""

from __future__ import annotations

import os

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cli.arguments.settings import add_root_argument, roots_for
from netsharp_lsp.cli.console.terminal import complain, say
from netsharp_lsp.cli.inputs.files import named_input, read_source
from netsharp_lsp.cli.inputs.scripts import read_script
from netsharp_lsp.importing.run_files import run_file_text
from netsharp_lsp.language import main_family
from netsharp_lsp.outcome import ReadError
from netsharp_lsp.project.roots import Roots, root_of
from netsharp_lsp.project.writing import refusal, write_together
from netsharp_lsp.settings import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from netsharp_lsp.cli.inputs.scripts import ReadScript
    from netsharp_lsp.importing.translation import ImportedCall

DONE, FOUND, FAILED = 0, 1, 2
SUFFIXES = (".r", ".rmd", ".py", ".ipynb", ".sql")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp import` understands."""
    add = parser.add_argument
    add("file", metavar="FILE", help="a script: .R, .Rmd, .py, .ipynb or .sql")
    add("--output", metavar="DIR", help="the folder to write to (default: beside the script)")
    add_root_argument(parser)
    add("--force", action="store_true", help="overwrite files whose content differs")


def run(args: argparse.Namespace) -> int:
    """Import a script; 1 if something is not carried over, 2 if nothing could be written."""
    item = named_input(args.file)
    suffix = os.path.splitext(args.file)[1].lower()
    if suffix not in SUFFIXES:
        complain(f"{args.file}: is not a script of {', '.join(SUFFIXES)}.")
        return FAILED
    source = read_source(item)
    if source is None or isinstance(source, ReadError):
        complain(source.message if source is not None else f"{args.file}: is binary.")
        return FAILED
    try:
        roots = roots_for([args.file], args)
    except SettingsError as error:
        complain(str(error))
        return FAILED
    script = read_script(item, source.text, roots)
    if isinstance(script, str):
        complain(script)
        return FAILED
    for line in script.broken:
        complain(f"{args.file}:{line}: is not valid Python; fix it first.")
    if not script.calls:
        complain(f"{args.file}: holds no call that trains a network.")
        return FAILED
    return _written(args, script)


def _written(args: argparse.Namespace, script: ReadScript) -> int:
    folder = os.path.dirname(os.path.abspath(args.file))
    output = args.output or folder
    named = os.path.basename(args.file)
    suffix = next(iter(main_family().suffixes))

    def placed(path: str) -> str:
        return path if os.path.isabs(path) else _path_from(output, os.path.join(folder, path))

    files: dict[str, bytes] = {}
    reports = []
    for name, call in zip(script.names, script.calls, strict=True):
        place = f"{args.file}:{call.line}"
        if call.net is None:
            reports.append(f"{place}: {name} is not written: its definition is not known.")
        else:
            base = os.path.join(output, name)
            files[f"{base}{suffix}"] = call.net.encode()
            files[f"{base}.toml"] = run_file_text(call, named, placed).encode()
            reports.append(f"{place}: {name}{suffix} and {name}.toml.")
            reports += _outside(args.file, output, call)
        reports += [f"{args.file}:{one.line}: {one.argument}: {one.why}." for one in call.left]
    if args.output and not os.path.isdir(output):
        complain(f"{output}: the folder does not exist. Create it first.")
        return FAILED
    for path, data in files.items():
        why = refusal(path) or (None if args.force else _different(path, data))
        if why is not None:
            complain(why)
            return FAILED
    try:
        write_together(files)
    except OSError as error:
        complain(f"{error.filename or output}: cannot be written: {error.strerror}.")
        return FAILED
    say(reports)
    lost = script.broken or any(call.left or call.net is None for call in script.calls)
    return FOUND if lost else DONE


def _path_from(folder: str, path: str) -> str:
    """Return a path as a run file in a folder names it."""
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:
        # On Windows there is no way from one drive to another.
        return os.path.abspath(path)


def _outside(script: str, output: str, call: ImportedCall) -> list[str]:
    """Return the folders that a run must be allowed to read, for the table of a call elsewhere."""
    sentences = []
    for one in call.settings:
        if one.key == "train":
            path = os.path.join(os.path.dirname(script), str(one.value))
            if not Roots((root_of(output),)).holds(path):
                shown = os.path.dirname(os.path.normpath(path)) or os.curdir
                sentences.append(
                    f"{script}:{one.line}: {one.argument}: {os.path.normpath(path)} lies outside "
                    f"{output}, so run it with --root {shown}."
                )
    return sentences


def _different(path: str, data: bytes) -> str | None:
    if not os.path.exists(path):
        return None
    with open_plain(path) as stream:
        same = stream.read() == data
    return None if same else f"{path}: is there and different. --force replaces it."
