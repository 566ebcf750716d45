"""The places where completion opens by itself, the table of `typed_places.json`, as values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

_TABLE = json.loads((Path(__file__).parent / "typed_places.json").read_text(encoding="utf-8"))


class Place(NamedTuple):
    """A line ends with `lead`; `keys` open a list in which `wanted` begins one."""

    file: str
    line: int
    lead: str
    keys: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.file}: {self.lead.strip()}|{self.keys}"

    @property
    def language(self) -> str:
        """The suffix of the file."""
        return self.file.rpartition(".")[2]

    @property
    def of_netsharp(self) -> bool:
        """Whether what is written is Net#."""
        return self.language == "netsharp" or self in HOSTS


#: The texts by the names of their files.
FILES: dict[str, str] = {name: "\n".join(lines) for name, lines in _TABLE["files"].items()}
#: Milliseconds a key.
SPEEDS: list[int] = _TABLE["speeds"]
PLACES = [Place(*row) for row in _TABLE["places"]]
#: Those inside other languages.
HOSTS = [Place(*row) for row in _TABLE["hosts"]]
#: Where nothing begins that a key could open a list for; an editor is asked with its own key.
ASKED = [Place(*row) for row in _TABLE["asked"]]
