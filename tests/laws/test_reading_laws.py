"""A text parsed in pieces, or followed through edits, gives what parsing the whole gives."""

from __future__ import annotations

import random
import re

import pytest

from bench.generate import netsharp
from netsharp_lsp.netsharp.meaning.doubts import Doubts
from netsharp_lsp.netsharp.reading import expression_reader, incremental
from netsharp_lsp.netsharp.reading.incremental import Reading, read_by_windows
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.netsharp.reading.sameness import same
from netsharp_lsp.netsharp.reading.specification import Specification
from netsharp_lsp.netsharp.reading.syntax import Declaration
from netsharp_lsp.netsharp.reading.windows import Window
from netsharp_lsp.text.edits import Edit, apply_edits
from netsharp_lsp.text.spans import Spans
from tests.collection import SAMPLES, Sample
from tests.laws.editing import Work, drawn_text

SEEDS = range(40)
EDITS = 14
LONG = netsharp(1500)
READ = parse(LONG)
#: `[ false  true ,true]` can be parsed in two ways; another fault after it decides which.
TORN = """hidden ConvPhase6[ 15 , 4,  4 ] rlinear from PoolCorner5 convolve{
        Sharing =  [ false  true ,true]  ; // a kernel for each map
      MapCount  = 1 ;
}
"""
TURNING = """hidden NearSignal23 [7  , 17 , 17]sigmoid
from NormCorner22 where (s  , d) => s [0]== d  [0] &&
  abs(1,2,  2  ]  ;
"""


def assert_same(found: Specification, expected: Specification) -> None:
    """Every declaration, offset, comment, foreign character, line and doubt is the same."""
    assert found.data == expected.data
    assert found.offsets == expected.offsets
    assert [*found.starts.values()] == expected.offsets
    assert all(map(same, found.declarations, expected.declarations))
    assert len(found.declarations) == len(expected.declarations)
    assert comments(found) == comments(expected)
    marks = [[(m.start, m.end, m.kind, m.text) for m in one.marks] for one in (found, expected)]
    assert marks[0] == marks[1]
    assert found.lines.starts == expected.lines.starts
    assert doubts(found) == doubts(expected)


def comments(specification: Specification) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.kind) for one in specification.comments]


def doubts(specification: Specification) -> dict[str, object]:
    """All that doubts hold, declarations by their position."""
    found = Doubts.of(specification)
    place = specification.index

    def plain(value: object) -> object:
        if isinstance(value, Spans):
            return sorted(value)
        if isinstance(value, dict):
            return {plain(key): plain(one) for key, one in value.items()}
        if isinstance(value, set | frozenset):
            return {plain(one) for one in value}
        if isinstance(value, tuple):
            return tuple(plain(one) for one in value)
        return place(value) if isinstance(value, Declaration) else value

    names = (
        "regions unread words swallowed swallowing broken nameless has_orphans may_connect foreign "
        "incomplete near"
    )
    held: dict[str, object] = {name: getattr(found, name) for name in names.split()}
    parts = "covered culprits continued ends displaced interrupting curly words"
    held |= {f"debris {name}": getattr(found.debris, name) for name in parts.split()}
    return {name: plain(value) for name, value in held.items()}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_text_read_in_stretches_is_read_as_a_whole(sample: Sample) -> None:
    for stretch in (1, 100, 1000):
        assert_same(read_by_windows(sample.text, stretch), parse(sample.text))


def test_a_long_line_is_not_read_again_for_every_stretch_that_ends_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sound = b"".join(b"input A%d [%d];\n" % (number, number + 1) for number in range(3000))
    # Nothing in it can be settled before all of it is read.
    data = sound + b"xxx " * 24_000 + b";\n" + b"input C [2];\n" * 10
    sizes: list[int] = []

    class Counted(Window):
        __slots__ = ()

        def __init__(self, text: bytes, start: int, end: int) -> None:
            sizes.append(end - start)
            super().__init__(text, start, end)

    monkeypatch.setattr(incremental, "Window", Counted)
    read_by_windows(data, 64)
    # Each window of the line is several times as long as the one before: all before the one that
    # contains the line are together shorter than it, and the last may extend beyond it.
    assert len(data) <= sum(sizes) < 3 * len(data), sizes


@pytest.mark.parametrize("seed", SEEDS)
def test_an_edited_text_is_read_as_a_fresh_one(seed: int) -> None:
    chance = random.Random(seed)
    work = Work(drawn_text(chance), chance)
    reading = Reading.of(work.text)
    assert_same(reading.specification, parse(work.text))
    for _ in range(EDITS):
        before = reading.specification.declarations
        edits = work.edits()
        reading, delta = reading.edited(work.text, edits)
        assert_same(reading.specification, parse(work.text))
        following = delta.position + len(delta.removed)
        assert before[delta.position : following] == delta.removed
        after = before[: delta.position] + delta.added + before[following:]
        assert after == reading.specification.declarations


