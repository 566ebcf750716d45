"""Comparing networks: how two of them differ, and how it is reported."""

from __future__ import annotations

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.compare import Comparison, compare
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse

TWINS = "input I [2]; hidden H [3] from I all; hidden G [3] from I all; "
BOTH = TWINS + "output O [1] { from H all; from G all; }"


def compared(before: str, after: str) -> Comparison:
    left, right = (resolve(parse(text.encode()), Context()) for text in (before, after))
    return compare(left, right)


def differences(comparison: Comparison) -> list[tuple[str, str]]:
    return [(each.change, each.name) for each in comparison.differences]


def test_two_layers_alike_are_not_one_used_twice() -> None:
    once = TWINS + "output O [1] { from H all; from H all; }"
    comparison = compared(BOTH, once)
    assert not comparison.same
    assert differences(comparison) == [("removed", "G => O"), ("added", "H => O")]


@pytest.mark.parametrize(
    "other",
    [
        TWINS + "output O [1] { from G all; from H all; }",
        BOTH.replace("H", "X").replace("G", "H").replace("X", "G"),
        "output O [1] { from H all; from G all; } " + TWINS,
    ],
)
def test_layers_alike_may_change_places(other: str) -> None:
    assert compared(BOTH, other).same


def test_a_renamed_layer_is_paired_with_the_one_that_is_used_alike() -> None:
    used = TWINS + "hidden U [4] from G all; output O [1] { from H all; from U all; }"
    names = {"H": "First", "G": "Second"}
    renamed = used
    for old, new in names.items():
        renamed = renamed.replace(f"{old} ", f"{new} ")
    swapped = renamed.replace("hidden First", "hidden X").replace("hidden Second", "hidden First")
    comparison = compared(used, swapped.replace("hidden X", "hidden Second"))
    assert comparison.same
    found = {each.before: each.after for each in comparison.differences}
    assert found == names
