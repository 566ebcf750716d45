"""Replaces includes by the members of the files that they name, in CNTK's search order.  Evaluates
nothing.

Files that include one another may double with each step, so includes are counted.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.evaluation.values import Failure
from netsharp_lsp.cntk.brainscript.reading.known import parsed
from netsharp_lsp.cntk.brainscript.reading.syntax import Include
from netsharp_lsp.cntk.configuration.sources import Source, read_text, why_binary
from netsharp_lsp.cntk.networks.faults import BuildingFault
from netsharp_lsp.limits import CNTK_WORDS, INCLUDED_BYTES, INCLUDES
from netsharp_lsp.text.extent import words_of
from netsharp_lsp.workspace import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from netsharp_lsp.cntk.brainscript.reading.syntax import Entry, Member
    from netsharp_lsp.cntk.networks.faults import Place

    #: Returns the bytes of a file, or None if it does not exist.
    Reader = Callable[[str], bytes | None]


class Includes:
    """A reader of files, the include chain of each file, and counts of all that was included."""

    def __init__(
        self, read: Reader, folders: Sequence[str], is_outside: Callable[[str], bool]
    ) -> None:
        self.read = read
        self.is_outside = is_outside
        self.folders = folders
        self.chains: dict[str, tuple[str, ...]] = {}
        self.count = self.bytes = self.words = 0
        #: The include of the outermost text that led to the others.
        self.outermost: Place | None = None

    def spliced(self, entries: Iterable[Entry]) -> list[Member]:
        """Return members with includes replaced by those of their files."""
        found: list[Member] = []
        for entry in entries:
            if isinstance(entry, Include):
                name, read = self.open(entry)
                data = read.text if isinstance(read, Source) else read
                found += self.spliced(parsed(data, name).entries)
            else:
                found.append(entry)
        return found

    def open(self, entry: Include) -> tuple[str, Source | bytes]:
        """Return the name and the text of an included file; raise Failure if none is read.

        A binary file stays bytes, and its parts are syntax errors of a text.
        """
        source = entry.place.source
        chain = self.chains.get(source, (source,))
        if len(chain) == 1:
            self.outermost = entry.place
        for candidate in candidates(entry.path, chain, self.folders):
            data = self.read(candidate)
            if data is None:
                continue
            if candidate in chain:
                way = " → ".join((*chain, candidate))
                message = f"'{entry.path}' includes itself: {way}."
                raise Failure(BuildingFault("include-cycle", message, entry.place))
            read = read_text(candidate, data)
            if isinstance(read, str) and why_binary(data) is None:
                raise self._refusal(entry, read)
            text = data if isinstance(read, str) else read.text
            self._count(entry, len(data), words_of(text))
            self.chains[candidate] = (*chain, candidate)
            return candidate, data if isinstance(read, str) else read
        if self.is_outside(entry.path):
            raise Failure(BuildingFault("outside", outside(entry.path), entry.place))
        raise Failure(BuildingFault("include", f"'{entry.path}' is not found.", entry.place))

    def _count(self, entry: Include, length: int, words: int) -> None:
        """Raise Failure if the limits of included text are exceeded."""
        self.count += 1
        self.bytes += length
        self.words += words
        passed = (
            (self.count, INCLUDES),
            (self.bytes, INCLUDED_BYTES),
            (self.words, CNTK_WORDS),
        )
        limit = next((limit for amount, limit in passed if amount > limit.most), None)
        if limit is not None:
            why = f"A network includes at most {limit}, each file as often as it is included."
            raise self._refusal(entry, why)

    def _refusal(self, entry: Include, why: str) -> Failure:
        """Return the failure of an include that is not followed."""
        message = f"'{entry.path}' is not included. {why}"
        return Failure(BuildingFault("too-much", message, self.outermost or entry.place))


def candidates(path: str, chain: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Return the paths where an include is searched: as written, then its last component in the
    folders of the files that are being included, innermost first, then in the other folders.
    """
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    beside = [f"{_folder(file)}{name}" for file in reversed(chain)]
    return [path, *beside, *(_joined(folder, name) for folder in folders)]


def _folder(file: str) -> str:
    cut = max(file.rfind("/"), file.rfind("\\"))
    return file[: cut + 1]


def _joined(folder: str, name: str) -> str:
    return f"{folder}{name}" if folder.endswith(("/", "\\")) or not folder else f"{folder}/{name}"
