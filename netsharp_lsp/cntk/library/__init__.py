"""The functions that every network sees, written in BrainScript beside this file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from netsharp_lsp.cntk.brainscript.reading.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.reading.syntax import Script

#: The parts of the library; they are one record, so their order does not matter.
PARTS = ("values", "nodes", "cntk2", "layers", "bs")
#: What places in the library begin with.
PREFIX = "library:"


@lru_cache(maxsize=1)
def own_library() -> tuple[Script, ...]:
    """The library of the package, read once per process."""
    folder = Path(__file__).parent
    return tuple(
        parse((folder / f"{part}.bs").read_bytes(), f"{PREFIX}{part}.bs") for part in PARTS
    )


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
