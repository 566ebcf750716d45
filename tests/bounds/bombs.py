"""What a bomb is: a pathological text, as a function of its size.

A row of `table` names a text and the commands that have to answer it, and makes a bomb for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

Files = Mapping[str, bytes]

MEBI = 2**20
#: No text of the table gets larger than this, unless its row says so.
MOST_BYTES = 4 * MEBI


class Bomb(NamedTuple):
    """A text that grows, and a command that has to answer it.

    `files` makes the files of a size; `least` is the size at which to begin, `most` the largest.
    """

    name: str
    language: str
    command: tuple[str, ...]
    files: Callable[[int], Files]
    least: int
    most: int


#: The file of each language, and the commands that read one alone.
LANGUAGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "netsharp": ("bomb.nn", ("check", "fmt --check", "describe")),
    "cntk": ("bomb.cntk", ("check", "fmt --check", "describe", "config", "migrate")),
    "brainscript": ("bomb.bs", ("check", "fmt --check")),
    "ndl": ("bomb.ndl", ("check", "fmt --check")),
    "mel": ("bomb.mel", ("check", "fmt --check")),
    "python": ("bomb.py", ("check", "fmt --check")),
    "r": ("bomb.R", ("check", "fmt --check")),
    "markdown": ("bomb.md", ("check", "fmt --check")),
    "notebook": ("bomb.ipynb", ("check", "fmt --check")),
}


def repeated(
    language: str, name: str, unit: str, before: str = "", after: str = "", most: int = 0
) -> list[Bomb]:
    """Bombs of a unit that is repeated; `{n}` in it is the number of the repetition."""
    piece = len(unit.encode())

    def text(size: int) -> bytes:
        if "{n}" not in unit:
            middle = unit * size
        else:
            middle = "".join(
                unit.replace("{n}", str(n)).replace("{m}", str(n + 1)) for n in range(size)
            )
        return (before + middle + after).encode()

    # A misspelt name is compared with some hundred others before the number of names is bounded.
    least = 1024 if name.startswith("unknown") else 64
    return of_text(language, name, text, most or MOST_BYTES // piece, least)


def of_text(
    language: str, name: str, text: Callable[[int], bytes], most: int, least: int = 64
) -> list[Bomb]:
    """Bombs of one file for every command of its language."""
    file, commands = LANGUAGES[language]

    def files(size: int) -> Files:
        return {file: text(size)}

    return [
        Bomb(
            f"{name} ({command.split()[0]})", language, (*command.split(), file), files, least, most
        )
        for command in commands
    ]


def of_files(
    language: str, name: str, command: str, files: Callable[[int], Files], most: int, least: int = 4
) -> list[Bomb]:
    """A bomb of several files for one command."""
    return [
        Bomb(f"{name} ({command.split()[0]})", language, tuple(command.split()), files, least, most)
    ]
