"""Replaces includes by the members of the files that they name, in the program's search order."""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.evaluation.values import Failure
from netsharp_lsp.cntk.brainscript.reading.parser import parsed
from netsharp_lsp.cntk.brainscript.reading.syntax import Include
from netsharp_lsp.cntk.configuration.sources import read_text
from netsharp_lsp.cntk.networks.faults import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from netsharp_lsp.cntk.brainscript.reading.syntax import Entry, Member

    #: The bytes of a file, or None where there is none.
    Reader = Callable[[str], bytes | None]


class Includes:
    """How files are read, and by which files each of them was included."""

    def __init__(self, read: Reader, folders: Sequence[str]) -> None:
        self.read = read
        self.folders = folders
        self.chains: dict[str, tuple[str, ...]] = {}

    def spliced(self, entries: Iterable[Entry]) -> list[Member]:
        """Members with includes replaced by what they hold."""
        found: list[Member] = []
        for entry in entries:
            if isinstance(entry, Include):
                found += self._included(entry)
            else:
                found.append(entry)
        return found

    def _included(self, entry: Include) -> list[Member]:
        source = entry.place.source
        chain = self.chains.get(source, (source,))
        for candidate in candidates(entry.path, chain, self.folders):
            data = self.read(candidate)
            if data is None:
                continue
            if candidate in chain:
                way = " → ".join((*chain, candidate))
                message = f"`{entry.path}` includes itself: {way}."
                raise Failure(Fault("include-cycle", message, entry.place))
            self.chains[candidate] = (*chain, candidate)
            return self.spliced(parsed(_text(candidate, data), candidate).entries)
        raise Failure(Fault("include", f"`{entry.path}` is not found.", entry.place))


def _text(name: str, data: bytes) -> bytes:
    """The text of a file in UTF-8; what is binary is no text, and its parts are damages of it."""
    source = read_text(name, data)
    return data if isinstance(source, str) else source.text


def candidates(path: str, chain: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Where an include is looked for: as it is, then its last part alone beside the files that
    are being included, innermost first, then in the folders.
    """
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    beside = [f"{_folder(file)}{name}" for file in reversed(chain)]
    return [path, *beside, *(_joined(folder, name) for folder in folders)]


def _folder(file: str) -> str:
    cut = max(file.rfind("/"), file.rfind("\\"))
    return file[: cut + 1]


def _joined(folder: str, name: str) -> str:
    return f"{folder}{name}" if folder.endswith(("/", "\\")) or not folder else f"{folder}/{name}"
