"""The functions that every network sees, written in BrainScript beside this file.

What later releases brought anew stands among them, what they changed in a part of its own.
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
#: What places in the library begin with.
PREFIX = "library:"
#: What later releases have in the place of functions of the same names.
LATER = "later"


@lru_cache(maxsize=2)
def own_library(*, later: bool = False) -> tuple[Script, ...]:
    """The library of the package, read once per process; `later`: as releases from 2.0 have it."""
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
    """The text of a part of the library by the name that places in it carry."""
    return Path(library_file(name)).read_bytes()


def library_file(name: str) -> str:
    """The absolute path of a part of the library by the name that places in it carry."""
    return str(Path(__file__).parent.absolute() / name.removeprefix(PREFIX))


@lru_cache(maxsize=2)
def other_library(data: bytes, source: str) -> tuple[Script, ...]:
    """A library in place of ours, read once."""
    return (parse(data, source),)
