"""What a demanding reader tried: valid texts without findings, mistakes that are reported once."""

from __future__ import annotations

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.fixes import ROUNDS, fix_all
from netsharp_lsp.netsharp.check import check
from tests.rules.rule_checks import diagnostics, fixed, network, notes, only, severe

#: Every keyword with a capital is a valid name.
CAPITALS = [
    *("Const", "Input", "Hidden", "Output", "Share", "From", "All", "Where", "Convolve", "Max"),
    *("Mean", "Pool", "Response", "Norm", "Auto", "Sigmoid", "Linear", "Softmax", "Tanh", "Abs"),
    *("Weights", "Biases", "MapCount", "Stride"),
]

NAMED = """
input {{ X [3, 4]; {0} [3, 4]; }}
hidden {{
  H [4] tanh {{ from X all; from {0} all; }}
  G [3] tanh from {0} where (s, d) => s[0] == d[0];
  C [3, 4] tanh from {0} convolve {{ InputShape = [3, 4]; KernelShape = [1, 1]; }}
}}
output O [2] softmax {{ from {0} all; from H all; from G all; from C all; }}
"""

CONSTANT = """
const {0} = 3;
const {{ Y = {0} + 1; Z = [{0}, {0}]; }}
input X [{0}, Y, Z[1], 2 * {0}];
hidden H [{0}] tanh from X where ({0}, d) => {0}[0] == d[0];
output O [2] softmax from H all;
"""


@pytest.mark.parametrize("name", [*CAPITALS, "True", "False"])
def test_a_layer_may_be_called_like_a_keyword_with_a_capital(name: str) -> None:
    assert {d.code for d in diagnostics(NAMED.format(name))} <= {"NS116"}


@pytest.mark.parametrize("name", CAPITALS)
def test_a_constant_and_a_parameter_may_be_called_like_a_keyword_with_a_capital(name: str) -> None:
    assert diagnostics(CONSTANT.format(name)) == []


@pytest.mark.parametrize("words", ["max // the largest\n pool", "max\n\tpool", "max /* */ pool"])
def test_two_words_of_a_kind_stand_apart_by_any_blank_or_comment(words: str) -> None:
    block = "{ InputShape = [8, 8]; KernelShape = [2, 2]; Stride = [2, 2]; }"
    text = network(f"hidden C [4, 4] from I {words} {block}")
    assert {d.code for d in diagnostics(text)} <= {"NS004"}


@pytest.mark.parametrize("size", ["[]", "[ ]"])
def test_empty_brackets_are_no_size(size: str) -> None:
    text = f"input A {size};\noutput O [2] softmax from A all;"
    assert severe(text) == [("NS027", size)]
    assert fixed(text, "NS027") == "input A auto;\noutput O [2] softmax from A all;"


def test_destinations_left_over_are_counted_and_the_cause_is_in_a_note() -> None:
    text = network("hidden C [12] tanh from I where (s, d) => d[0] == s[0];")
    assert severe(text) == [("NS093", "d[0] == s[0]")]
    assert notes(only(text, "NS093")) == ["d[0] runs 0..11 but s[0] runs 0..7."]


def test_sources_left_over_are_a_difference_of_ranges() -> None:
    text = network("hidden C [6] tanh from I where (s, d) => d[0] == s[0];")
    assert severe(text) == [("NS095", "d[0] == s[0]")]


def test_a_share_proposes_a_layer_that_it_does_not_hold_yet() -> None:
    text = (
        "input { A [3]; B [3]; }\nhidden { H1 [5] tanh from A all; H2 [5] tanh from B all; }\n"
        "output O [2] softmax { from H1 all; from H2 all; }\nshare { H1, H9 }\n"
    )
    assert fixed(text, "NS100").endswith("share { H1, H2 }\n")


def test_an_exponent_without_digits_is_a_malformed_number() -> None:
    assert severe("const X = 1e;\ninput A [X];\noutput O [2] softmax from A all;") == [
        ("NS005", "1e")
    ]


def test_what_the_host_program_left_can_be_deleted() -> None:
    text = 'input A [3];\noutput O [2] softmax from A all;")'
    assert fixed(text, "NS029") == text[:-2]


BLOCK = "{ InputShape = [8, 8]; KernelShape = [2, 2]; Stride = [2, 2]; }"
FILTER = "where (s, d) => s[0] == d[0]"

