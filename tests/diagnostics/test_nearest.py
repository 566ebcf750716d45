"""Spelling suggestions: what a person most likely meant, and nothing where nothing is close."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.diagnostics.nearest import (
    LONGEST,
    Candidates,
    edit_distance,
    nearest,
    suggestion,
)

LAW = settings(max_examples=200, deadline=None, derandomize=True)
WORDS = st.text("abcD1", max_size=7)
SECTIONS = ("const", "input", "hidden", "output", "share")


@pytest.mark.parametrize(
    ("word", "candidates", "expected"),
    [
        ("ouput", SECTIONS, "output"),
        ("Hidden", SECTIONS, "hidden"),
        ("hiden", SECTIONS, "hidden"),
        ("inptu", SECTIONS, "input"),
        ("KernalShape", ("InputShape", "KernelShape", "Stride"), "KernelShape"),
        ("Dta", ("Data", "Date"), "Data"),
        ("NS99", ("NS098", "NS099"), "NS099"),
        ("quite different", SECTIONS, None),
        ("x", ("y",), None),
        ("x", ("X",), "X"),
        ("", SECTIONS, None),
        ("input", ("input",), None),
    ],
)
def test_suggestions(word: str, candidates: tuple[str, ...], expected: str | None) -> None:
    assert nearest(word, candidates) == expected


@LAW
@given(WORDS, st.lists(WORDS))
def test_names_that_many_words_are_compared_with_answer_alike(word: str, names: list[str]) -> None:
    assert nearest(word, Candidates(names)) == nearest(word, names)


def test_a_suggestion_is_a_question_to_append() -> None:
    assert suggestion("ouput", SECTIONS) == " Did you mean 'output'?"
    assert suggestion("zzz", SECTIONS) == ""


@LAW
@given(WORDS, WORDS)
def test_the_distance_is_symmetric_and_zero_only_for_equal_words(first: str, second: str) -> None:
    distance = edit_distance(first, second, 99)
    assert distance == edit_distance(second, first, 99)
    assert (distance == 0) == (first == second)
    assert abs(len(first) - len(second)) <= distance <= max(len(first), len(second))


@LAW
@given(WORDS, WORDS, st.integers(1, 6))
def test_a_limit_only_cuts_off(first: str, second: str, limit: int) -> None:
    assert edit_distance(first, second, limit) == min(limit, edit_distance(first, second, 99))


def test_words_that_no_one_types_are_taken_as_they_are() -> None:
    longest = "x" * LONGEST
    assert nearest(f"{longest[1:]}y", [longest]) == longest
    assert nearest(f"{longest}y", [f"{longest}z"]) is None
    assert nearest(f"{longest}y", [f"{longest}Y"]) == f"{longest}Y"
