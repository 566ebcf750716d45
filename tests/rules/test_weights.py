"""Rules on initial values beyond their pages: how many of them each kind of connection has."""

from __future__ import annotations

import pytest

from tests.rules.rule_checks import convolution, diagnostics, fixed, notes, only, severe

DATA = "input I [2, 3];\n"
END = "\noutput O [2] softmax from H all;\n"


def values(number: int) -> str:
    return "[" + ", ".join(["0.5"] * number) + "]"


def convolving(*attributes: str) -> str:
    return convolution("[1]", "InputShape = [8, 8]", *attributes)


@pytest.mark.parametrize(
    ("connection", "number", "note"),
    [
        ("all", 24, "4 nodes of 'H' x 6 of 'I' = 24."),
        ("where (s, d) => s[0] == d[0] / 2", 12, "The condition is true for 12 pairs of nodes."),
        (
            "where (s, d) => s[0] == 0 && d[0] == 3",
            3,
            "The condition is true for 3 pairs of nodes.",
        ),
    ],
)
def test_weights_of_full_and_filtered_connections(connection: str, number: int, note: str) -> None:
    for given in (number - 1, number, number + 1, 0):
        block = f"{{ Weights = {values(given)}; }}"
        text = f"{DATA}hidden H [4] tanh from I {connection} {block}{END}"
        found = [code for code, _ in severe(text) if code == "NS096"]
        assert found == ([] if given == number else ["NS096"])
        if found:
            assert notes(only(text, "NS096")) == [note]


@pytest.mark.parametrize(
    ("attributes", "number"),
    [
        (("KernelShape = [3, 3]",), 10),
        (("KernelShape = [3, 3]", "MapCount = 5"), 50),
        (("KernelShape = [3, 3]", "MapCount = [2, 3]"), 60),
        (("KernelShape = [4, 4]", "Stride = [4, 4]", "Sharing = false"), 4 * 17),
        (("KernelShape = [4, 4]", "Stride = [4, 4]", "Sharing = [false, true]"), 2 * 17),
    ],
)
def test_weights_of_convolutions_are_kernels_times_cells_and_a_bias(
    attributes: tuple[str, ...], number: int
) -> None:
    right = convolving(*attributes, f"Weights = {values(number)}")
    assert "NS096" not in {code for code, _ in severe(right)}
    wrong = convolving(*attributes, f"Weights = {values(number - 1)}")
    assert f"this connection has {number}." in only(wrong, "NS096").message


def test_the_second_convolution_of_the_guide_takes_1300_weights() -> None:
    text = convolution(
        "[50, 5, 5]",
        "InputShape = [5, 13, 13]",
        "KernelShape = [1, 5, 5]",
        "Stride = [1, 2, 2]",
        "Sharing = [false, true, true]",
        "MapCount = 10",
        "Weights = [1]",
        source="input I [5, 13, 13];",
    )
    assert severe(text) == [("NS096", "[1]")]
    assert notes(only(text, "NS096")) == [
        "50 kernels x (1 x 5 x 5 + 1 bias) = 1300 values, the bias of each kernel last."
    ]


def test_weights_are_not_counted_while_a_size_is_unknown() -> None:
    text = "input I auto;\noutput O [2] softmax from I all { Weights = [1]; }\n"
    assert severe(text) == []
    assert severe(text, features=3) == [("NS096", "[1]")]


def test_weights_are_not_counted_while_the_kernel_is_faulty() -> None:
    text = convolving("KernelShape = [9, 9]", "Weights = [1]")
    assert {code for code, _ in severe(text)} == {"NS067"}


def test_bytes_may_hold_what_is_no_number() -> None:
    text = (
        "const W = [floats_from_bytes(0000c07f 0000803f)];\n"
        "input I [2];\noutput O [1] sigmoid { Biases = [floats_from_bytes(000080ff)]; "
        "from I all { Weights = W; } }\n"
    )
    assert [code for code, _ in severe(text)] == ["NS097", "NS097"]
    messages = [d.message for d in diagnostics(text) if d.code == "NS097"]
    assert messages[0].endswith("value 0 (from 0) is -inf.")
    assert messages[1].endswith("value 0 (from 0) is nan.")


def test_biases_of_every_kind_of_layer() -> None:
    text = "input I [4];\n" + "output O [2] softmax { Biases = [1, 2, 3]; from I all; }\n"
    assert severe(text) == [("NS098", "[1, 2, 3]")]
    block = "{ InputShape = [4]; KernelShape = [2]; Stride = [2]; }"
    for kind, reason in (("convolve", "convolution keeps"), ("max pool", "pooling trains nothing")):
        text = f"input I [4];\noutput O [2] softmax {{ Biases = [1, 2]; from I {kind} {block} }}\n"
        assert severe(text) == [("NS099", "Biases")]
        assert reason in only(text, "NS099").message


def test_a_layer_with_a_convolution_and_a_full_connection_has_biases() -> None:
    block = "{ InputShape = [4]; KernelShape = [2]; Stride = [2]; }"
    text = (
        "input I [4];\n"
        f"output O [2] softmax {{ Biases = [1, 2]; from I convolve {block} from I all; }}\n"
    )
    assert severe(text) == []


def test_a_large_unshared_convolution_can_be_shared() -> None:
    text = convolution(
        "[4, 24, 24]",
        "InputShape = [28, 28]",
        "KernelShape = [5, 5]",
        "Sharing = false",
        "MapCount = 4",
        source="input I [28, 28];",
    )
    found = only(text, "NS112")
    assert found.message == "Unshared convolution: 2304 kernels, 59904 weights."
    assert severe(fixed(text, "NS112")) == []
