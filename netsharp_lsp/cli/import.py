# ruff: noqa: N999 (the file of a command has its name)
"""`netsharp import`: write the calls of scripts that train as specifications and run files.

Knows files and what people want to hear; what arguments mean is not known here.
"""

from __future__ import annotations

import os
import re

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cli.console.terminal import complain, say
from netsharp_lsp.cli.inputs.files import named_input, read_source
from netsharp_lsp.embedded.hosts import HOSTS
from netsharp_lsp.importing.scripts import calls_in
from netsharp_lsp.importing.translation import imported
from netsharp_lsp.language import main_family
from netsharp_lsp.outcome import ReadError
from netsharp_lsp.project.writing import refusal, write_together

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from netsharp_lsp.importing.translation import ImportedCall

DONE, FOUND, FAILED = 0, 1, 2
SUFFIXES = (".r", ".rmd", ".py", ".ipynb", ".sql")
_UNSAFE = re.compile(r"[^\w.-]+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp import` understands."""
    add = parser.add_argument
    add("file", metavar="FILE", help="a script: .R, .Rmd, .py, .ipynb or .sql")
    add("--output", metavar="DIR", help="where the files go (default: beside the script)")
    add("--force", action="store_true", help="replace files that are there and different")


def run(args: argparse.Namespace) -> int:
    """Import a script; 1 if something is not carried over, 2 if nothing could be written."""
    item = named_input(args.file)
    suffix = os.path.splitext(args.file)[1].lower()
    if suffix not in SUFFIXES:
        complain(f"{args.file}: is no script of {', '.join(SUFFIXES)}.")
        return FAILED
    source = read_source(item)
    if source is None or isinstance(source, ReadError):
        complain(source.message if source is not None else f"{args.file}: is binary.")
        return FAILED
    try:
        calls, broken = calls_in(HOSTS[suffix], source.text)
    except RecursionError:
        complain(f"{args.file}: holds brackets within each other, too deep to be read.")
        return FAILED
    for line in broken:
        complain(f"{args.file}:{line}: is no Python that can be read; mend it first.")
    if not calls:
        complain(f"{args.file}: holds no call that trains a network.")
        return FAILED
    folder = os.path.dirname(os.path.abspath(args.file))
    reads = _reader(folder)
    done = [imported(call, os.path.basename(args.file), reads) for call in calls]
    return _written(args, done, folder, found=bool(broken))


def _reader(folder: str) -> Callable[[str], str | None]:
    def read(path: str) -> str | None:
        source = read_source(named_input(os.path.join(folder, path)))
        known = source is not None and not isinstance(source, ReadError)
        return source.text.decode() if known else None  # type: ignore[union-attr]

    return read


def _written(
    args: argparse.Namespace, done: Sequence[ImportedCall], folder: str, *, found: bool
) -> int:
    output = args.output or folder
    stem = os.path.splitext(os.path.basename(args.file))[0]
    suffix = next(iter(main_family().suffixes))
    files: dict[str, bytes] = {}
    reports = []
    for name, call in zip(_names(done, stem), done, strict=True):
        place = f"{args.file}:{call.line}"
        if call.net is None:
            reports.append(f"{place}: {name} is not written: its definition is not known.")
        else:
            base = os.path.join(output, name)
            files[f"{base}{suffix}"] = call.net.encode()
            files[f"{base}.toml"] = call.run_file.encode()
            reports.append(f"{place}: {name}{suffix} and {name}.toml.")
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
    return FOUND if found or any(call.left or call.net is None for call in done) else DONE


def _different(path: str, data: bytes) -> str | None:
    if not os.path.exists(path):
        return None
    with open_plain(path) as stream:
        same = stream.read() == data
    return None if same else f"{path}: is there and different. --force replaces it."


def _names(done: Sequence[ImportedCall], stem: str) -> list[str]:
    """A name for each call: its variable, else the script's; numbered where it is taken."""
    names: list[str] = []
    for call in done:
        wanted = _UNSAFE.sub("_", call.target or stem).strip(".") or "network"
        name, number = wanted, 2
        while name.lower() in {one.lower() for one in names}:
            name, number = f"{wanted}_{number}", number + 1
        names.append(name)
    return names
