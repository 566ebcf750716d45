"""The rule of the first number sign."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.comments import code_span
from tests.cntk.texts import configuration, shown

LINES = [
    ("a = 1", "a = 1"),
    ("", ""),
    ("  \t", ""),
    ("# all", ""),
    (" \t# all", ""),
    ("a = 1 # note", "a = 1 "),
    ("  a = 1 # note", "a = 1 "),
    ("  a = 1", "  a = 1"),
    ("v=1#INF", "v=1#INF"),
    ("v=1#INF # note", "v=1#INF # note"),
    ('v="a #b"', 'v="a '),
    ("v=a\t#b", "v=a\t"),
    ("v = 1 // no comment", "v = 1 // no comment"),
]


@pytest.mark.parametrize(("line", "code"), LINES)
def test_what_is_left_of_a_line(line: str, code: str) -> None:
    start, end = code_span(line.encode())
    assert line[start:end] == code


def test_the_rule_runs_again_at_every_look_up() -> None:
    assert shown(configuration("a=#b\n")) == {"a": ""}
    assert shown(configuration("", "a=x #y")) == {"a": "x "}
    assert shown(configuration("", 'a="x #y"')) == {"a": "x "}


def test_a_comment_in_a_block_goes_with_its_line() -> None:
    text = "a = [\n  b = 1 # one\n  # nothing\n  c = 2\n]\n"
    assert shown(configuration(text))["a"] == "[\nb = 1 \n  c = 2\n]"
