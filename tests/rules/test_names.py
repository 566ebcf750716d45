"""Names of constants, layers and parameters, beyond the examples on the rules' pages."""

from __future__ import annotations

import pytest

from tests.rules.verdicts import codes, fixed, one, pointed

TAIL = "output O [2] softmax from H all;"
NET = "input I [4]; hidden H [3] tanh from I all; " + TAIL


def test_guide_names_a_layer_like_a_keyword() -> None:
    text = "input Data auto; hidden Hidden auto from Data all; output Result auto from Hidden all;"
    assert codes(text, severe=True) == []


def test_every_use_of_an_undefined_constant_is_reported_and_nothing_else() -> None:
    text = (
        "input I [N]; hidden H [N, N] tanh from I convolve { InputShape = [N]; "
        "KernelShape = [2]; } output O [N] softmax from H all; share { H, O }"
    )
    found = codes(text, severe=True)
    assert found.count("NS030") == 5
    assert set(found) <= {"NS030", "NS102"}


def test_undefined_constant_without_a_near_name_can_be_declared() -> None:
    text = "// a network\ninput I [4];\nhidden H [Size] tanh from I all;\n" + TAIL
    assert fixed(text).startswith("// a network\nconst Size = 1;\ninput I [4];")


def test_nearest_constant_is_related() -> None:
    text = "const Width = 4; input I [Widht]; hidden H [3] tanh from I all; " + TAIL
    found = one(text, "NS030")
    assert found.message == "Constant 'Widht' is not defined. Did you mean 'Width'?"
    assert [text[r.start : r.end] for r in found.related] == ["Width"]
    assert found.fix is not None
    assert found.fix.safe


def test_case_is_distinguished() -> None:
    assert codes("const width = 4; input I [Width]; hidden H [3] tanh from I all;" + TAIL) == [
        "NS033",
        "NS030",
    ]


def test_first_of_two_constants_counts() -> None:
    text = "const { N = 4; N = 0; } input I [N]; hidden H [N] tanh from I all; " + TAIL
    assert codes(text) == ["NS031"]
    assert [text[r.start :][:5] for r in one(text, "NS031").related] == ["N = 4"]


def test_circle_of_constants_is_one_fault() -> None:
    text = "const { B = C; C = A; A = B; D = A + 1; } input I [D]; hidden H [A] tanh from I all;"
    text += TAIL
    assert codes(text) == ["NS032"]
    assert one(text, "NS032").message == "Constants refer to each other in a circle: B, C, A, B."


def test_constant_that_refers_to_itself() -> None:
    text = "const N = N + 1; input I [N]; hidden H [3] tanh from I all; " + TAIL
    assert one(text, "NS032").message == "Constant 'N' refers to itself."


def test_two_circles_are_two_faults() -> None:
    text = "const { A = B; B = A; C = D; D = C; } " + NET
    assert codes(text) == ["NS032", "NS032"]


def test_long_circle_is_shortened() -> None:
    items = "".join(f"X{i} = X{(i + 1) % 100}; " for i in range(100))
    message = one(f"const {{ {items} }} {NET}", "NS032").message
    assert message.endswith("X0, X1, X2, X3, X4, ... (95 more), X0.")


@pytest.mark.parametrize(
    "use",
    [
        "input I [K]; hidden H [3] tanh from I all; ",
        "input I [4]; hidden H [4] tanh from I where (s, d) => s[0] < K && s[0] == d[0]; ",
        "input I [4]; hidden H [3] tanh { Biases = [K, 0, 0]; from I all; } ",
        "const L = K; input I [L]; hidden H [3] tanh from I all; ",
        "input I [4]; hidden H [3] tanh from I all { Unheard = K; } ",
    ],
)
def test_every_use_counts_as_use(use: str) -> None:
    assert "NS033" not in codes("const K = 4; " + use + TAIL)


def test_parameter_of_a_condition_is_no_use_of_a_constant() -> None:
    text = "const s = 1; input I [4]; hidden H [4] tanh from I where (s, d) => s[0] == d[0]; "
    assert pointed(text + TAIL, "NS033") == ["s"]


