"""The findings in texts broken as people break them: there is always one.

`expected.json` beside the texts was read line by line: each finding is one that its author
would want, and none is missing.  `pytest --update` rewrites it; read it again then.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tree_sitter import Node

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.fixes import fix_all
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_by_id
from netsharp_lsp.netsharp.reading.grammar import parse_tree
from netsharp_lsp.text.lines import LineIndex
from tests.collection import FRAGMENTS

CORPUS = Path(__file__).parent.parent / "corpus"
BROKEN = sorted((CORPUS / "broken").glob("*.nn"))
WHOLE = sorted([*(CORPUS / "valid").glob("*.nn"), *(CORPUS / "guide").glob("*.nn")])
EXPECTED = CORPUS / "broken" / "expected.json"
NETSHARP = language_by_id("netsharp")
WORDS = (
    b"const input hidden output share from all where convolve max pool response norm auto true "
    b'X 3 1.5 { } [ ] ( ) , ; = => == < + - * : . # @ " /*'
).split()


def text_of(path: Path) -> bytes:
    """The text as the checker gets it: UTF-8 without a mark."""
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    return data.decode("utf-8", "replace").encode("utf-8")


def found(text: bytes) -> list[Diagnostic]:
    return examine(NETSHARP, LineIndex(text), Context(), Selection())


def reported(text: bytes) -> list[str]:
    """`line:column CODE` of every diagnostic but the hints."""
    lines = LineIndex(text)
    spots = ((*lines.position(d.start), d.code) for d in found(text) if d.severity != "hint")
    return [f"{line}:{column} {code}" for line, column, code in spots]


def errors(text: bytes) -> list[Diagnostic]:
    return [diagnostic for diagnostic in found(text) if diagnostic.severity == "error"]


def leaves(node: Node) -> Iterator[Node]:
    if not node.child_count:
        yield node
    for child in node.children:
        yield from leaves(child)


def is_faulty(text: bytes) -> bool:
    """Whether the tree holds an error, or a token that is not in the text."""
    root = parse_tree(text).root_node
    return root.has_error or any(
        leaf.start_byte == leaf.end_byte and leaf is not root for leaf in leaves(root)
    )


def tokens(text: bytes) -> list[tuple[int, int]]:
    return [
        (leaf.start_byte, leaf.end_byte)
        for leaf in leaves(parse_tree(text).root_node)
        if leaf.end_byte > leaf.start_byte and "comment" not in leaf.type
    ]


def damaged(text: bytes, source: random.Random) -> bytes:
    """A text with one token deleted, doubled, or put in."""
    start, end = source.choice(tokens(text))
    if (how := source.randrange(3)) == 0:
        return text[:start] + text[end:]
    word = text[start:end] if how == 1 else source.choice(WORDS)
    return text[:start] + word + b" " + text[start:]


def test_broken_texts_give_what_was_reviewed(update: bool) -> None:
    now = {path.stem: reported(text_of(path)) for path in BROKEN}
    if update:
        EXPECTED.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    assert now == json.loads(EXPECTED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_every_broken_text_has_an_error(path: Path) -> None:
    assert errors(text_of(path))


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_safe_fixes_reach_an_end_and_leave_fewer_errors(path: Path) -> None:
    text = text_of(path)
    fixed = fix_all(text, found)
    assert fixed.rounds < 10
    assert len(errors(fixed.text)) <= len(errors(text))


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_whole_texts_give_no_error_and_no_warning(path: Path) -> None:
    allowed = FRAGMENTS.get(path.stem, set()) if path.parent.name == "guide" else set()
    severe = [d for d in found(text_of(path)) if d.severity in ("error", "warning")]
    assert {d.code for d in severe} == allowed
    assert len(severe) == len(allowed)


@pytest.mark.parametrize("path", [*WHOLE, *BROKEN], ids=lambda path: path.stem)
def test_damage_never_goes_unsaid(path: Path, seed: int) -> None:
    text = text_of(path)
    source = random.Random(f"{seed} {path.stem}")
    for _ in range(12 if tokens(text) else 0):
        edited = damaged(text, source)
        if is_faulty(edited):
            assert errors(edited), edited.decode("utf-8", "replace")
        else:
            found(edited)
