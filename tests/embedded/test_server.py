"""Hosts open in an editor: the server says in the host what the command line says, and edits it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netsharp_lsp.cli.inputs.embedded import ReadHost, examine_host
from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.embedded.hosts import host_of
from netsharp_lsp.text.lines import LineIndex
from tests.embedded.test_laws import HOSTS, formatted
from tests.server.wire import Wire, serving

#: Of a notebook a server sees the cells.
OPENED = {name: data for name, data in HOSTS.items() if not name.endswith(".ipynb")}
every_host = pytest.mark.parametrize("name", OPENED)


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with serving() as started:
        yield started


def opened(wire: Wire, name: str, data: bytes) -> tuple[str, list[dict[str, Any]]]:
    uri = (Path("/nowhere") / name).as_uri()
    wire.open(uri, data.decode(), host_of(name) or "")
    return uri, wire.published(uri, 1)


def closed(wire: Wire, uri: str) -> None:
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def offset(lines: LineIndex, place: dict[str, int]) -> int:
    return lines.utf16_offset(place["line"], place["character"])


@every_host
def test_diagnostics_are_those_of_the_command_line(wire: Wire, name: str) -> None:
    data = OPENED[name]
    lines = LineIndex(data)
    uri, published = opened(wire, name, data)
    there = sorted(
        (offset(lines, d["range"]["start"]), offset(lines, d["range"]["end"]), d["code"])
        for d in published
    )
    messages = sorted(d["message"] for d in published)
    contexts = (Context(), Context())
    host = ReadHost(Input(name, None), data)
    found = examine_host(host, contexts, Selection((), ()))
    assert there == sorted((d.start, d.end, d.code) for d in found)
    assert messages == sorted(d.message for d in found)
    closed(wire, uri)


@every_host
def test_formatting_is_that_of_the_command_line(wire: Wire, name: str) -> None:
    data = OPENED[name]
    lines = LineIndex(data)
    uri, _ = opened(wire, name, data)
    options = {"tabSize": 4, "insertSpaces": True}
    params = {"textDocument": {"uri": uri}, "options": options}
    text = data
    for edit in reversed(wire.request("textDocument/formatting", params) or []):
        start, end = (offset(lines, edit["range"][key]) for key in ("start", "end"))
        text = text[:start] + edit["newText"].encode() + text[end:]
    assert text == formatted(name, data)
    closed(wire, uri)


@every_host
def test_hovers_show_the_word_under_the_cursor(wire: Wire, name: str) -> None:
    data = OPENED[name]
    lines = LineIndex(data)
    uri, _ = opened(wire, name, data)
    shown = 0
    for region in find_regions(host_of(name) or "", data):
        for word in re.finditer(rb"\b(?:softmax|tanh|linear|sigmoid)\b", region.text):
            line, character = lines.utf16_position(region.outer(word.start()))
            place = {"line": line, "character": character}
            params = {"textDocument": {"uri": uri}, "position": place}
            hover = wire.request("textDocument/hover", params)
            assert hover is not None
            start, end = (offset(lines, hover["range"][key]) for key in ("start", "end"))
            assert data[start:end] == word.group()
            shown += 1
    assert shown or name == "left_alone.py"
    closed(wire, uri)


def test_completion_while_a_host_is_being_typed(wire: Wire) -> None:
    head = 'é = "😀"; net = """\n  input Data [4];\n  output Out [3] softmax from D'
    text = head + '\n"""\nf(net_definition=net)\n'
    uri = "file:///nowhere/typed.py"
    wire.open(uri, text, "python")
    place = {"line": 2, "character": len("  output Out [3] softmax from D")}
    answer = wire.request(
        "textDocument/completion", {"textDocument": {"uri": uri}, "position": place}
    )
    items = answer["items"] if isinstance(answer, dict) else answer
    (data,) = [item for item in items if item["label"] == "Data"]
    edit = data["textEdit"]
    ranges = edit.get("range") or edit["replace"]
    assert ranges["start"] == {"line": 2, "character": place["character"] - 1}
    assert ranges["end"] == place
    closed(wire, uri)


def test_several_literals_are_completed_and_repaired_where_they_are_typed() -> None:
    text = (
        'rx_neural_net("y ~ x", net_definition=("input Data [4];\\n"\n'
        "    ' hidden H [3] tanh from Da al;\\n' # é😀\n"
        '    "output Out [3] softmax from H all;"))\n'
    )
    uri = "file:///nowhere/several.py"
    kinds = {"codeActionKind": {"valueSet": ["quickfix"]}}
    abilities = {"textDocument": {"codeAction": {"codeActionLiteralSupport": kinds}}}
    with serving(abilities) as wire:
        wire.open(uri, text, "python")
        found = wire.published(uri)
        line = "    ' hidden H [3] tanh from Da"
        end = {"line": 1, "character": len(line)}
        document = {"uri": uri}
        answer = wire.request(
            "textDocument/completion", {"textDocument": document, "position": end}
        )
        (data,) = [item for item in answer["items"] if item["label"] == "Data"]
        start = {"line": 1, "character": len(line) - 2}
        assert data["textEdit"] == {"range": {"start": start, "end": end}, "newText": "Data"}
        # Between two literals a proposal would stand in the one before.
        first = {"textDocument": document, "position": {"line": 1, "character": 5}}
        assert wire.request("textDocument/completion", first)["items"] == []
        (wrong,) = [each for each in found if each["code"] == "NS019"]
        context = {
            "textDocument": document,
            "range": wrong["range"],
            "context": {"diagnostics": []},
        }
        fixes = wire.request("textDocument/codeAction", context)
        (fix,) = [each for each in fixes if each["title"] == "Replace by 'all'"]
        (change,) = fix["edit"]["changes"][uri]
        assert change == {"range": wrong["range"], "newText": "all"}
        whole = {**context, "context": {"diagnostics": [], "only": ["source.fixAll"]}}
        (all_at_once,) = wire.request("textDocument/codeAction", whole)
        assert len(all_at_once["edit"]["changes"][uri]) == 1
        options = {"tabSize": 4, "insertSpaces": True}
        assert not wire.request(
            "textDocument/formatting", {"textDocument": document, "options": options}
        )


def test_nothing_is_offered_outside(wire: Wire) -> None:
    uri, _ = opened(wire, "microsoftml.py", OPENED["microsoftml.py"])
    place = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 8}}
    assert not wire.request("textDocument/hover", place)
    answer = wire.request("textDocument/completion", place)
    assert not (answer["items"] if isinstance(answer, dict) else answer)
    closed(wire, uri)
