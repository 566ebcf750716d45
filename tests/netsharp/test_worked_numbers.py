"""The numbers that the guide computes, and some computed by hand, as `describe` gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp import LANGUAGE

GUIDE = Path(__file__).resolve().parents[1] / "corpus" / "guide"
TOTALS = {
    "digits": 127_540,
    "vision": 28_700,
    "siamese_short": 2_102,
    "siamese_long": 2_102,
}


def described(name: str, **known: int) -> dict:
    return LANGUAGE.describe((GUIDE / f"{name}.nn").read_bytes(), Context(**known))


@pytest.mark.parametrize("name", TOTALS)
def test_totals(name: str) -> None:
    assert described(name)["parameters"] == TOTALS[name]


def test_digits_layer_by_layer() -> None:
    layers = {layer["name"]: layer for layer in described("digits")["layers"]}
    assert [layer["nodes"] for layer in layers.values()] == [841, 845, 1250, 100, 10]
    (conv2,) = layers["Conv2"]["bundles"]
    assert (conv2["kernels"], conv2["weights_per_kernel"], conv2["parameters"]) == (50, 26, 1300)
    assert conv2["output"] == [50, 5, 5]
    assert layers["Conv1"]["parameters"] == 130
    assert (layers["Hid3"]["biases"], layers["Hid3"]["parameters"]) == (100, 125_100)
    assert layers["Digit"]["parameters"] == 1010


def test_filters_and_bundles_of_the_vision_example() -> None:
    layers = {layer["name"]: layer for layer in described("vision")["layers"]}
    assert layers["ByRow"]["bundles"][0]["connections"] == 2400
    assert layers["ByCol"]["bundles"][0]["connections"] == 2900
    assert layers["Gather"]["parameters"] == 12_000 + 10_000 + 100
    assert layers["Result"]["parameters"] == 1000 + 70 + 10


def test_pool_and_norm_have_no_parameters() -> None:
    for name, shape in (("p1", [5, 12, 12]), ("rn1", [5, 10, 10]), ("rn1_padded", [5, 12, 12])):
        (layer,) = described(name)["layers"]
        assert layer["bundles"][0]["output"] == shape
        assert layer["parameters"] == 0


def test_hello_world_needs_the_number_of_features() -> None:
    assert described("hello")["parameters"] is None
    assert described("hello", features=30)["parameters"] == 200 * 31 + 2010
