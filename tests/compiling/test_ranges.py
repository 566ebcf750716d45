"""Ranges that calibration chooses: by every method, in any parts of the rows, and the message about
rows that do not show them.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.calibrating.ranges import RangeMethod, SeenNumbers, chosen_range, observed
from netsharp_compile.calibrating.rows import training_rows
from netsharp_compile.compiled import compile_model
from netsharp_compile.layers import layers_of, values_of
from netsharp_compile.refusal import CompileError
from netsharp_compile.schemes import QuantizationScheme
from netsharp_compile.widths import CompileSettings
from tests.compiling.networks import DEEP, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
METHODS = ("operator", "minmax", "percentile:99", "mse")


@pytest.mark.parametrize("parts", [1, 7, 200])
def test_ranges_do_not_depend_on_how_rows_come(parts: int) -> None:
    model, x = trained(DEEP)
    layers = layers_of(model.graph, model.tensors)
    blocks = np.array_split(x, parts)
    features, seen = observed(layers, lambda: blocks, RangeMethod("mse"))
    np.testing.assert_array_equal(features.low, x.min(axis=0))
    np.testing.assert_array_equal(features.high, x.max(axis=0))
    assert features.rows == 200
    for one, pair in zip(seen, values_of(layers, x), strict=True):
        for numbers, wanted in zip(one, pair, strict=True):
            assert numbers[:2] == pytest.approx((wanted.min(), wanted.max()), rel=1e-12)
        counts, values = one.values.counts, pair[1]
        assert counts is not None
        assert counts.sum() == values.size
        # A number at an edge may round to either side of it.
        exact = np.histogram(values, 2048, one.values[:2])[0]
        assert np.abs(counts - exact).sum() <= values.size / 100


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_streamed_and_no_more_than_a_few_parts_are_held(method: str) -> None:
    """However many there are: the one that is read, the one before, and one to search widths by."""
    model, x = trained(DEEP)
    alive: set[int] = set()
    most, given = 0, 0

    def rows() -> Iterator[np.ndarray]:
        nonlocal most, given
        for number in range(40):
            part = x + number / 100
            alive.add(given)
            weakref.finalize(part, alive.discard, given)
            given += 1
            most = max(most, len(alive))
            yield part
            del part

    made = compile_model(model, rows, CompileSettings(range=method))
    assert made.report.rows == 40 * 200
    assert given >= 2 * 40
    assert most <= 3


def _seen(values: np.ndarray) -> SeenNumbers:
    low, high = float(values.min()), float(values.max())
    return SeenNumbers(low, high, np.histogram(values, 2048, (low, high))[0])


@pytest.mark.parametrize("percent", [50.5, 90, 99, 99.9, 100])
def test_a_percentile_leaves_the_rest_at_both_ends(percent: float, seed: int) -> None:
    values = np.random.default_rng(seed).standard_t(3, 20_000)
    method = RangeMethod.of(f"percentile:{percent}")
    low, high = chosen_range(_seen(values), method, QuantizationScheme.asymmetric)
    width, rest = (values.max() - values.min()) / 2048, (1 - percent / 100) / 2 + 1e-12
    assert (values < low - 1e-9).mean() <= rest <= (values < low + width * 1.01).mean() + 1e-9
    assert (values > high + 1e-9).mean() <= rest <= (values > high - width * 1.01).mean() + 1e-9


@pytest.mark.parametrize("bits", [4, 6, 8])
@pytest.mark.parametrize("operand", ["unsigned", "symmetric"])
@pytest.mark.parametrize("shape", ["outliers", "rectified", "even"])
def test_the_least_error_is_that_of_codes(shape: str, operand: Any, bits: int, seed: int) -> None:
    """No range that is tried here has codes with a smaller error, except by the bins' width."""
    chance = np.random.default_rng(seed)
    values = chance.standard_t(3, 20_000)
    if shape == "rectified":
        values = np.maximum(values, 0)
    elif shape == "even":
        values = chance.uniform(-1, 3, 20_000)

    def scheme(low: float, high: float) -> QuantizationScheme:
        if operand == "symmetric":
            return QuantizationScheme.symmetric(max(-low, high), bits)
        return QuantizationScheme.asymmetric(low, high, bits, operand)

    def error(low: float, high: float) -> float:
        codes = scheme(low, high)
        return float(np.square(codes.dequantize(codes.quantize(values)) - values).mean())

    found = error(*chosen_range(_seen(values), RangeMethod("mse"), scheme))
    low, high = min(values.min(), 0.0), values.max()
    tried = [(low * a, high * b) for a in np.linspace(0.1, 1, 19) for b in np.linspace(0.1, 1, 19)]
    assert found <= 1.03 * min(error(*one) for one in tried if one[0] < one[1])
    assert found <= 1.001 * error(low, high)
    if shape == "outliers" and bits < 8:
        assert found < 0.8 * error(low, high)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_compiles(method: str) -> None:
    model, x = trained(DEEP, epochs=20)
    made = netsharp.compile(model, x, range=method)
    assert made.report.agreement is not None
    assert made.report.agreement >= 0.95
    # Only where the operator moves is the rectifier's table the identity.
    assert made.report.tables == {"operator": 2, "minmax": 4}.get(method, 3)