#: The misspelling, its finding (code and marked words), and the text after the fix.
MISSPELLINGS = [
    ("hidden C [4] tanh from I all all;", ("NS026", "all"), "hidden C [4] tanh from I all;"),
    (
        f"hidden C [8] tanh from I {FILTER} x;",
        ("NS026", "x"),
        f"hidden C [8] tanh from I {FILTER};",
    ),
    (f"hidden C [8] from I {FILTER} abs;", ("NS016", "abs"), f"hidden C [8] abs from I {FILTER};"),
    (
        f"hidden C [4, 4] from I convolve {BLOCK} tanh",
        ("NS016", "tanh"),
        f"hidden C [4, 4] tanh from I convolve {BLOCK}",
    ),
    ("hidden C tanh [4] from I all;", ("NS016", "tanh"), "hidden C [4] tanh from I all;"),
    ("hidden C [4] tanh() from I all;", ("NS026", "()"), "hidden C [4] tanh from I all;"),
    (
        f"hidden C [4, 4] from I avg pool {BLOCK}",
        ("NS019", "avg pool"),
        f"hidden C [4, 4] from I mean pool {BLOCK}",
    ),
    (
        "hidden C [8] tanh from I wher (s, d) => s[0] == d[0];",
        ("NS019", "wher"),
        f"hidden C [8] tanh from I {FILTER};",
    ),
    ("hidden C [4) tanh from I all;", ("NS012", ")"), "hidden C [4] tanh from I all;"),
    (
        f"hidden C [4, 4] tanh from I convolve {BLOCK.replace('Stride =', 'Stride ==')}",
        ("NS022", "="),
        f"hidden C [4, 4] tanh from I convolve {BLOCK}",
    ),
    ("hidden C [4 5] tanh from I all;", ("NS026", "5"), "hidden C [4, 5] tanh from I all;"),
    (
        f"hidden C [4, 4] tanh from I convolve {BLOCK.replace('= [2, 2]; S', '= 2, 2; S')}",
        ("NS021", "2, 2"),
        f"hidden C [4, 4] tanh from I convolve {BLOCK}",
    ),
    ("const N: 4;\nhidden C [N] tanh from I all;", ("NS022", ":"), None),
    ("const N 4;\nhidden C [N] tanh from I all;", ("NS022", "N"), None),
    ("const { N = 4, M = 5; }\nhidden C [N, M] tanh from I all;", ("NS023", ","), None),
    ("const N = 4.5f;\nhidden C [4] tanh from I all;", ("NS005", "4.5f"), None),
]


@pytest.mark.parametrize(
    ("misspelling", "finding", "good"),
    MISSPELLINGS,
    ids=[misspelling[0] for misspelling in MISSPELLINGS],
)
def test_a_misspelling_is_reported_once_by_its_own_code(
    misspelling: str, finding: tuple[str, str], good: str | None
) -> None:
    text = network(misspelling)
    assert severe(text) == [finding]
    if finding[0] != "NS005":
        repaired = fixed(text, finding[0])
        assert severe(repaired) == []
        assert good is None or repaired.replace(" \n", "\n") == network(good)


def test_a_misspelt_share_is_reported_by_its_keyword_alone() -> None:
    text = (
        "input { A [3]; B [3]; }\nhidden { H1 [5] tanh from A all; H2 [5] tanh from B all; }\n"
        "output O [2] softmax { from H1 all; from H2 all; }\nshared { H1, H2 }\n"
    )
    assert severe(text) == [("NS010", "shared")]
    assert severe(fixed(text, "NS010")) == []


def test_a_connection_inside_the_braces_of_another_is_reported_once() -> None:
    text = network(f"hidden C [4, 4] tanh from I convolve {BLOCK.replace('}', 'from I all; }')}")
    assert severe(text) == [("NS026", "from")]


@pytest.mark.parametrize("order", [1, -1])
def test_a_layer_in_a_constants_place_is_called_one(order: int) -> None:
    lines = ["input A [3];", "output O [A] softmax from A all;"]
    found = only("\n".join(lines[::order]), "NS030")
    assert found.message == "Constant 'A' is not defined; 'A' is a layer."
    assert found.fix is None


def test_a_keyword_with_one_foreign_letter_is_reported_by_the_letter() -> None:
    text = "ｉnput A [3];\noutput O [2] softmax from A all;"
    assert severe(text) == [("NS006", "ｉ")]


@pytest.mark.parametrize("sign", ["&", "|"])
def test_a_single_sign_between_conditions_is_doubled(sign: str) -> None:
    text = network(f"hidden C [8] tanh from I where (s, d) => s[0] == d[0] {sign} s[1] > 9;")
    assert severe(text) == [("NS001", sign)]
    assert f" {sign * 2} " in fixed(text, "NS001")
    assert "NS026" not in {d.code for d in diagnostics(fixed(text, "NS001"))}


def test_a_name_that_is_the_word_from_reaches_an_end_of_fixes() -> None:
    text = b"input A [3];\nhidden from [4] tanh from A all;\noutput O [2] softmax from from all;\n"
    fixes = fix_all(text, lambda data: check(data, Context())[1], unsafe=True)
    assert fixes.rounds < ROUNDS
    assert fixes.text.count(b"hidden") == 1


LOOPS = [
    "const X { = 28;\ninput A [3];\noutput O [2] softmax from A all;\n",
    network("hidden C [8] tanh from I where (s, d) - => s[0] == d[0];"),
    network("hidden C [8] tanh from I where (s, d) => s[0] == d[0] || =>[0] == 3;"),
    "const W = [\n  0.25# , 0.25,\n  1.0\n];\ninput A [3];\noutput O [2] softmax from A all;\n",
    "input X [6];\nhidden {\n  A [4# linear from X all;\n  C [4] tanh from X all;\n}\n"
    "output O [2] softmax from C all;\n",
]


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("text", LOOPS)
def test_fixes_come_to_an_end(text: str, unsafe: bool) -> None:
    fixes = fix_all(text.encode(), lambda data: check(data, Context())[1], unsafe)
    assert fixes.rounds < ROUNDS
