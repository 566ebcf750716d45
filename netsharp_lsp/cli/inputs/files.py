"""Files of the command line: arguments to files, reading with decoding.

Every command that takes FILES, DIRS or - goes through here; knows no diagnostics.
"""

from __future__ import annotations

import os
import sys

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.embedded.hosts import HOSTS, SEPARATOR, host_of
from netsharp_lsp.language import families, family_of, language_of_name, suffixes
from netsharp_lsp.outcome import ReadError, layers_of
from netsharp_lsp.project.roots import LEADS_OUT
from netsharp_lsp.project.walk import specifications_below
from netsharp_lsp.text.decode import DecodeError, Source
from netsharp_lsp.text.extent import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netsharp_lsp.family import Family
    from netsharp_lsp.outcome import Item
    from netsharp_lsp.project.roots import Roots

STDIN = "-"
#: What --embedded does.
SKIP_OTHERS = "also skip named files whose text shows that they belong to another program"
EMBEDDED = "also search Python, R, SQL, Markdown and notebook files in folders for specifications"
#: A file found by a walk is binary if these first bytes contain a NUL.
_PROBE = 8192


class Input:
    """A file to read: the `name` people see, its absolute `path` (None for stdin).

    `walked` says that a directory's walk found it, so it may be left out.
    `part` is the specification that is meant of those in a host file, None for all.  `language`
    is the language id, given or else from the name.
    """

    __slots__ = ("language", "name", "part", "path", "walked")

    def __init__(
        self,
        name: str,
        path: str | None,
        walked: bool = False,
        part: str | None = None,
        language: str | None = None,
    ) -> None:
        self.language = language or language_of_name(name)
        self.name = name
        self.path = path
        self.walked = walked
        self.part = part

    @property
    def host(self) -> str | None:
        """The language id of a host file, None for a specification."""
        return host_of(self.name)

    @property
    def family(self) -> Family:
        """The family of its language."""
        return family_of(self.language)

    @property
    def directory(self) -> str:
        """The absolute folder whose settings hold for the file."""
        place = self.path if self.path is not None else os.path.abspath(self.name)
        return os.path.dirname(place)


class Naming:
    """Facts that arguments cannot give: the name of stdin, the language of files, and
    whether named files may be another program's, as a hook names every file of a suffix.
    """

    __slots__ = ("language", "skips_others", "stdin_name")

    def __init__(
        self,
        stdin_name: str | None = None,
        language: str | None = None,
        skips_others: bool = False,
    ) -> None:
        self.stdin_name = stdin_name
        self.language = language
        self.skips_others = skips_others


class Gathered:
    """The meaning of arguments: `inputs`, and sentences on what is `missing` or left out.

    `layers` are the arguments ``a.cntk+b.cntk``, whose files are inputs, too.
    """

    __slots__ = ("inputs", "layers", "missing", "skipped")

    def __init__(self) -> None:
        self.inputs: list[Input] = []
        self.layers: list[str] = []
        self.missing: list[str] = []
        self.skipped: list[str] = []


def named_input(argument: str, stdin_name: str | None = None, language: str | None = None) -> Input:
    """Return the input that FILE, HOST::NAME or - means; `stdin_name` is what - is called, and
    `language` the id of its language where that is given.
    """
    is_stdin = argument == STDIN
    name = (stdin_name or "<stdin>") if is_stdin else argument
    host, separator, part = name.rpartition(SEPARATOR)
    if separator and host_of(host) is not None and not os.path.exists(name):
        return Input(host, None if is_stdin else os.path.abspath(host), part=part)
    return Input(name, None if is_stdin else os.path.abspath(name), language=language)


def layered_in(argument: str) -> Family | None:
    """Return the family of files that an argument layers, ``A+B``; None where it does not."""
    for family in families():
        if family.experiments is not None and layers_of(argument, family.experiments.starts):
            return family
    return None


