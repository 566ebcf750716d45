"""Two configurations compared by what they evaluate to."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.meaning.comparison import changes
from tests.cntk.texts import TEXTS, configuration

PAIRS = [
    ("a=1", "A = 1 # same", []),
    ("a=1", "a=2", [("changed", "a")]),
    ("a=1", "b=1", [("added", "b"), ("removed", "a")]),
    ("t=[x=1;y=2]", "t={y=2\nx=1}", []),
    ("t=[x=1;u=[y=2]]", "t=[x=1;u=[y=3;z=4]]", [("changed", "t.u.y"), ("added", "t.u.z")]),
    ("r=1\na=$r$", "r=2\na=$r$", [("changed", "r"), ("changed", "a")]),
    ("r=1\na=$r$", "a=1", [("removed", "r")]),
    ("a=$r$", "a=$q$", [("changed", "a")]),
    ("a=$r$", "a=$r$", []),
    ('a="x"', "a=x", []),
    ("a=( { x = 1 ; y = [z=2] } : {u=3} )", "a=({x=1; y=[ z = 2 ]}:{\n  u = 3\n})", []),
    ("a=(\n  { x=1\n    y=2 }\n)", "a=({ x=1\n y=2 })", []),
    ('a=( { x="1 2" } )', 'a=( { x="1  2" } )', [("changed", "a")]),
    ("a=({x=1 2})", "a=({x=12})", [("changed", "a")]),
]


@pytest.mark.parametrize(("before", "after", "expected"), PAIRS)
def test_what_differs(before: str, after: str, expected: list[tuple[str, str]]) -> None:
    found = changes(configuration(before), configuration(after))
    assert [(change.kind, change.path) for change in found] == expected


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_differs_from_itself(name: str) -> None:
    assert not changes(configuration(TEXTS[name]), configuration(TEXTS[name]))
