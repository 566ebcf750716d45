"""Counts before the data is known: the formulas give what `describe` says once it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.ide.meanings.counting import layer_equation, rounded
from netsharp_lsp.netsharp.ide.meanings.formulas import (
    SYMBOLS,
    Formula,
    layer_parameters,
    multiply_adds_of,
    nodes_of,
    total,
)
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse
from tests.collection import RESOLVING, SAMPLES, Sample

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPLETE = [sample for sample in SAMPLES if sample.complete]
N, H, K = (Formula.symbol(name) for name in SYMBOLS)
VALUES = {"n": RESOLVING.features, "h": RESOLVING.hidden_nodes, "k": RESOLVING.outputs}


def number(value: int) -> Formula:
    return Formula.number(value)


def value_of(formula: Formula | None, values: Mapping[str, int | None]) -> int | None:
    """The value of a formula."""
    if formula is None:
        return None
    result = 0
    for powers, coefficient in formula.terms.items():
        term = coefficient
        for name, power in zip(SYMBOLS, powers, strict=True):
            term *= (values[name] or 0) ** power
        result += term
    return result


@pytest.mark.parametrize("sample", COMPLETE, ids=lambda sample: sample.name)
def test_formulas_come_to_what_is_described(sample: Sample) -> None:
    unknown = resolve(parse(sample.text), Context())
    described = describe_network(resolve(parse(sample.text), RESOLVING))
    for layer, known in zip(unknown.all_layers, described["layers"], strict=True):
        assert value_of(nodes_of(layer, unknown), VALUES) == known["nodes"]
        if layer.trainable:
            assert value_of(layer_parameters(layer, unknown), VALUES) == known["parameters"]
            costs = total(multiply_adds_of(bundle, unknown) for bundle in layer.bundles)
            sums = [bundle["multiply_adds"] for bundle in known["bundles"]]
            assert value_of(costs, VALUES) == (None if None in sums else sum(sums))


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (number(200) * (N + number(1)), "200 (n + 1)"),
        (H * (N + number(1)), "h (n + 1)"),
        (number(200) * N + number(2210), "200 n + 2,210"),
        (N + number(-35), "n - 35"),
        (number(2) * N * N + number(4) * N, "2 n (n + 2)"),
        (number(3) * H * K + number(6) * K, "3 k (h + 2)"),
        (N + N, "2 n"),
        (number(1_300), "1,300"),
        (Formula({}), "0"),
        (N + number(-1) * N, "0"),
    ],
)
def test_formulas_as_people_write_them(formula: Formula, text: str) -> None:
    assert str(formula) == text


def test_the_guides_first_network_without_data() -> None:
    text = b"input Data auto; hidden H [200] from Data all; output Out [10] sigmoid from H all;"
    network = resolve(parse(text), Context())
    equations = [layer_equation(layer, network) for layer in network.all_layers[1:]]
    assert equations == ["n x 200 + 200 biases = 200 (n + 1)", "200 x 10 + 10 biases = 2,010"]


def test_large_counts_are_rounded() -> None:
    counts = (0, 999_999, 1_000_000, 1_234_567, 15_700_000, 999_600_000, 1_200_000_000, 10**15)
    assert [rounded(count) for count in counts] == [
        "0",
        "999,999",
        "1 M",
        "1.23 M",
        "15.7 M",
        "1 G",
        "1.2 G",
        "1,000 T",
    ]
