"""Which codes are wanted: the more specific prefix wins, and a tie is ignored."""

from __future__ import annotations

import pytest

from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.selection import Selection, split_codes, unknown_prefix

CODES = ("NS001", "NS010", "NS074", "NS075", "NS126")


@pytest.mark.parametrize(
    ("select", "ignore", "wanted"),
    [
        ([], [], CODES),
        (["ALL"], [], CODES),
        (["NS07"], [], ("NS074", "NS075")),
        ([], ["NS07"], ("NS001", "NS010", "NS126")),
        (["NS07"], ["NS074"], ("NS075",)),
        (["NS074"], ["NS07"], ("NS074",)),
        (["NS074"], ["NS074"], ()),
        (["NS0"], ["ALL"], ("NS001", "NS010", "NS074", "NS075")),
        (["NS001", "NS126"], [], ("NS001", "NS126")),
        ([], ["ALL"], ()),
    ],
)
def test_selection(select: list[str], ignore: list[str], wanted: tuple[str, ...]) -> None:
    selection = Selection(select, ignore)
    assert tuple(code for code in CODES if selection.wants(code)) == wanted
    diagnostics = [Diagnostic(code, "error", "m", 0, 0) for code in CODES]
    assert tuple(d.code for d in selection.filter(diagnostics)) == wanted


@pytest.mark.parametrize(
    ("weaker", "stronger", "wanted"),
    [
        ((["NS07"], []), ([], ["NS075"]), ("NS074",)),
        ((["NS074"], []), ([], ["NS07"]), ()),
        (([], ["NS074"]), (["NS074"], []), ("NS074",)),
        (([], ["NS074"]), (["NS07"], []), ("NS075",)),
        ((["NS001"], []), (["NS126"], []), ("NS126",)),
        ((["NS001"], []), ([], []), ("NS001",)),
        (([], ["ALL"]), (["NS001"], []), ("NS001",)),
    ],
)
def test_flags_are_stronger_than_settings(
    weaker: tuple[list[str], list[str]],
    stronger: tuple[list[str], list[str]],
    wanted: tuple[str, ...],
) -> None:
    selection = Selection(*weaker).then(*stronger)
    assert tuple(code for code in CODES if selection.wants(code)) == wanted


def test_options_hold_several_codes() -> None:
    assert split_codes(["NS001, NS07", "", "NS126,"]) == ("NS001", "NS07", "NS126")


@pytest.mark.parametrize(
    ("prefixes", "sentence"),
    [
        (["NS07", "ALL", "NS126", "N"], None),
        (["NS7"], "'NS7' is not a code, nor the start of one."),
        (["NS047"], "'NS047' is not a code, nor the start of one. Did you mean 'NS074'?"),
        (["ns001"], "'ns001' is not a code, nor the start of one. Did you mean 'NS001'?"),
    ],
)
def test_a_prefix_must_begin_a_code(prefixes: list[str], sentence: str | None) -> None:
    assert unknown_prefix(prefixes, CODES) == sentence