@pytest.mark.parametrize("mark", [b";", b"{", b"[", b"]", b"}", b"=", b"("])
def test_a_broken_mark_of_a_long_text_touches_its_declaration_only(mark: bytes) -> None:
    chance = random.Random(7)
    reading = Reading.of(LONG)
    for _ in range(3):
        at = reading.data.find(mark, chance.randrange(len(LONG) * 9 // 10))
        broken = LONG[:at] + LONG[at + 1 :]
        torn, delta = reading.edited(broken, [Edit(at, at + 1, "")])
        assert len(delta.removed) <= 2
        assert_same(torn.specification, parse(broken))
        mended, delta = torn.edited(LONG, [Edit(at, at, mark.decode())])
        assert len(delta.added) <= 2
        assert_same(mended.specification, READ)


def test_edits_far_apart_are_followed_together() -> None:
    edits = [Edit(100, 103, "x"), Edit(30_000, 30_000, "hidden [3]"), Edit(50_000, 50_001, "")]
    text = apply_edits(LONG, edits)
    assert_same(Reading.of(LONG).edited(text, edits)[0].specification, parse(text))


def test_a_text_sent_again_as_a_whole_is_an_edit_of_what_differs() -> None:
    text = LONG.replace(b"Photograph", b"Photo", 1)
    reading, delta = Reading.of(LONG).edited(text, [Edit(0, len(LONG), text.decode())])
    assert len(delta.added) == 1
    assert_same(reading.specification, parse(text))
    assert reading.edited(text, [Edit(0, len(text), text.decode())])[1].added == ()


def test_a_line_beside_its_like_is_a_declaration_of_its_own() -> None:
    """What an edit left unchanged is taken over, once."""
    line = b"const Width = 28;\n"
    for count, at in ((1, 0), (1, 1), (3, 1), (3, 3)):
        reading = Reading.of(line * count)
        place = at * len(line)
        text = line * (count + 1)
        reading, _ = reading.edited(text, [Edit(place, place, line.decode())])
        assert_same(reading.specification, parse(text))
        reading, _ = reading.edited(line * count, [Edit(place, place + len(line), "")])
        assert_same(reading.specification, parse(line * count))


@pytest.mark.parametrize("lines", [5, 60, 120, 160, 180, 200, 220, 300])
def test_a_fault_turns_how_one_before_it_is_read(lines: int) -> None:
    between = netsharp(lines)
    sound = netsharp(300) + TORN.encode() + between + netsharp(100)
    at = len(sound) - len(netsharp(100))
    torn = sound[:at] + TURNING.encode() + sound[at:]
    reading = Reading.of(sound)
    reading, _ = reading.edited(torn, [Edit(at, at, TURNING)])
    assert_same(reading.specification, parse(torn))
    reading, _ = reading.edited(sound, [Edit(at, at + len(TURNING), "")])
    assert_same(reading.specification, parse(sound))


@pytest.mark.parametrize("pair", [("/*", "*/"), ("<!--", "-->"), ("<!-- <!--", "-->")])
def test_a_comment_may_begin_and_end_far_apart(pair: tuple[str, str]) -> None:
    first, last = LONG.find(b"\n", 10_000) + 1, LONG.find(b"\n", 50_000) + 1
    opened = apply_edits(LONG, [Edit(first, first, pair[0])])
    closed = apply_edits(LONG, [Edit(first, first, pair[0]), Edit(last, last, pair[1])])
    following = last + len(pair[0])
    reading = Reading.of(LONG)
    for text, edit in (
        (opened, Edit(first, first, pair[0])),
        (closed, Edit(following, following, pair[1])),
    ):
        reading, _ = reading.edited(text, [edit])
        assert_same(reading.specification, parse(text))
    for text in (opened, LONG):
        reading, _ = reading.edited(text, [Edit(0, len(reading.data), text.decode())])
        assert_same(reading.specification, parse(text))


def test_plain_tuples_are_read_as_their_nodes_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read from the text of a tuple is what its nodes, walked one by one, would give."""
    chance = random.Random(20151)
    pieces = [
        "[",
        "]",
        ",",
        "0",
        "12",
        "007",
        "1.5",
        "-1",
        "true",
        "false",
        "TRUE",
        "x",
        "2x",
        "[1]",
        "(",
        ")",
        ";",
        ".",
        "\n",
        "//",
        "/**/",
        "\t",
        "é",
    ]
    drawn = (" ".join(chance.choices(pieces, k=8)) for _ in range(1500))
    made = [f"const {{ a = [{text}]; b = [1, true ,false]; }}\n" for text in drawn]
    made += [f"const a = {'(' * deep}[[true, 1]]{')' * deep};" for deep in range(195, 202)]
    texts = [one.data for one in SAMPLES] + [LONG] + [one.encode() for one in made]
    found = [parse(text) for text in texts]
    monkeypatch.setattr(expression_reader, "PLAIN_TUPLE", re.compile(b"(?!)"))
    for text, one in zip(texts, found, strict=True):
        assert_same(one, parse(text))
