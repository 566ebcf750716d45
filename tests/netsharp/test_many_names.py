"""Of very many names a bounded number is proposed: those that match, the nearest above first."""

from __future__ import annotations

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.ide.answers import Completions
from netsharp_lsp.netsharp import LANGUAGE
from netsharp_lsp.netsharp.ide.completion.nearness import MOST

LAYERS = 900


def chain(layers: int) -> list[str]:
    """A chain of layers, a line each."""
    lines = ["input Data [8];"]
    for number in range(layers):
        source = f"Hidden{number - 1}" if number else "Data"
        lines.append(f"hidden Hidden{number} [8] rlinear from {source} all;")
    return [*lines, f"output Result [2] softmax from Hidden{layers - 1} all;"]


def proposed(text: str) -> Completions:
    """What may be written at the bar of a text."""
    at = text.index("|")
    snapshot = LANGUAGE.open((text[:at] + text[at + 1 :]).encode(), Context())
    return snapshot.complete(len(text[:at].encode()))


def labels(found: Completions) -> list[str]:
    return [item.label for item in found.items]


def reading(number: int, typed: str) -> Completions:
    """What may be written where one layer of many names its source."""
    lines = chain(LAYERS)
    lines[number + 1] = f"hidden Hidden{number} [8] rlinear from {typed}| all;"
    return proposed("\n".join(lines))


def test_few_names_are_all_proposed_whatever_is_typed() -> None:
    lines = chain(MOST - 2)
    lines[-1] = "output Result [2] softmax from zz| all;"
    found = proposed("\n".join(lines))
    assert labels(found) == [*(f"Hidden{n}" for n in range(MOST - 3, -1, -1)), "Data"]
    assert not found.incomplete


def test_of_many_layers_the_nearest_above_come_first() -> None:
    found = reading(500, "")
    assert labels(found) == [f"Hidden{n}" for n in range(499, 499 - MOST, -1)]
    assert found.incomplete


def test_what_is_typed_reaches_far_names() -> None:
    found = reading(500, "hidden3")
    assert labels(found)[:111] == [
        "Hidden3",
        *(f"Hidden{n}" for n in range(399, 299, -1)),
        *(f"Hidden{n}" for n in range(39, 29, -1)),
    ]
    assert found.incomplete
    assert labels(reading(500, "Hidden77"))[:2] == ["Hidden77", "Hidden477"]
    assert labels(reading(500, "dat")) == ["Data"]
    assert labels(reading(500, "H42"))[:3] == ["Hidden492", "Hidden482", "Hidden472"]
    assert labels(reading(500, "nothing_like_it")) == []


def test_of_many_layers_none_that_the_layer_feeds_is_proposed() -> None:
    """The chain after it depends on the layer; a separate layer does not, and may be read."""
    lines = chain(LAYERS)
    lines[11] = "hidden Hidden10 [8] rlinear from | all;"
    lines.append("hidden Apart [8] rlinear from Hidden3 all;")
    found = proposed("\n".join(lines))
    assert labels(found) == [*(f"Hidden{n}" for n in range(9, -1, -1)), "Data", "Apart"]
    assert not found.incomplete


def test_a_circle_is_kept_out_where_layers_read_downwards() -> None:
    lines = chain(LAYERS)
    lines[1] = "hidden Hidden0 [8] rlinear from Hidden300 all;"
    lines[401] = "hidden Hidden400 [8] rlinear from Hidden39| all;"
    assert "Hidden399" in labels(proposed("\n".join(lines)))
    lines[401] = "hidden Hidden400 [8] rlinear from Hidden399 all;"
    lines[301] = "hidden Hidden300 [8] rlinear from Hidden| all;"
    assert labels(proposed("\n".join(lines))) == ["Data"]


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        ("{constants}input Data [C12| ];", ["C12", "C799"]),
        ("{constants}input Data [ | ];", ["C799", "C798"]),
        ("{constants}const More = | ;", ["C799", "C798"]),
    ],
    ids=["typed", "size", "constant"],
)
def test_of_many_constants_the_nearest_above_come_first(text: str, begin: list[str]) -> None:
    constants = "".join(f"const C{number} = {number + 1};\n" for number in range(800))
    found = proposed(text.replace("{constants}", constants))
    names = [item.label for item in found.items if item.kind == "constant"]
    assert names[0] == begin[0]
    assert len(names) <= MOST
    assert found.incomplete
    if begin[1] not in names:
        assert all("1" in name and "2" in name for name in names)


def test_shares_of_many_layers_are_bounded() -> None:
    found = proposed("\n".join([*chain(LAYERS), "share { | }"]))
    assert labels(found)[:2] == ["Result", f"Hidden{LAYERS - 1}"]
    assert 0 < len(found.items) <= 3 * MOST
    assert found.incomplete
    typed = proposed("\n".join([*chain(LAYERS), "share { Hidden0, Hidden55| }"]))
    assert "Hidden55" in labels(typed)
