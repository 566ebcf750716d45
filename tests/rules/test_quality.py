"""Valid networks that are seldom meant, beyond the examples on the rules' pages."""

from __future__ import annotations

import pytest

from tests.rules.verdicts import codes, one, pointed

HEAD = "input I [4]; "
TAIL = "output O [2] softmax from H all;"


def test_softmax_and_square_root_in_their_places() -> None:
    text = HEAD + "hidden H [3] softmax from I all; hidden G [3] sqrt from H all; "
    text += "output O [2] softmax from G all;"
    assert codes(text) == ["NS088", "NS090"]
    assert codes(HEAD + "output O [2] sqrt from I all;") == ["NS090"]


@pytest.mark.parametrize(
    ("hidden", "reported"),
    [
        ("hidden H [50] linear from I all; ", True),
        ("hidden H [3] linear from I all; ", True),
        ("hidden H [1] linear from I all; ", False),
        ("hidden H [50] rlinear from I all; ", False),
        ("hidden H [4] linear from I where (s, d) => s[0] == d[0]; ", True),
        ("hidden H [3] linear from I max pool { InputShape = [4]; KernelShape = [2]; } ", False),
        ("hidden H [3] from I max pool { InputShape = [4]; KernelShape = [2]; } ", False),
    ],
)
def test_linear_layers_in_front_of_full_ones(hidden: str, reported: bool) -> None:
    assert pointed(HEAD + hidden + TAIL, "NS117") == (["linear"] if reported else [])


def test_large_networks_count_shared_weights_once() -> None:
    text = """input {{ A [10000]; B [10000]; }}
    hidden {{ H [6000] tanh from A all; G [6000] tanh from B all; }}
    output O [2] softmax {{ from H all; from G all; }}
    {}"""
    found = one(text.format(""), "NS110")
    assert found.message == "120 million parameters; layer 'H' has 49 percent."
    assert "NS110" not in codes(text.format("share { A => H, B => G }"))


def test_unknown_sizes_count_for_nothing() -> None:
    text = "input I auto; hidden H [10000] tanh from I all; " + TAIL
    assert "NS110" not in codes(text)
    assert "NS110" in codes(text, features=100_000)


def test_guide_digits_have_no_dominant_connection() -> None:
    text = """input Image [29, 29];
    hidden C [5, 13, 13] tanh from Image convolve {
      InputShape = [29, 29]; KernelShape = [5, 5]; Stride = [2, 2]; MapCount = 5; }
    hidden H [100] tanh from C all;
    output O [10] softmax from H all;"""
    assert "NS123" not in codes(text)