def test_answers_are_never_cut_off() -> None:
    model, x = trained(ONE.format("tanh", "softmax"), epochs=20)
    exact = netsharp.compile(model, x, range="minmax").network.layers[-1].target
    for method in METHODS:
        assert netsharp.compile(model, x, range=method).network.layers[-1].target == exact


@pytest.mark.parametrize(
    "text", ["", "max", "percentile:0", "percentile:x", "percentile:101", "mse:3", "percentile:nan"]
)
def test_no_such_method(text: str) -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    with pytest.raises(CompileError, match="chosen by operator, minmax, percentile:P with P above"):
        netsharp.compile(model, x, range=text)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wrong", [np.inf, -np.inf])
def test_a_number_that_is_none_is_a_sentence(method: str, wrong: float) -> None:
    model, x = trained(ONE.format("tanh", "softmax"), missing="mean")
    x[7, 2] = wrong
    with pytest.raises(CompileError, match=f"of row 8 is {wrong:g}. Leave the row out"):
        netsharp.compile(model, x, range=method)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("method", METHODS)
def test_rows_that_show_nothing_are_reported(method: str) -> None:
    """Constant features, a layer that the rows never reach, one row, weights near 0."""
    model, x = trained(ONE.format("rlinear", "softmax"))
    x[:, 3] = 1.0
    (note,) = netsharp.compile(model, x, range=method).report.doubts
    assert note.startswith("'4' never changed in these rows") or "never changed" in note
    first, *others = netsharp.compile(model, x[:1], range=method).report.doubts
    assert (first, others) == (
        "One row was given: a hundred or more show what a device will see.",
        [],
    )
    model.tensors["H/biases"][:] = -1e3
    reported = netsharp.compile(model, x, range=method).report.doubts
    assert reported[-1].startswith("'H' had the same value in all rows: its range is not known")
    assert f"note: {reported[-1]}" in str(netsharp.compile(model, x, range=method).report)
    model.tensors["H/biases"][:] = 0
    model.tensors["H/X/weights"][:] *= 1e-38
    assert netsharp.compile(model, x, range=method).report.rows == 200


def test_infinite_sums_stay_a_sentence_where_numbers_are_counted() -> None:
    model, x = trained(ONE.format("square", "softmax"), dtype="float64")
    model.tensors["H/X/weights"][:] *= 1e200
    with pytest.raises(CompileError, match="'H' on these rows: its values go from"):
        netsharp.compile(model, x, range="mse")


def test_rows_for_validation_are_not_calibrated_with(tmp_path: Path) -> None:
    """The same rows as those that a training on arrays of them would have learned from."""
    model, x = trained(ONE.format("tanh", "softmax"))
    names = [f"c{n}" for n in range(6)]
    lines = [",".join([*names, "held", "label"])]
    for row, features in enumerate(x.astype(np.float32).tolist()):
        label = ("yes", "no")[row % 2]
        lines.append(",".join([*map(repr, features), str(int(row % 5 == 2)), label]))
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    files = {"train": str(tmp_path / "rows.csv"), "label": "label"}
    text = ONE.format("tanh", "softmax")
    for validation in ("held", 0.2):
        exclude = ["held"] * (validation != "held")
        settings = {"validation": validation, "exclude": exclude, "epochs": 1, "seed": 3}
        model = netsharp.train(text, **files, **settings)
        found = training_rows(model, model.settings)
        assert found.held_back is not None
        learned = np.concatenate(list(found.learned()))
        held, codes = (np.concatenate(one) for one in zip(*found.held_back(), strict=True))
        assert (len(learned), len(held), len(codes)) == (160, 40, 40)
        both = np.concatenate([learned, held])
        assert sorted(map(tuple, both.tolist())) == sorted(
            map(tuple, x.astype(np.float32).tolist())
        )
        if validation == "held":
            np.testing.assert_array_equal(held, x[2::5].astype(np.float32))
            assert codes.tolist() == [("no", "yes").index(("yes", "no")[n]) for n in range(2)] * 20
    (tmp_path / "rows.csv").write_text("\n".join(lines[:100]) + "\n")
    found = training_rows(model, model.settings)
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(CompileError, match="The training had 99 rows, and its files have others"):
        list(found.learned())
