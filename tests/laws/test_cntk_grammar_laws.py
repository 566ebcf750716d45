"""The laws of the grammars for CNTK's languages, over every file of the corpus.

`CNTK_EDITS=N` tries N edits per file in place of the sample.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest
from tree_sitter import Node, Tree

from tests.cntk.collection import FILES, CntkFile
from tests.cntk.trees import PARSERS, faults, nodes, parse
from tests.laws.cntk_recovery import (
    blocks,
    declarations,
    edits,
    leaves_and_gaps,
    lost,
    outside,
)

VALID = [file for file in FILES if not file.broken]
EDITS = int(os.environ.get("CNTK_EDITS", "60"))
FORMS: dict[str, Callable[[bytes], bytes]] = {
    "lf": lambda text: text,
    "crlf": lambda text: text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "marked": lambda text: b"\xef\xbb\xbf" + text.removeprefix(b"\xef\xbb\xbf"),
}
#: Blanks that belong to no leaf; a byte-order mark is one, at the start of any line.
BLANKS = set(b" \t\f\v\r\n\xef\xbb\xbf")
PIECES = {
    "brainscript": b" |\n|;|}|{|x = |(|)|[|]|, |# x\n|/*|*/|'|\"|=|if |1..|.|**".split(b"|"),
    "cntk": b' |\n|;|}|{|x = |(|)|[|]|, | # x\n|#|"|=|F(|BrainScriptNetworkBuilder = {|:'.split(
        b"|"
    ),
}


def every(form: str) -> list[tuple[CntkFile, bytes]]:
    return [(file, FORMS[form](file.data)) for file in FILES]


@pytest.mark.parametrize("form", FORMS)
def test_valid_files_have_no_fault(form: str) -> None:
    for file, text in every(form):
        if not file.broken:
            assert faults(file.language, text) == [], file.name


@pytest.mark.parametrize("form", FORMS)
def test_leaves_and_what_lies_between_are_the_text(form: str) -> None:
    for file, text in every(form):
        assert leaves_and_gaps(text, file.language) == text, file.name
        covered = {
            at
            for node in nodes(parse(file.language, text))
            if not node.child_count
            for at in range(node.start_byte, node.end_byte)
        }
        bare = [at for at in range(len(text)) if at not in covered and text[at] not in BLANKS]
        assert not bare or parse(file.language, text).has_error, (file.name, text[bare[0] :][:20])


def test_line_ends_and_a_mark_change_no_tree() -> None:
    for file in VALID:
        kinds = {
            form: [node.type for node in nodes(parse(file.language, change(file.data)))]
            for form, change in FORMS.items()
        }
        assert kinds["lf"] == kinds["crlf"] == kinds["marked"], file.name


def shape(root: Node) -> list[tuple[str, int, int, bool]]:
    return [(node.type, node.start_byte, node.end_byte, node.is_missing) for node in nodes(root)]


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


def boundary(text: bytes, at: int) -> int:
    """The start of a character: an editor splits none."""
    while at < len(text) and 0x80 <= text[at] < 0xC0:
        at += 1
    return at


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_incremental_parse_is_a_fresh_one(file: CntkFile, form: str) -> None:
    chance = random.Random(f"{file.name} {form}")
    text = FORMS[form](file.data)
    parser = PARSERS[file.language]
    tree = parser.parse(text)
    for _ in range(12):
        start = boundary(text, chance.randrange(len(text) + 1))
        end = boundary(text, min(len(text), start + chance.choice((0, 0, 1, 2, 9))))
        text = edited(tree, text, start, end, chance.choice(PIECES[file.language]))
        tree = parser.parse(text, tree)
        fresh = parse(file.language, text)
        if not fresh.has_error:
            assert shape(tree.root_node) == shape(fresh), text


def test_no_text_of_a_configuration_confuses_its_parser() -> None:
    chance = random.Random(5)
    for file in FILES:
        if file.language == "cntk":
            for edit in edits("cntk", file.data, chance, 30):
                assert not parse("cntk", edit.apply(file.data)).has_error, (file.name, edit)


@pytest.mark.costly
def test_one_token_costs_no_other_declaration(capsys: pytest.CaptureFixture[str]) -> None:
    """All tokens but the exempt ones; of those at most a tenth costs more than its own block.

    Two edits in a thousand are beyond what can be decided from the text: in `c = a + b = d` either
    a name or a value is gone.
    """
    tried = costly = exempt = beyond = 0
    for file in VALID:
        chance = random.Random(file.name)
        before = declarations(file.language, file.data)
        around = blocks(file.language, file.data)
        for edit in edits(file.language, file.data, chance, EDITS):
            after = edit.apply(file.data)
            if not edit.exempt:
                tried += 1
                costly += bool(lost(file.language, before, after, edit))
                continue
            exempt += 1
            beyond += bool(lost(file.language, outside(before, around, edit), after, edit))
    rate, share = beyond / exempt, costly / tried
    with capsys.disabled():
        print(f"\n{costly} of {tried} edits cost another declaration ({share:.2%})")
        print(f"{beyond} of {exempt} exempt ones cost more than their block ({rate:.2%})")
    assert share <= 0.002
    assert rate <= 0.10
