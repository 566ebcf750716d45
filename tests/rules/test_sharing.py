"""Rules on shares beyond their pages, and the groups that several shares make together."""

from __future__ import annotations

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.meaning.counts.sharing import shared_groups
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse
from tests.rules.rule_checks import fixed, notes, only, severe

SIAMESE = """
input { A [37]; B [37]; }
hidden { H1 [50] tanh from A all; H2 [50] tanh from B all; }
output O [2] softmax { from H1 all; from H2 all; }
"""
BLOCK = "InputShape = [12]; KernelShape = [3]; Stride = [3];"


def pair(first: str, second: str, share: str = "share { H1, H2 }") -> str:
    """Two hidden layers of two inputs of 12 nodes, and their share."""
    return (
        "input { A [12]; B [12]; }\n"
        f"hidden H1 {first}\nhidden H2 {second}\n"
        f"output O [2] softmax {{ from H1 all; from H2 all; }}\n{share}\n"
    )


def groups(text: str) -> tuple[list[list[str]], list[list[str]]]:
    found = shared_groups(resolve(parse(text.encode()), Context()))
    for group in found.bundles:
        assert {found.bundle_leader[bundle] for bundle in group} == {group[0]}
    for layers in found.layers:
        assert {found.bias_leader[layer] for layer in layers} == {layers[0]}
    bundles = [[f"{b.source_name} => {b.layer.name}" for b in group] for group in found.bundles]
    return bundles, [[layer.name for layer in group] for group in found.layers]


# Groups.


@pytest.mark.parametrize(
    "shares",
    [
        "share { H1, H2 }",
        "share { H2, H1 }",
        "share { A => H1, B => H2 } share { 1 => H1, 1 => H2 }",
        "share { 1 => H2, 1 => H1 } share { B => H2, A => H1 }",
    ],
)
def test_all_forms_of_the_siamese_share_give_the_same_groups(shares: str) -> None:
    assert severe(SIAMESE + shares) == []
    assert groups(SIAMESE + shares) == ([["A => H1", "B => H2"]], [["H1", "H2"]])
    assert groups(shares + SIAMESE) == ([["A => H1", "B => H2"]], [["H1", "H2"]])


def test_weights_alone_or_biases_alone() -> None:
    assert groups(SIAMESE + "share { A => H1, B => H2 }") == ([["A => H1", "B => H2"]], [])
    assert groups(SIAMESE + "share { 1 => H1, 1 => H2 }") == ([], [["H1", "H2"]])


def test_shares_with_a_common_item_are_one_group() -> None:
    text = """
    input I [3];
    hidden { P [4] tanh from I all; Q [4] tanh from I all; R [4] tanh from I all; }
    hidden S [4] tanh from I all;
    output O [1] linear { from P all; from Q all; from R all; from S all; }
    share { R, S } share { P, Q } share { Q, S }
    """
    names = ["I => P", "I => Q", "I => R", "I => S"]
    assert groups(text) == ([names], [["P", "Q", "R", "S"]])


def test_what_cannot_share_is_in_no_group() -> None:
    text = pair("[5] tanh from A all;", "[6] tanh from B all;")
    assert groups(text) == ([], [])


def test_convolutions_share_their_biases_with_their_weights() -> None:
    one = f"[4] tanh from A convolve {{ {BLOCK} }}"
    text = pair(one, one.replace("A", "B", 1))
    assert groups(text) == ([["A => H1", "B => H2"]], [])
    assert severe(text) == []


# What must agree.


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("[5] tanh from A all;", "[6] tanh from B all;", "destination nodes differs (5 against 6)"),
        (
            "[4] tanh from A all;",
            f"[4] tanh from B convolve {{ {BLOCK} }}",
            "the kind of connection differs (all against convolve)",
        ),
        (
            f"[4] tanh from A convolve {{ {BLOCK} }}",
            "[4] tanh from B convolve { InputShape = [12]; KernelShape = [9]; }",
            "KernelShape differs ([3] against [9])",
        ),
        (
            f"[4] tanh from A convolve {{ {BLOCK} }}",
            "[4] tanh from B convolve { InputShape = [3, 4]; KernelShape = [3, 1]; }",
            "InputShape differs ([12] against [3, 4])",
        ),
        (
            f"[4] tanh from A convolve {{ {BLOCK} }}",
            f"[4] tanh from B convolve {{ {BLOCK} Sharing = false; }}",
            "Sharing differs ([true] against [false])",
        ),
        (
            "[12] tanh from A where (s, d) => s[0] == d[0];",
            "[12] tanh from B where (s, d) => s[0] <= d[0];",
            "the pattern of edges differs (12 edges against 78 edges)",
        ),
        (
            "[12] tanh from A where (s, d) => s[0] == d[0];",
            "[12] tanh from B where (s, d) => s[0] == 11 - d[0];",
            "the pattern of edges differs (s[0] == d[0] against s[0] == 11 - d[0])",
        ),
    ],
)
def test_the_difference_is_named(first: str, second: str, reason: str) -> None:
    found = only(pair(first, second), "NS102")
    assert reason in found.message
    assert notes(found)[-1] == "'H1' is declared here."


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[5] tanh from A all;", "[5] rlinear from B all;"),
        ("[2, 3] tanh from A all;", "[6] tanh from B all;"),
        (
            f"[4] tanh from A convolve {{ {BLOCK} }}",
            f"[2, 2] tanh from B convolve {{ {BLOCK} Padding = false; MapCount = 1; }}",
        ),
        (
            "[12] tanh from A where (s, d) => s[0] == d[0];",
            "[12] tanh from B where (x, y) => y[0] - x[0] == 0;",
        ),
        (
            "[12] tanh from A where (s, d) => s[0] == d[0];",
            "[3, 4] tanh from B where (s, d) => s[0] == 4 * d[0] + d[1];",
        ),
        ("auto tanh from A all;", "auto tanh from B all;"),
    ],
)
def test_what_makes_no_difference(first: str, second: str) -> None:
    assert [item for item in severe(pair(first, second)) if item[0] >= "NS096"] == []