def test_unused_constant_goes_with_its_line() -> None:
    text = "const {\n  N = 4;\n  M = 5;\n}\ninput I [N];\nhidden H [3] tanh from I all;\n" + TAIL
    assert "const {\n  N = 4;\n}\n" in fixed(text)
    alone = "const M = 5;\ninput I [4];\nhidden H [3] tanh from I all;\n" + TAIL
    assert fixed(alone).startswith("input I [4];")


def test_constant_whose_value_is_at_fault_is_not_called_unused() -> None:
    assert codes("const W = [1, ...]; " + NET) == ["NS039"]


def test_renaming_a_constant_reaches_every_use() -> None:
    text = (
        "const H = 3; input I [H + 1]; hidden H [H] tanh { Biases = [H, H, 0]; "
        "from I where (H, d) => H[0] == d[0]; } output O [2] softmax from H all;"
    )
    found = one(text, "NS034")
    assert found.fix is not None
    assert len(found.fix.edits) == 5
    assert "where (H, d) => H[0] == d[0]" in fixed(text)
    assert "const H2 = 3; input I [H2 + 1]; hidden H [H2] tanh { Biases = [H2, H2, 0];" in fixed(
        text
    )


def test_renaming_a_layer_reaches_shares() -> None:
    text = (
        "input I [4]; input J [4]; hidden h [3] tanh from I all; hidden H [3] tanh from J all; "
        "output O [2] softmax { from h all; from H all; } share { I => h, J => H }"
    )
    assert pointed(text, "NS037") == ["H"]
    assert "share { I => h, J => H2 }" in fixed(text)


def test_names_that_differ_in_case_across_kinds() -> None:
    text = "const i = 4; input I [i]; hidden H [3] tanh from I all; " + TAIL
    assert pointed(text, "NS037") == ["I"]


def test_undefined_source_is_one_fault_wherever_it_is_used() -> None:
    text = """input I [4];
    hidden H [3] tanh from Missing all;
    hidden G [3, 3] tanh from Missing convolve { InputShape = [3, 3]; KernelShape = [1, 1]; }
    hidden F [3] tanh from Missing where (s, d) => s[0] == d[0];
    output O [2] softmax { from H all; from G all; from F all; }"""
    assert codes(text, severe=True) == ["NS035"] * 3


def test_source_that_is_a_constant() -> None:
    text = "const N = 4; input I [N]; hidden H [3] tanh { from I all; from N all; } " + TAIL
    assert one(text, "NS035").message == "Layer 'N' is not defined; 'N' is a constant."


@pytest.mark.parametrize("own", ["hidden Ha [3] tanh from Hx all;", "hidden Hx [3] from Hy all;"])
def test_no_layer_is_proposed_that_could_not_be_the_source(own: str) -> None:
    found = one("input Features [4]; " + own, "NS035")
    assert found.fix is None


def test_broken_declarations_still_define_their_layers() -> None:
    text = "input I [4];\nhiden H [3] tanh from I all;\n" + TAIL
    assert "NS035" not in codes(text)
    assert "NS052" not in codes(text)


def test_doubled_layers_set_off_nothing_else() -> None:
    once = "input I auto;\nhidden H [3] tanh from I all;\noutput O [2] softmax from H all;\n"
    assert codes(once * 2) == ["NS036"] * 3


def test_equal_parameters_set_off_nothing_else() -> None:
    text = "input I [4]; hidden H [9] tanh from I where (s, s) => s[3] == s; " + TAIL
    assert codes(text) == ["NS038"]


def test_several_independent_faults_are_reported_in_one_run() -> None:
    text = """const { N = M; N = 3; Z = Z; }
    input I [4 / 0];
    hidden H [2.5] tanh from Q all;
    hidden H [sin(1)] tanh from I all;
    output O [0] softmax from H all;"""
    assert sorted(set(codes(text, severe=True))) == [
        "NS030",
        "NS031",
        "NS032",
        "NS035",
        "NS036",
        "NS041",
        "NS042",
        "NS044",
        "NS050",
    ]


def test_hints_cost_no_more_than_the_text_is_long() -> None:
    uses = "".join(f"const C{i} = Undefined{i};\n" for i in range(2000))
    assert codes(uses).count("NS030") == 2000


@pytest.mark.parametrize("number", ["1...", "1.5..", ".5..", "1..2", "1.2.3"])
def test_a_number_with_several_points_is_no_number(number: str) -> None:
    assert one(f"const A = {number}; {NET}", "NS005").message == f"Malformed number '{number}'."
