"""The library functions that every network can use, written in BrainScript next to this file.

Additions of later releases are among them; changed functions are in a part of their own.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.brainscript.reading.syntax import Member

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.reading.syntax import Script

#: The parts of the library; they are one record, so their order does not matter.
PARTS = ("values", "nodes", "cntk2", "layers", "bs")
#: The prefix of sources in the library.
PREFIX = "library:"
#: The part that replaces functions of the same names from release 2.0 on.
LATER = "later"


@lru_cache(maxsize=2)
def own_library(*, later: bool = False) -> tuple[Script, ...]:
    """Return the library of the package, parsed once per process; `later`: as of releases
    from 2.0.
    """
    if not later:
        return tuple(map(_part, PARTS))
    changed = _part(LATER)
    names = {one.name for one in changed.entries if isinstance(one, Member)}
    kept = (
        script._replace(
            entries=tuple(
                one
                for one in script.entries
                if not isinstance(one, Member) or one.name not in names
            )
        )
        for script in own_library()
    )
    return (*kept, changed)


def _part(name: str) -> Script:
    data = (Path(__file__).parent / f"{name}.bs").read_bytes()
    return parse(data, f"{PREFIX}{name}.bs")


@cache
def library_text(name: str) -> bytes:
    """Return the text of a part of the library, by the source name of its places."""
    return Path(library_file(name)).read_bytes()


def library_file(name: str) -> str:
    """Return the absolute path of a part of the library, by the source name of its places."""
    return str(Path(__file__).parent.absolute() / name.removeprefix(PREFIX))


@lru_cache(maxsize=2)
def other_library(data: bytes, source: str) -> tuple[Script, ...]:
    """Return a library that replaces the package's own, parsed once."""
    return (parse(data, source),)