def test_further_differences_are_notes() -> None:
    second = "[4] tanh from B convolve { InputShape = [12]; KernelShape = [6]; Stride = [2]; }"
    text = pair(f"[4] tanh from A convolve {{ {BLOCK} }}", second)
    assert notes(only(text, "NS102"))[0] == "Also Stride differs ([3] against [2])."


# One fault, one finding.


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        ("share { H1, H3 }", [("NS100", "H3")]),
        ("share { H1, A }", [("NS100", "A")]),
        ("share { A => H1, C => H2 }", [("NS100", "C")]),
        ("share { A => H1, A => H2 }", [("NS104", "A => H2")]),
        ("share { 1 => H1, 2 => H2 }", [("NS100", "2")]),
        ("share { H1 }", [("NS101", "H1")]),
        ("share { }", [("NS101", "{ }")]),
        ("share { H1, H1 }", [("NS106", "H1")]),
        ("share { H1, H2 } share { 1 => H1, 1 => O }", [("NS106", "1 => H1"), ("NS108", "1 => O")]),
        ("share { A => H1, H2 }", [("NS105", "H2")]),
        ("share { H9, H2, H8 }", [("NS100", "H9"), ("NS100", "H8")]),
    ],
)
def test_faulty_shares(share: str, expected: list[tuple[str, str]]) -> None:
    assert severe(SIAMESE + share) == expected


def test_biases_need_a_layer_that_has_them() -> None:
    one = f"[4] tanh from A convolve {{ {BLOCK} }}"
    text = pair(one, "[4] tanh from B all;", "share { 1 => H1, 1 => H2 }")
    assert severe(text) == [("NS108", "1 => H1")]
    assert "keeps them in its kernels" in only(text, "NS108").message
    pool = f"[4] from A max pool {{ {BLOCK} }}"
    text = pair(pool, "[4] tanh from B all;", "share { 1 => H1, 1 => H2 }")
    assert severe(text) == [("NS107", "1 => H1")]


def test_initial_biases_must_agree_too() -> None:
    text = pair("[1] tanh { Biases = [1]; from A all; }", "[1] tanh { Biases = [2]; from B all; }")
    found = only(text, "NS109")
    assert found.message == "Shared biases start from different Biases: 'H1' and 'H2'."
    assert notes(found) == ["Biases of 'H1'.", "Biases of 'H2'."]
    assert severe(text.replace("[2]; from B", "[1.0]; from B")) == []


# Fixes.


def test_a_layer_among_bundles_is_named_as_a_bundle() -> None:
    text = fixed(SIAMESE + "share { A => H1, H2 }", "NS105")
    assert "share { A => H1, B => H2 }" in text
    assert severe(text) == []


def test_two_shares_of_one_item_are_merged() -> None:
    text = SIAMESE + "share { H1, H2 }\nshare { H2, H1 }"
    text = fixed(text, "NS106")
    assert text.count("share") == 1
    assert severe(text) == []


def test_layers_with_as_many_connections_are_spelt_out_in_their_order() -> None:
    text = """
input { A [3]; B [3]; C [2]; }
hidden H1 [4] tanh { from A all; from C all; }
hidden H2 [4] tanh { from B all; from C all; }
output O [2] softmax { from H1 all; from H2 all; }
share { H1, H2 }
"""
    assert severe(text) == [("NS103", "H1"), ("NS103", "H2")]
    text = fixed(text, "NS103")
    assert text.endswith(
        "share { A => H1, B => H2 }\nshare { C => H1, C => H2 }\nshare { 1 => H1, 1 => H2 }\n"
    )
    assert severe(text) == []


def test_checking_large_filters_is_bounded() -> None:
    """Two conditions that cannot be compared within the limit are left to `describe`."""
    one = "[3000] tanh from A where (s, d) => s[0] * 7 % 3000 == d[0];"
    text = pair(one, one.replace("7", "11").replace("A", "B", 1)).replace("[12]", "[3000]")
    assert {code for code, _ in severe(text)} == {"NS111"}
