"""Completion at every place where it opens by itself, typed key by key as an editor takes it: the
list is asked for at a new word and behind a trigger character, and narrowed while a word goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.server.wire import Wire, serving

TABLE = json.loads((Path(__file__).parent / "typed_lists.json").read_text(encoding="utf-8"))
TEXTS = json.loads((Path(__file__).parents[1] / "editors" / "typed.json").read_text("utf-8"))
LANGUAGES = {"bs": "brainscript"}
#: What begins a declaration of Net#.
BEGINS = re.compile(r"(hidden|input|output|network|const|share)\b")
_WORD = re.compile(r"\w*\Z")


class Row(NamedTuple):
    """What is typed at the end of a line, and what is wanted then; `file` names the language."""

    file: str
    line: int
    words: str
    wanted: str


ROWS = [Row(*row) for row in TABLE]
ROWS += [Row(file, line, words, wanted) for file, line, words, _, wanted in TEXTS["typed"]]


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    able = {"completion": {"completionItem": {"snippetSupport": True}}}
    with serving({"textDocument": able}) as started:
        yield started


class Typist:
    """A document with a list that stands open or not, as VS Code keeps it."""

    def __init__(self, wire: Wire, row: Row) -> None:
        self.wire = wire
        suffix = row.file.rpartition(".")[2]
        self.uri = f"file:///nowhere/{row.file}"
        lines = TEXTS["files"][row.file]
        wire.open(self.uri, "\n".join(lines), LANGUAGES.get(suffix, suffix))
        self.version = 1
        self.at = {"line": row.line - 1, "character": len(lines[row.line - 1])}
        self.before = lines[row.line - 1]
        self.listed: list[dict[str, Any]] = []
        self.triggers = offered(wire)["triggerCharacters"]

    def type(self, key: str) -> None:
        """One key; a new word is asked for only where no item of the old list goes on."""
        self.version += 1
        where = {"uri": self.uri, "version": self.version}
        change = {"range": {"start": self.at, "end": self.at}, "text": key}
        params = {"textDocument": where, "contentChanges": [change]}
        self.wire.notify("textDocument/didChange", params)
        self.before += key
        self.at = {**self.at, "character": self.at["character"] + 1}
        going_on = self.shown
        if key in self.triggers or (key.isalnum() and not going_on):
            self.listed = self.asked()
        elif not key.isalnum() and key != "_":
            assert not (key == " " and going_on), (self.before, going_on)
            self.listed = []

    def asked(self) -> list[dict[str, Any]]:
        """What the server proposes here."""
        params = {"textDocument": {"uri": self.uri}, "position": self.at}
        answer = self.wire.request("textDocument/completion", params)
        found: list[dict[str, Any]] = answer["items"] if isinstance(answer, dict) else answer or []
        return found

    @property
    def shown(self) -> list[str]:
        """The labels of the open list that what was typed over begins."""
        shown = []
        for item in self.listed:
            start = item["textEdit"]["range"]["start"]["character"]
            typed = self.before[start:].lower()
            if (item.get("filterText") or item["label"]).lower().startswith(typed):
                shown.append(item["label"])
        return shown

    def close(self) -> None:
        """Close the document."""
        self.wire.notify("textDocument/didClose", {"textDocument": {"uri": self.uri}})


def offered(wire: Wire) -> dict[str, Any]:
    """What the server says of its completion."""
    found: dict[str, Any] = wire.heard[0]["result"]["capabilities"]["completionProvider"]
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.file}: {row.words.strip()}")
def test_what_is_wanted_stands_in_the_list(wire: Wire, row: Row) -> None:
    typist = Typist(wire, row)
    for key in row.words:
        typist.type(key)
    shown = typist.shown
    assert any(label.startswith(row.wanted) for label in shown), (row, shown)
    if row.file == "a.netsharp" and row.words.strip() != "hid":
        assert not [label for label in shown if BEGINS.match(label)], shown
    typist.close()


@pytest.mark.parametrize(
    "words",
    ["hidden N [4] from [Image, ", "hidden N [4] from Image pooling max, ", "input A [2], "],
)
def test_no_declaration_is_proposed_within_another(wire: Wire, words: str) -> None:
    """Before: whole layers, behind whatever cannot be read."""
    typist = Typist(wire, Row("a.netsharp", 8, words, ""))
    for key in words:
        typist.type(key)
    for key in "hio":
        typist.type(key)
        assert not [each["label"] for each in typist.asked() if BEGINS.match(each["label"])]
    typist.close()


def test_every_place_that_opens_a_list_is_typed() -> None:
    """Each trigger character in each language that has a use for it."""
    uses = {
        "netsharp": "[,=({",
        "cntk": "=({.,[",
        "ndl": "=(,.",
        "mel": "=(,.",
        "bs": "=({,.[",
    }
    typed: dict[str, set[str]] = {}
    for row in ROWS:
        typed.setdefault(row.file.rpartition(".")[2], set()).update(re.findall(r"\W", row.words))
    missing = {name: sorted(set(marks) - typed[name]) for name, marks in uses.items()}
    assert not any(missing.values()), missing