def gather(
    arguments: Sequence[str],
    excludes: Callable[[str], bool],
    naming: Naming,
    roots: Roots,
    embedded: bool = False,
) -> Gathered:
    """Turn FILES, DIRS and - into inputs, each file once.

    `excludes` says of an absolute path whether a walk leaves it out. Folders give the files
    with a known suffix that are neither hidden nor ignored by git, no links that lead out of the
    `roots`, and not of another kind by their content; `embedded`: host files too.
    """
    gathered = Gathered()
    seen: set[tuple[str, str | None]] = set()
    for argument in arguments:
        if argument != STDIN and os.path.isdir(argument):
            meant = _found_below(argument, gathered, excludes, roots, embedded)
        else:
            meant = _named(argument, gathered, naming)
            if naming.skips_others:
                meant = [one for one in meant if one.path is None or _is_ours(one, gathered)]
        for item in meant:
            key = (item.path if item.path is not None else STDIN, item.part)
            if key not in seen:
                seen.add(key)
                gathered.inputs.append(item)
    return gathered


def _named(argument: str, gathered: Gathered, naming: Naming) -> list[Input]:
    """Return the inputs that an argument other than a folder means: one, or layers."""
    if layered_in(argument) is None:
        return [named_input(argument, naming.stdin_name, naming.language)]
    gathered.layers.append(argument)
    return [named_input(part, None, naming.language) for part in argument.split("+") if part]


def _found_below(
    argument: str,
    gathered: Gathered,
    excludes: Callable[[str], bool],
    roots: Roots,
    embedded: bool,
) -> list[Input]:
    """Return the inputs that a folder means."""
    known = (*suffixes(), *HOSTS) if embedded else suffixes()

    def leave(path: str) -> None:
        gathered.skipped.append(f"{os.path.normpath(path)}: left out, {LEADS_OUT}.")

    below = specifications_below(argument, excludes, known, roots, leave)
    items = [Input(os.path.normpath(name), os.path.abspath(name), walked=True) for name in below]
    found = [item for item in items if _is_ours(item, gathered)]
    if not found:
        wanted = f"{', '.join(known[:-1])} or {known[-1]}"
        gathered.missing.append(f"{argument}: no {wanted} file below this folder.")
    return found


def _is_ours(item: Input, gathered: Gathered) -> bool:
    """Return whether a file is what its name says, and note why not."""
    if item.host is not None or not item.family.looks_inside:
        return True
    from netsharp_lsp.interface import Foreign

    data = read_bytes(item)
    kind = item.family.recognise(item.name, b"" if isinstance(data, ReadError) else data)
    if isinstance(kind, Foreign) and not isinstance(data, ReadError):
        gathered.skipped.append(f"{item.name}: left out, {kind.reason}.")
        return False
    return True


def read_bytes(item: Item) -> bytes | ReadError:
    """Return the bytes of an input, from disk or stdin."""
    if item.path is None:
        return sys.stdin.buffer.read()
    try:
        with open_plain(item.path) as stream:
            return stream.read()
    except OSError as error:
        return ReadError(f"{item.name}: cannot be read: {error.strerror}.")


def read_source(item: Input) -> Source | ReadError | None:
    """Read and decode an input; None for a binary file that only a walk has found."""
    data = read_bytes(item)
    if isinstance(data, ReadError):
        return data
    largest = item.family.largest
    if largest is not None and len(data) > largest.most:
        return ReadError(f"{item.name}: is larger than {largest}, and is not read.")
    source = item.family.decode(data)
    if item.walked and _is_binary(data, source):
        return None
    if isinstance(source, DecodeError):
        return ReadError(f"{item.name}: {source.message}")
    why = refused(source.text, item.family.extent) if item.host is None else None
    return source if why is None else ReadError(f"{item.name}: {why}")


def _is_binary(data: bytes, source: Source | DecodeError) -> bool:
    if isinstance(source, Source) and source.encoding != "utf-8":
        return False
    return b"\0" in data[:_PROBE]
