"""Completion at every place where it opens by itself, typed key by key as an editor takes it: the
list is asked for at a new word and after a trigger character, and narrowed while a word is typed.
The places are the table of `typed_places.json`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from netsharp_lsp.cntk.ide import completion as of_cntk
from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.netsharp.ide import completion as of_netsharp
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.workspace import Run, Workspace
from tests.server.typed_places import ASKED, FILES, HOSTS, PLACES, SPEEDS, Place
from tests.server.wire import Wire, serving

LANGUAGES = {"bs": "brainscript", "py": "python", "R": "r", "md": "markdown"}
#: The characters after which a list is useful, by language; no name is written after the others.
USES = {
    "netsharp": "[,=({",
    "cntk": "[,=({./",
    "bs": "[,=({./",
    "ndl": ",=(.",
    "mel": ",=(.",
    "py": "[,=({",
    "R": "[,=({",
    "sql": "[,=({",
    "md": "[,=({",
}
#: What begins a declaration of Net#.
BEGINS = re.compile(r"(hidden|input|output|network|const|share)\b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The texts on a disk, as other files are looked for there."""
    made = tmp_path_factory.mktemp("typed")
    for name, text in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def wire(folder: Path) -> Iterator[Wire]:
    able = {"completion": {"completionItem": {"snippetSupport": True}}}
    with serving({"textDocument": able}, rootUri=folder.as_uri()) as started:
        yield started


class Typist:
    """A document with a list that is open or not, as VS Code keeps it."""

    def __init__(self, wire: Wire, folder: Path, place: Place) -> None:
        self.wire = wire
        suffix = place.file.rpartition(".")[2]
        self.uri = (folder / place.file).as_uri()
        wire.open(self.uri, FILES[place.file], LANGUAGES.get(suffix, suffix))
        self.version = 1
        self.before = FILES[place.file].split("\n")[place.line - 1]
        self.at = {"line": place.line - 1, "character": len(self.before)}
        self.listed: list[dict[str, Any]] = []
        self.triggers = offered(wire)["triggerCharacters"]

    def type(self, keys: str) -> None:
        """Press keys; a new word is asked for only where no item of the old list still matches."""
        for key in keys:
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


@pytest.mark.parametrize("place", [*PLACES, *HOSTS], ids=str)
def test_what_is_wanted_is_in_the_list(wire: Wire, folder: Path, place: Place) -> None:
    typist = Typist(wire, folder, place)
    typist.type(place.lead + place.keys)
    shown = typist.shown
    typist.close()
    assert any(label.startswith(place.wanted) for label in shown), (place, shown)
    if place.of_netsharp and not BEGINS.match(place.wanted):
        assert not [label for label in shown if BEGINS.match(label)], shown


@pytest.mark.parametrize(
    "words",
    ["hidden N [4] from [Image, ", "hidden N [4] from Image pooling max, ", "input A [2], "],
)
def test_no_declaration_is_proposed_within_another(wire: Wire, folder: Path, words: str) -> None:
    """Before: whole layers, after any unparsed text."""
    typist = Typist(wire, folder, Place("a.netsharp", 9, words, "hio", ""))
    typist.type(words)
    for key in "hio":
        typist.type(key)
        assert not [each["label"] for each in typist.asked() if BEGINS.match(each["label"])]
    typist.close()


@pytest.mark.costly
def test_every_mark_that_opens_a_list_is_typed(wire: Wire, folder: Path) -> None:
    """In each language that has a use for it, and the list is there with this key."""
    assert set("".join(USES.values())) == set(offered(wire)["triggerCharacters"])
    missing = {(name, mark) for name, marks in USES.items() for mark in marks}
    for place in (*PLACES, *HOSTS):
        marks = {mark for mark in USES[place.language] if mark in place.keys}
        for mark in {mark for mark in marks if (place.language, mark) in missing}:
            typist = Typist(wire, folder, place)
            typist.type(place.lead + place.keys[: place.keys.rindex(mark) + 1])
            if any(label.startswith(place.wanted) for label in typist.shown):
                missing.remove((place.language, mark))
            typist.close()
    assert not missing


def test_the_speeds_are_those_of_people() -> None:
    assert min(SPEEDS) == 40
    assert max(SPEEDS) == 350
    assert any(40 < speed < 350 for speed in SPEEDS)


def proposing() -> dict[CodeType, str]:
    """The functions of completion that give proposals, of all languages."""
    found = {}
    for package in (of_netsharp, of_cntk):
        names = [one.name for one in pkgutil.iter_modules(package.__path__)]
        for module in (
            package,
            *(importlib.import_module(f"{package.__name__}.{n}") for n in names),
        ):
            for name, function in inspect.getmembers(module, inspect.isfunction):
                given = function.__annotations__.get("return", "")
                own = function.__module__ == module.__name__
                if own and ("Completion" in given or "Proposal" in given):
                    found[function.__code__] = f"{module.__name__}.{name}"
    return found


def gives(value: Any, wanted: str) -> bool:
    """Whether a value is a proposal that begins so, or has one."""
    several = getattr(value, "items", value)
    if isinstance(several, list | tuple) and not hasattr(value, "label"):
        return any(gives(one, wanted) for one in several)
    return str(getattr(value, "label", "")).startswith(wanted)


def givers(folder: Path, place: Place, functions: dict[CodeType, str]) -> set[str]:
    """The functions through which what is wanted at a place comes."""
    lines = FILES[place.file].split("\n")[: place.line]
    before = "\n".join(lines) + place.lead + place.keys
    text = before + FILES[place.file][len("\n".join(lines)) :]
    # What edits a model is asked in the run that has the model.
    runs = (Run(("configFile=a.cntk",), str(folder)),) if place.language == "mel" else ()
    around = Workspace(str(folder / place.file), DiskFiles(), runs)
    language = language_by_id(LANGUAGES.get(place.language, place.language))
    assert language is not None
    context = Context() if place.of_netsharp else Context(workspace=around)
    snapshot = language.open(text.encode(), context)
    found = set()

    def note(frame: FrameType, event: str, value: Any) -> None:
        name = functions.get(frame.f_code)
        if event == "return" and name is not None and gives(value, place.wanted):
            found.add(name)

    before_it = sys.getprofile()
    sys.setprofile(note)
    try:
        snapshot.complete(len(before.encode()))
    finally:
        sys.setprofile(before_it)
    return found


def test_every_function_that_proposes_has_its_place(folder: Path) -> None:
    """What is wanted at some place came through it; so the table has a row for whatever the server
    proposes anywhere.
    """
    functions = proposing()
    assert len(functions) > 50
    seen = set()
    for place in (*PLACES, *ASKED):
        through = givers(folder, place, functions)
        assert through, place
        seen |= through
    assert sorted(set(functions.values()) - seen) == []
