"""Positions in every encoding, over characters beyond the first plane and every line end."""

from __future__ import annotations

import pytest

from tests.server.wire import Message, Wire, replace, serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

URI = "file:///nowhere/signs.nn"
#: An astral character before a name, in a comment on its line, and line ends of every kind.
LINES = [
    "/* 😀é */ input Data [3];",
    "// 数字",
    "/*😀*/ hidden Depth [2] tanh from Data all;",
    "/*é*/ output Result [2] softmax from Depth all;",
]
TEXT = "\r\n".join(LINES[:2]) + "\r" + "\n".join(LINES[2:])
UNITS = {
    "utf-8": lambda text: len(text.encode("utf-8")),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}
OFFERS = [
    (["utf-8", "utf-16", "utf-32"], "utf-8"),
    (["utf-16", "utf-32"], "utf-32"),
    (["utf-16"], "utf-16"),
    (["utf-7"], "utf-16"),
    (None, "utf-16"),
]


def capabilities(encodings: list[str] | None) -> Message:
    return {} if encodings is None else {"general": {"positionEncodings": encodings}}


def place(encoding: str, line: int, word: str) -> tuple[int, int]:
    """Where a word begins."""
    return line, UNITS[encoding](LINES[line][: LINES[line].index(word)])


def definition(wire: Wire, line: int, character: int) -> Message:
    position = {"line": line, "character": character}
    params = {"textDocument": {"uri": URI}, "position": position}
    found: Message = wire.request("textDocument/definition", params)
    return found


@pytest.mark.parametrize(("offered", "chosen"), OFFERS)
def test_a_name_is_found_after_any_character(offered: list[str] | None, chosen: str) -> None:
    with serving(capabilities(offered)) as wire:
        assert wire.heard[0]["result"]["capabilities"]["positionEncoding"] == chosen
        wire.open(URI, TEXT)
        wire.published(URI)
        line, start = place(chosen, 0, "Data [")
        used = place(chosen, 2, "Data all")
        found = definition(wire, *used)["range"]
        assert found == replace((line, start), (line, start + 4), "")["range"]
        line, start = place(chosen, 2, "Depth")
        found = definition(wire, *place(chosen, 3, "Depth"))["range"]
        assert found["start"] == {"line": line, "character": start}
        assert found["end"]["character"] == start + UNITS[chosen]("Depth")


@pytest.mark.parametrize("encoding", UNITS)
def test_edits_land_where_they_are_meant(encoding: str) -> None:
    with serving(capabilities([encoding])) as wire:
        wire.open(URI, TEXT)
        wire.published(URI)
        line, start = place(encoding, 2, "Depth")
        name = replace((line, start), (line, start + UNITS[encoding]("Depth")), "Other")
        line, start = place(encoding, 0, "é")
        sign = replace((line, start), (line, start + UNITS[encoding]("é")), "x\r\n😀😀")
        end = replace((9, 0), (9, 0), "\n// 😀")
        wire.send(wire.change(URI, 2, name, sign, end))
        (unknown,) = [each for each in wire.published(URI, 2) if each["severity"] == 1]
        assert unknown["range"]["start"] == {
            "line": 4,
            "character": place(encoding, 3, "Depth")[1],
        }
        tokens = wire.request("textDocument/semanticTokens/full", {"textDocument": {"uri": URI}})
        last = tokens["data"][-5:]
        assert last[2] in (UNITS[encoding]("// 😀"), 1)


def test_whole_new_texts_are_taken_too() -> None:
    with serving({}) as wire:
        wire.open(URI, TEXT)
        before = wire.published(URI, 1)
        wire.send(wire.change(URI, 2, {"text": TEXT.replace("input ", "input 😀")}))
        assert len(wire.published(URI, 2)) > len(before)
        wire.send(wire.change(URI, 3, {"text": TEXT}))
        assert wire.published(URI, 3) == before


def test_half_a_character_does_no_harm() -> None:
    with serving({}) as wire:
        wire.open(URI, "input Data [3]; // \ud83d\noutput Result [2] softmax from Data all;\n")
        assert wire.published(URI, 1) == []
        wire.send(wire.change(URI, 2, replace((0, 20), (0, 20), "\udc00")))
        assert wire.published(URI, 2) == []
