"""The files of the CNTK languages that the project holds, and what is expected of each.

Laws that hold for any text run over it; it knows where files lie and nothing of what they say.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "corpus" / "cntk"
#: Where files of a kind lie; `broken` holds all languages.
FOLDERS = ("networks", "configurations", "ndl", "mel", "broken")
#: The language ids of contracts by suffix.
IDS = {
    ".bs": "brainscript",
    ".cntk": "cntk",
    ".config": "cntk",
    ".ndl": "ndl",
    ".mel": "mel",
}


class CntkFile(NamedTuple):
    """One file: ``id`` is what an editor calls its language, ``language`` its grammar's name."""

    name: str
    id: str
    data: bytes
    broken: bool

    @property
    def language(self) -> str:
        """The grammar that reads it: NDL and MEL have the tokens of configurations."""
        return "brainscript" if self.id == "brainscript" else "cntk"


def collect() -> list[CntkFile]:
    """Every file of the corpus, in the order of their names within their folders."""
    return [
        CntkFile(
            path.relative_to(FOLDER).as_posix(),
            IDS[path.suffix],
            path.read_bytes(),
            folder == "broken",
        )
        for folder in FOLDERS
        for path in sorted((FOLDER / folder).iterdir())
    ]


FILES = collect()
