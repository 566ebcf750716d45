"""Files of the command line: arguments to files, reading with decoding, atomic writing.

Every command that takes FILES, DIRS or - goes through here; knows no diagnostics.
"""

from __future__ import annotations

import os
import sys

from netsharp_lsp.language import SUFFIXES
from netsharp_lsp.text.decode import DecodeError, Source, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

STDIN = "-"
#: A NUL byte among so many first ones makes a file found by a walk binary.
_PROBE = 8192


class Input:
    """A file to read: the `name` people see, its absolute `path` (None for stdin).

    `walked` tells that a directory's walk found it: nobody named it, so it may be left out.
    """

    __slots__ = ("name", "path", "walked")

    def __init__(self, name: str, path: str | None, walked: bool = False) -> None:
        self.name = name
        self.path = path
        self.walked = walked

    @property
    def directory(self) -> str:
        """The absolute folder whose settings hold for the file."""
        place = self.path if self.path is not None else os.path.abspath(self.name)
        return os.path.dirname(place)


class ReadError:
    """A file that cannot be read, as a sentence that names it."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


def gather(
    arguments: Sequence[str],
    excludes: Callable[[str], bool],
    stdin_name: str | None = None,
) -> tuple[list[Input], list[str]]:
    """Turn FILES, DIRS and - into inputs, each file once; and sentences on what is missing.

    `excludes` says of an absolute path whether a walk leaves it out. Folders give the files
    with a known suffix that are neither hidden nor ignored by git.
    """
    inputs: list[Input] = []
    problems: list[str] = []
    for argument in arguments:
        if argument == STDIN:
            inputs.append(Input(stdin_name or "<stdin>", None))
        elif os.path.isdir(argument):
            found = _below(argument, excludes)
            if not found:
                suffixes = " or ".join(SUFFIXES)
                problems.append(f"{argument}: no {suffixes} file below this folder.")
            inputs += found
        else:
            inputs.append(Input(argument, os.path.abspath(argument)))
    seen: set[str] = set()
    unique = []
    for item in inputs:
        key = item.path if item.path is not None else STDIN
        if key not in seen:
            seen.add(key)
            unique.append(item)
    return unique, problems


def read_bytes(item: Input) -> bytes | ReadError:
    """Return the bytes of an input, from disk or stdin."""
    if item.path is None:
        return sys.stdin.buffer.read()
    try:
        with open(item.path, "rb") as stream:
            return stream.read()
    except OSError as error:
        return ReadError(f"{item.name}: cannot be read: {error.strerror}.")


def read_source(item: Input) -> Source | ReadError | None:
    """Read and decode an input; None for a binary file that only a walk has found."""
    data = read_bytes(item)
    if isinstance(data, ReadError):
        return data
    source = decode(data)
    if item.walked and _is_binary(data, source):
        return None
    if isinstance(source, DecodeError):
        return ReadError(f"{item.name}: {source.message}")
    return source


def refusal(path: str) -> str | None:
    """Why no file can be written at a path, as far as that can be told before; else None."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f"{path}: the folder {folder} does not exist. Create it first."
    if os.path.isdir(path):
        return f"{path}: is a folder. Name a file."
    if os.path.exists(path) and not os.path.isfile(path):
        return f"{path}: is a device or a pipe, which would be replaced. Name a file."
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{path}: the folder {folder} cannot be written to. Choose another."
    return None


def write_atomic(path: str, data: bytes) -> None:
    """Write a file aside and rename it into place, so that no reader sees half of it.

    Keeps the permissions of the file it replaces and writes through a symbolic link; a device or
    a pipe is written to as it is. Raises OSError, and then leaves the old file as it was.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            stream.write(data)
        return
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    aside = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(aside, "xb") as stream:
            stream.write(data)
        if os.path.exists(target):
            os.chmod(aside, os.stat(target).st_mode & 0o7777)
        os.replace(aside, target)
    except FileExistsError:
        raise  # somebody else's file
    except BaseException:
        if os.path.exists(aside):
            os.unlink(aside)
        raise


def _is_binary(data: bytes, source: Source | DecodeError) -> bool:
    if isinstance(source, Source) and source.encoding != "utf-8":
        return False
    return b"\0" in data[:_PROBE]


def _below(folder: str, excludes: Callable[[str], bool]) -> list[Input]:
    """The files that a directory argument means, in order of their names."""
    names = list(_walk(folder, excludes))
    if not names:
        return []
    from netsharp_lsp.cli.gitignore import without_ignored

    paths = {os.path.abspath(name): name for name in names}
    kept = without_ignored(list(paths))
    return [Input(os.path.normpath(paths[path]), path, walked=True) for path in kept]


def _walk(folder: str, excludes: Callable[[str], bool]) -> Iterator[str]:
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if entry.name.startswith(".") or excludes(os.path.abspath(entry.path)):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, excludes)
        elif os.path.splitext(entry.name)[1].lower() in SUFFIXES and entry.is_file():
            yield entry.path
