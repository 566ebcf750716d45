"""A baseline knows diagnostics by code and line text, so that edits elsewhere do not matter."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.baseline import (
    Baseline,
    BaselineError,
    read_baseline,
    write_baseline,
)
from netsharp_lsp.text.lines import LineIndex
from tests.diagnostics.toy import TOY

LAW = settings(max_examples=200, deadline=None, derandomize=True)
LINES = st.lists(
    st.sampled_from(["bad", "  bad", "bad bad", "worse bad", "good", "", "todo ü"]), max_size=8
)


def known_after(before: bytes) -> Baseline:
    baseline = Baseline()
    baseline.record("a", LineIndex(before), TOY.check(before, Context()).diagnostics)
    return baseline


def new_in(baseline: Baseline, text: bytes) -> list[tuple[str, int]]:
    diagnostics = TOY.check(text, Context()).diagnostics
    return [(d.code, d.start) for d in baseline.new("a", LineIndex(text), diagnostics)]


@LAW
@given(LINES, st.lists(st.sampled_from(["good", "x", ""]), max_size=4), st.integers(0, 8))
def test_clean_lines_put_in_anywhere_change_nothing(
    lines: list[str], clean: list[str], at: int
) -> None:
    baseline = known_after("\n".join(lines).encode())
    longer = "\r\n".join([*lines[:at], *clean, *lines[at:]]).encode()
    assert new_in(baseline, longer) == []


@LAW
@given(LINES)
def test_one_more_of_a_known_diagnostic_is_new(lines: list[str]) -> None:
    baseline = known_after("\n".join(lines).encode())
    text = "\n".join([*lines, "bad"]).encode()
    assert new_in(baseline, text) == [("TY001", len(text) - 3)]


@LAW
@given(LINES)
def test_what_is_written_is_read(lines: list[str]) -> None:
    baseline = known_after("\n".join(lines).encode())
    again = read_baseline(write_baseline(baseline))
    assert isinstance(again, Baseline)
    assert again.files == baseline.files
    assert write_baseline(again) == write_baseline(baseline)


def test_a_diagnostic_on_an_edited_line_is_new() -> None:
    baseline = known_after(b"bad # old")
    assert new_in(baseline, b"   bad # old") == []
    assert new_in(baseline, b"bad # new") == [("TY001", 0)]


def test_other_files_are_not_known_and_cleaned_ones_are_forgotten() -> None:
    baseline = known_after(b"bad")
    lines = LineIndex(b"bad")
    diagnostics = TOY.check(b"bad", Context()).diagnostics
    assert baseline.new("b", lines, diagnostics) == diagnostics
    baseline.record("a", lines, [])
    assert baseline.files == {}
    assert json.loads(write_baseline(baseline)) == {"version": 1, "diagnostics": []}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not JSON"),
        ("[]", "not a baseline of version 1"),
        ('{"version": 2, "diagnostics": []}', "not a baseline of version 1"),
        ('{"version": 1}', "entries must have"),
        ('{"version": 1, "diagnostics": [1]}', "entries must have"),
        (
            '{"version": 1, "diagnostics": [{"file": "a", "code": "b", "line": "c", "count": 0}]}',
            "must",
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_an_error(text: str, reason: str) -> None:
    error = read_baseline(text)
    assert isinstance(error, BaselineError)
    assert reason in error.message


def test_a_baseline_nested_without_end_is_a_fault() -> None:
    assert isinstance(read_baseline("[" * 100_000), BaselineError)
