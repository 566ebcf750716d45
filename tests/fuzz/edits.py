"""Edits as an editor sends them, one after another: what follows them stays right."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tree_sitter import Node, Parser, Point, Tree

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.reading.grammar import LANGUAGE, parse_tree
from netsharp_lsp.netsharp.reading.incremental import Reading
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.text.edits import Edit
from tests.collection import RESOLVING, SAMPLES
from tests.fuzz.checking import check_all
from tests.laws.test_reading_laws import assert_same

LONGEST = 900
FILES = [sample.text for sample in SAMPLES if len(sample.text) <= LONGEST]
EDITS_PER_TRIAL = 12
PIECES = (
    *(
        "",
        " ",
        "\n",
        "\r\n",
        "\t",
        ";",
        ";;",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        "=",
        "=>",
        "==",
        ".",
    ),
    *("//", "/*", "*/", "#", "// netsharp: ignore[NS058]\n", "// fmt: off\n", "// fmt: on\n"),
    *(
        "hidden ",
        "output ",
        "input ",
        "const ",
        "share ",
        "from ",
        " all",
        " where ",
        " convolve {",
    ),
    *("A", "x1", "0", "7", "-3", "1e400", "99999999999999999999", "0.5", "true", "auto", "é", "😀"),
    *("= 3;", "hidden H9 [3] from H all;\n", "from A all; ", "[2, 3]", "Padding = true;", "“"),
)


def trial(chance: random.Random) -> Iterator[bytes]:
    """A file and a row of edits to it, each checked; sometimes one is taken back."""
    context = RESOLVING if chance.random() < 0.3 else Context()
    text = chance.choice(FILES)
    tree = parse_tree(text)
    reading = Reading.of(text)
    before = text
    for _ in range(EDITS_PER_TRIAL):
        if chance.random() < 0.2:
            after, tree = replace_all(tree, text, before)
        else:
            after, tree = edited(tree, text, chance)
        before, text = text, after
        yield text
        reading, _ = reading.edited(text, [Edit(0, len(before), text.decode())])
        assert_same(reading.specification, parse(text))
        fresh = parse_tree(text)
        if not fresh.root_node.has_error:
            assert outline(tree.root_node) == outline(fresh.root_node)
        check_all(text, context)


def edited(tree: Tree, text: bytes, chance: random.Random) -> tuple[bytes, Tree]:
    """One edit at ends of characters, and the tree after it."""
    start = boundary(text, chance.randrange(len(text) + 1))
    length = chance.choice((0, 0, 0, 1, 1, 2, 5, 20, 80))
    end = boundary(text, min(len(text), start + length))
    how = chance.random()
    if how < 0.75:
        piece = chance.choice(PIECES).encode()
    elif how < 0.9:
        other = boundary(text, chance.randrange(len(text) + 1))
        piece = text[other : boundary(text, min(len(text), other + chance.randint(1, 60)))]
    else:
        piece = text[start:end] * 2
    return apply(tree, text, start, max(start, end), piece)


def replace_all(tree: Tree, text: bytes, wanted: bytes) -> tuple[bytes, Tree]:
    """Go back to another text by one edit of the whole."""
    return apply(tree, text, 0, len(text), wanted)


def apply(tree: Tree, text: bytes, start: int, end: int, piece: bytes) -> tuple[bytes, Tree]:
    after = text[:start] + piece + text[end:]
    tree.edit(
        start_byte=start,
        old_end_byte=end,
        new_end_byte=start + len(piece),
        start_point=point(text, start),
        old_end_point=point(text, end),
        new_end_point=point(after, start + len(piece)),
    )
    return after, Parser(LANGUAGE).parse(after, tree)


def boundary(text: bytes, offset: int) -> int:
    """The end of the character that an offset lies in."""
    while offset < len(text) and text[offset] & 0xC0 == 0x80:
        offset += 1
    return offset


def point(text: bytes, offset: int) -> Point:
    """Row and column in bytes, as tree-sitter counts them."""
    return Point(text.count(b"\n", 0, offset), offset - (text.rfind(b"\n", 0, offset) + 1))


def outline(node: Node) -> list[tuple[str, int, int]]:
    """The tree in a form that two parses can be compared by."""
    found, stack = [], [node]
    while stack:
        current = stack.pop()
        found.append((current.type, current.start_byte, current.end_byte))
        stack.extend(current.children)
    return found
