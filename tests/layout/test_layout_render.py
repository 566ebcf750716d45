"""The layout algebra: groups, fills, nesting, forced breaks and comments at the end of lines."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.layout.document import (
    HARDLINE,
    LINE,
    SOFTLINE,
    Concat,
    Fill,
    Group,
    Nest,
    Trailing,
    is_forced,
)
from netsharp_lsp.layout.render import render, text_width

if TYPE_CHECKING:
    from netsharp_lsp.layout.document import Document

WORDS = st.text("abcdefghé", min_size=1, max_size=9).map(str.encode)
BREAKS = st.sampled_from((LINE, SOFTLINE))


def _compound(inner: st.SearchStrategy[Document]) -> st.SearchStrategy[Document]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=5).map(Concat),
        inner.map(Group),
        st.tuples(st.integers(0, 4), inner).map(lambda pair: Nest(*pair)),
        st.lists(inner, min_size=1, max_size=5).map(lambda parts: Fill(_apart(parts))),
    )


def _apart(contents: list[Document]) -> list[Document]:
    parts: list[Document] = []
    for content in contents:
        parts += (content, LINE)
    return parts[:-1]


DOCUMENTS: st.SearchStrategy[Document] = st.recursive(
    st.one_of(WORDS, BREAKS, st.just(HARDLINE)), _compound, max_leaves=30
)
SOFT_DOCUMENTS = DOCUMENTS.filter(lambda document: not is_forced(document))


def words_of(document: Document) -> bytes:
    """All texts of a document, one after the other."""
    if isinstance(document, bytes):
        return document
    if isinstance(document, (Concat, Fill)):
        return b"".join(map(words_of, document.parts))
    if isinstance(document, (Group, Nest)):
        return words_of(document.content)
    return b""


@settings(max_examples=200, derandomize=True, deadline=None)
@given(DOCUMENTS, st.integers(1, 40))
def test_nothing_is_lost_at_any_width(document: Document, width: int) -> None:
    assert b"".join(render(document, width).split()) == words_of(document)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(SOFT_DOCUMENTS)
def test_a_group_that_fits_stays_on_one_line(document: Document) -> None:
    flat = render(Group(document), 10**6)
    assert b"\n" not in flat
    assert render(Group(document), text_width(flat)) == flat
    assert b"\n" not in render(Group(document), text_width(flat))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=40), st.integers(1, 30), st.integers(0, 6))
def test_a_fill_of_texts_is_filled_like_any_other(
    words: list[bytes], width: int, columns: int
) -> None:
    texts = Nest(columns, Fill(_apart(list(words))))
    wrapped = Nest(columns, Fill(_apart([Concat((word,)) for word in words])))
    assert render(texts, width) == render(wrapped, width)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=40), st.integers(12, 40))
def test_a_fill_is_greedy(words: list[bytes], width: int) -> None:
    lines = render(Fill(_apart(list(words))), width).split(b"\n")
    assert b" ".join(lines) == b" ".join(words)
    assert max(map(text_width, lines)) <= width
    for line, following in itertools.pairwise(lines):
        assert text_width(line) + 1 + text_width(following.split(b" ")[0]) > width


def test_a_group_breaks_all_its_breaks_or_none() -> None:
    list_ = Group(Concat((b"[", Nest(2, Concat((SOFTLINE, b"a,", LINE, b"b"))), SOFTLINE, b"]")))
    assert render(list_, 6) == b"[a, b]"
    assert render(list_, 5) == b"[\n  a,\n  b\n]"


def test_what_follows_a_group_must_fit_too() -> None:
    document = Concat((Group(Concat((b"aaa", LINE, b"bbb"))), b";;"))
    assert render(document, 9) == b"aaa bbb;;"
    assert render(document, 8) == b"aaa\nbbb;;"


def test_the_last_text_of_a_fill_leaves_room_for_what_follows() -> None:
    document = Concat((Fill((b"aaa", LINE, b"bbb")), b"];"))
    assert render(document, 9) == b"aaa bbb];"
    assert render(document, 8) == b"aaa\nbbb];"


def test_a_forced_break_breaks_every_group_around_it() -> None:
    document = Group(Concat((b"a", LINE, Group(Concat((b"b", HARDLINE, b"c"))))))
    assert render(document, 80) == b"a\nb\nc"


def test_a_trailing_comment_takes_no_room_and_breaks() -> None:
    comment = Trailing(b" // as long as it likes to be")
    document = Group(Concat((b"a,", comment, LINE, b"b")))
    assert render(document, 8) == b"a, // as long as it likes to be\nb"


def test_a_text_of_several_lines_breaks_its_group_and_is_measured_from_its_last() -> None:
    document = Concat(
        (Group(Concat((b"a", LINE, b"/*\n*/"))), b" ", Group(Concat((b"b", LINE, b"c"))))
    )
    assert render(document, 6) == b"a\n/*\n*/ b c"


def test_new_lines_are_indented_and_spelt_as_requested() -> None:
    document = Nest(2, Concat((b"a", HARDLINE, b"b")))
    assert render(document, 80, indent=4, column=4, new_line=b"\r\n") == b"a\r\n      b"


def test_width_counts_code_points() -> None:
    assert text_width("größe".encode()) == 5
    assert render(Group(Concat(("größe".encode(), LINE, b"b"))), 7) == "größe b".encode()


def test_depth_is_no_danger() -> None:
    document: Document = b"x"
    for _ in range(20_000):
        document = Group(Concat((b"(", Nest(1, Concat((SOFTLINE, document))), b")")))
    assert render(document, 10**6) == b"(" * 20_000 + b"x" + b")" * 20_000
