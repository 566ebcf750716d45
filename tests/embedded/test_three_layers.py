"""Net# in R or Python in T-SQL: renamed, coloured and described as where it stands alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netsharp_lsp.__main__ import main
from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.embedded.regions import Region
from netsharp_lsp.text.lines import LineIndex
from tests.embedded.test_server import closed, offset, opened
from tests.server.wire import Wire, serving

SCRIPTS = Path(__file__).parents[1] / "importing" / "scripts"
NAMES = sorted(path.name for path in SCRIPTS.glob("*.sql"))
OLD, NEW = "Hidden", "Renamed"
WORD = re.compile(rb"\bHidden\b")
every_script = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with serving() as started:
        yield started


def read(name: str) -> tuple[bytes, list[Region]]:
    """A script and the specifications in it."""
    data = (SCRIPTS / name).read_bytes()
    regions = find_regions("sql", data)
    assert isinstance(regions, list), regions
    assert regions
    return data, regions


def colours(wire: Wire, uri: str, text: bytes) -> list[tuple[str, int, int]]:
    """The coloured words of an open text in order, with type and modifiers of each."""
    lines = LineIndex(text)
    tokens = wire.request("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})
    found = []
    line = character = 0
    numbers = tokens["data"]
    for at in range(0, len(numbers), 5):
        down, right, length, kind, modifiers = numbers[at : at + 5]
        line, character = line + down, right if down else character + right
        start = lines.utf16_offset(line, character)
        end = lines.utf16_offset(line, character + length)
        found.append((text[start:end].decode(), kind, modifiers))
    return found


def test_there_are_three_layers_in_each() -> None:
    assert len(NAMES) >= 24
    assert all(OLD.encode() in read(name)[0] for name in NAMES)


@every_script
def test_a_layer_is_renamed_in_the_specification_and_nowhere_else(wire: Wire, name: str) -> None:
    data, _ = read(name)
    lines = LineIndex(data)
    uri, _ = opened(wire, name, data)
    for place in [one.start() for one in WORD.finditer(data)]:
        line = lines.line_at(place)
        params: dict[str, Any] = {
            "textDocument": {"uri": uri},
            "position": {
                "line": line,
                "character": len(data[lines.utf16_offset(line, 0) : place].decode()),
            },
            "newName": NEW,
        }
        answer = wire.request("textDocument/rename", params)
        (changes,) = [one["edits"] for one in answer.get("documentChanges", ())] or list(
            answer["changes"].values()
        )
        text = data
        for edit in sorted(changes, key=lambda one: -offset(lines, one["range"]["start"])):
            start, end = (offset(lines, edit["range"][key]) for key in ("start", "end"))
            text = text[:start] + edit["newText"].encode() + text[end:]
        assert text == WORD.sub(NEW.encode(), data)
        regions = find_regions("sql", text)
        assert [one.text for one in regions if isinstance(one, Region)] == [
            WORD.sub(NEW.encode(), one.text) for one in read(name)[1]
        ]
    closed(wire, uri)


@every_script
def test_words_have_the_colours_that_they_have_alone(wire: Wire, name: str) -> None:
    data, regions = read(name)
    uri, _ = opened(wire, name, data)
    found = colours(wire, uri, data)
    closed(wire, uri)
    alone = []
    for number, region in enumerate(regions):
        uri = Path(f"/nowhere/{name}_{number}.nn").as_uri()
        wire.open(uri, region.text.decode())
        wire.published(uri, 1)
        alone += colours(wire, uri, region.text)
        closed(wire, uri)
    assert len(alone) > len(("input", "Measures", "hidden", "Hidden"))
    assert found == alone


@every_script
def test_a_description_is_that_of_the_specification_alone(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    data, regions = read(name)
    (tmp_path / name).write_bytes(data)
    lines = LineIndex(data)
    for region in regions:
        (tmp_path / "alone.nn").write_bytes(region.text)
        assert main(["describe", "alone.nn", "--format", "json"]) == 0
        alone = json.loads(capsys.readouterr().out)
        there = f"{name}::{lines.line_at(region.start) + 1}"
        assert main(["describe", there, "--format", "json"]) == 0
        described = json.loads(capsys.readouterr().out)
        assert [layer["name"] for layer in described["layers"]][:1] == ["Measures"]
        assert {key: value for key, value in described.items() if key != "file"} == {
            key: value for key, value in alone.items() if key != "file"
        }
