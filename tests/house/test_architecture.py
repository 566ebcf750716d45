"""The documents of the architecture are true: invariants name tests, tables name the rooms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("ARCHITECTURE.md", "engine/ARCHITECTURE.md", "netsharp_lsp/cntk/ARCHITECTURE.md")
TEXT, OF_ENGINE, OF_CNTK = ((ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS)
LONGEST = 200
ENGINE = ROOT / "engine" / "netsharp_engine"


def test_a_newcomer_can_read_it_in_one_sitting() -> None:
    assert len(TEXT.splitlines()) <= LONGEST
    assert max(map(len, TEXT.splitlines())) < 500


def test_the_core_of_the_engine_is_read_in_an_evening() -> None:
    rows = re.findall(r"^\| [\w' ]+ \| (`[^|]+`) \| (\d+) \|$", OF_ENGINE, re.MULTILINE)
    assert len(rows) == 4
    for modules, most in rows:
        paths = [ENGINE / name for name in re.findall(r"`([^`]+)`", modules)]
        files = [f for path in paths for f in (path.glob("*.py") if path.is_dir() else [path])]
        lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
        assert 0.7 * int(most) < lines <= int(most), (modules, lines)
    assert sum(int(most) for _, most in rows) <= 1500


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


ROOMS = (
    ("netsharp_lsp", section(TEXT, "The rooms")),
    ("netsharp_lsp/cntk", section(OF_CNTK, "Rooms")),
    ("engine/netsharp_engine", section(OF_ENGINE, "The engine")),
    ("engine/netsharp_compile", section(OF_ENGINE, "The compiler")),
)
#: Loose modules that a newcomer need not find in a table.
UNLISTED = {
    "netsharp_engine": {
        *("exchange", "host_arguments", "initial", "limits", "memory"),
        *("model_file", "room", "stored"),
    },
}


@pytest.mark.parametrize(("folder", "rooms"), ROOMS, ids=lambda each: each[:30])
def test_every_room_and_loose_module_is_in_a_table(folder: str, rooms: str) -> None:
    named = set(re.findall(r"[\w.]+", " ".join(re.findall(r"`([^`]+)`", rooms))))
    left_out = UNLISTED.get(Path(folder).name, set())
    for path in sorted((ROOT / folder).iterdir()):
        if (path.name.startswith("__") and path.name != "__main__.py") or path.stem in left_out:
            continue
        if (path.is_dir() or path.suffix == ".py") and not path.name.startswith("_"):
            assert {path.name, path.stem} & named, f"{path.name} is in no row"


#: As many modules stand loose in one room, besides the `__init__` that is its front.
LOOSE = 16
#: Rooms that hold more, because each module there is one of a kind and knows none of the others,
#: or until they are divided: how many at most.
LARGER = {
    "netsharp_lsp": 20,
    "netsharp_lsp/cli": 20,
    "engine/netsharp_engine": 21,
}


def test_no_room_is_crowded() -> None:
    """A room with many loose modules is divided by subject, each part with a front of its own."""
    for top in ("netsharp", "netsharp_lsp", "engine/netsharp_compile", "engine/netsharp_engine"):
        for room in [ROOT / top, *(path for path in (ROOT / top).rglob("*") if path.is_dir())]:
            modules = [path.name for path in room.glob("*.py") if not path.name.startswith("__")]
            name = room.relative_to(ROOT).as_posix()
            assert len(modules) <= LARGER.get(name, LOOSE), f"{name} holds {len(modules)} modules"


def invariants() -> list[str]:
    texts = (section(text, "Invariants") for text in (TEXT, OF_ENGINE, OF_CNTK))
    return [one for text in texts for one in re.split(r"(?m)^- (?=\*\*)", text)[1:]]


def test_every_invariant_names_tests_that_are_there() -> None:
    assert len(invariants()) >= 28
    for invariant in invariants():
        held = re.search(r"\*Held by (.+?)\.\*(?:\s*\Z|\n\n)", invariant, re.DOTALL)
        assert held, f"no test named: {invariant[:60]}"
        names = re.findall(r"`(tests/[^`]+)`", held[1])
        assert names, invariant
        for name in names:
            assert (ROOT / name).exists(), f"{name} is not there: {invariant[:60]}"


def test_every_test_that_a_decision_names_is_there() -> None:
    text = (ROOT / "DECISIONS.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[^`]+)`", text)
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_module_of_the_table_of_rules_is_there() -> None:
    table = section(OF_CNTK, "Where the rules of CNTK's training are")
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line[:1] == "|"]
    places = ("engine/netsharp_engine", "netsharp_lsp/cntk")
    found = [
        (ROOT / place / name).exists() or name
        for row in rows[2:]
        for place, cell in zip(places, row[1:], strict=True)
        for name in re.findall("`([^`]+)`", cell)
    ]
    assert len(found) > 50
    assert set(found) == {True}
