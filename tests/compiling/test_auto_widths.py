"""Widths that are looked for where a gate is not met: what is proposed passes when asked for."""

from __future__ import annotations

from typing import Any

import pytest

import netsharp
from netsharp_compile.widths import OperandWidth
from tests.compiling.networks import DEEP, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def _flags(made: Any) -> dict[str, Any]:
    found = made.report.proposal
    weights = {} if found.weights is None else {"weights": found.weights}
    return {"layers": dict(found.layers), **weights}


@pytest.mark.parametrize("allowed", [1.0, 0.3, 0.1])
def test_what_is_proposed_passes_when_asked_for(allowed: float) -> None:
    model, x = trained(DEEP, "regression", epochs=20)
    held: Any = {"holdout": (x[100:], x[100:, 0]), "max_drop": allowed}
    lost = netsharp.compile(model, x, **held)
    assert lost.report.gate is not None
    assert not lost.report.gate.is_met
    assert lost.report.proposal is not None
    message = f"these widths pass, and --auto-widths takes them: {lost.report.proposal.flags}"
    assert message in str(lost.report)
    asked = netsharp.compile(model, x, **held, **_flags(lost)).report
    assert asked.gate == lost.report.proposal.gate
    assert asked.gate is not None
    assert asked.gate.is_met
    assert asked.proposal is None
    taken = netsharp.compile(model, x, **held, auto_widths=True)
    assert taken.report.gate == asked.gate
    assert f"taken to pass: {lost.report.proposal.flags}" in str(taken.report)
    assert [one.error for one in taken.report.layers] == [one.error for one in asked.layers]


def test_less_that_is_allowed_needs_more_bits() -> None:
    model, x = trained(DEEP, "regression", epochs=20)
    sizes = []
    for allowed in (1.0, 0.3, 0.1):
        made = netsharp.compile(model, x, holdout=(x, x[:, 0]), max_drop=allowed)
        assert made.report.proposal is not None
        widths = [OperandWidth.of(one).bits for _, one in made.report.proposal.layers]
        sizes.append(sum(widths) + 100 * (made.report.proposal.weights is not None))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_where_nothing_passes_that_is_reported() -> None:
    model, x = trained(DEEP, "regression", epochs=5)
    made = netsharp.compile(model, x, holdout=(x, x[:, 0]), max_drop=1e-9, auto_widths=True)
    assert made.report.proposal is None
    assert "no wider types pass, up to 16 bits with a 12-bit index" in str(made.report)
    easy = netsharp.compile(model, x, holdout=(x, x[:, 0]), max_drop=50).report
    assert easy.proposal is None
    assert "wider types" not in str(easy)


@pytest.mark.costly
@pytest.mark.parametrize("allowed", [1.0, 0.3])
def test_the_layer_with_the_largest_gain_is_raised_first(allowed: float) -> None:
    """Found again by trying every step of a bit width with the compiler itself."""
    model, x = trained(DEEP, "regression", epochs=20)
    held: Any = {"holdout": (x[100:], x[100:, 0]), "max_drop": allowed}
    lost = netsharp.compile(model, x, **held).report
    assert lost.proposal is not None
    found = dict(lost.proposal.layers), lost.proposal.weights or "int8"
    assert found == _greedily(model, x, held)


def _greedily(model: Any, x: Any, held: Any) -> tuple[dict[str, str], str]:
    for weights in ("int8", "int16"):
        layers: dict[str, str] = {}
        made = netsharp.compile(model, x, weights=weights, **held).report
        while made.gate is not None and not made.gate.is_met:
            tried = []
            for name in ("X", "A", "B", "C", "Y"):
                wider = OperandWidth.of(layers.get(name, "uint8")).raised()
                if wider is not None:
                    option = {**layers, name: str(wider)}
                    report = netsharp.compile(model, x, weights=weights, layers=option).report
                    tried.append((report.error, option))
            least, option = min(tried, key=lambda one: one[0])
            if least > 0.999 * made.error:
                break
            layers = option
            made = netsharp.compile(model, x, weights=weights, layers=layers, **held).report
        if made.gate is not None and made.gate.is_met:
            return layers, weights
    raise AssertionError("no widths pass")
