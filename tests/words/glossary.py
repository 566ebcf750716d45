"""The glossary, read from its file, and where texts do not follow it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.words.texts import Read, texts

HERE = Path(__file__).parent


class Avoided(NamedTuple):
    """A pattern that is not written, and the term of its row."""

    pattern: re.Pattern[str]
    shown: str
    fault: str
    passes: str
    term: str
    only: tuple[str, ...]
    kinds: tuple[str, ...]

    def found(self, read: Read) -> Iterator[re.Match[str]]:
        """Yield each place of a text where it is written."""
        if read.path.startswith(self.only or ("",)) and read.kind in (self.kinds or (read.kind,)):
            yield from self.pattern.finditer(read.text)


class Fault(NamedTuple):
    """A place where a text does not follow the glossary."""

    path: str
    line: int
    kind: str
    words: str
    term: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: '{self.words}' is: {self.term}"


@cache
def rows() -> list[dict[str, object]]:
    """Return the rows as they are in the file."""
    return list(tomllib.loads((HERE / "glossary.toml").read_text(encoding="utf-8"))["row"])


@cache
def avoided() -> list[Avoided]:
    """Return every pattern, with its row's term."""
    return [
        Avoided(
            re.compile(one["pattern"].replace(" ", r"[ \n]"), re.IGNORECASE),
            *(one[key] for key in ("shown", "fault", "passes")),
            row["term"],
            tuple(one.get("only", ())),
            tuple(one.get("kinds", ())),
        )
        for row in rows()
        for one in row["not"]  # type: ignore[attr-defined]
    ]


def faults(below: str = "") -> Iterator[Fault]:
    """Yield what does not follow the glossary in files whose paths begin with ``below``."""
    for read in texts(below):
        read = read._replace(text=re.sub(r"\n[ \t>*-]+", "\n", read.text))
        for one in avoided():
            for found in one.found(read):
                line = read.line + read.text.count("\n", 0, found.start())
                words = " ".join(found[0].split())
                yield Fault(read.path, line, read.kind, words, one.term)


def table() -> str:
    """Return the rows as the table of CONTRIBUTING.md."""
    lines = ["| term | meaning | not |", "|---|---|---|"]
    for row in rows():
        shown = "; ".join(one.shown for one in avoided() if one.term == row["term"])
        lines.append(f"| {row['term']} | {row['meaning']} | {shown} |")
    return "\n".join(lines) + "\n"
