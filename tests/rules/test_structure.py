"""The network as a whole, beyond the examples on the rules' pages."""

from __future__ import annotations

import pytest

from tests.rules.verdicts import codes, fixed, one, pointed


def test_fragments_of_the_guide_lack_only_their_layers() -> None:
    text = """hidden P1 [5, 12, 12]
  from C1 max pool {
  InputShape  = [ 5, 24, 24];
   KernelShape = [ 1,  2,  2];
   Stride      = [ 1,  2,  2];
  }"""
    assert sorted(codes(text)) == ["NS035", "NS051", "NS052"]
    assert pointed(text, "NS051") == ["hidden"]
    assert pointed(text, "NS052") == ["hidden"]


def test_only_constants() -> None:
    assert codes("const N = 3;", severe=True) == ["NS051", "NS052"]


def test_missing_input_is_declared_by_the_name_in_use() -> None:
    text = "// net\nhidden H [3] tanh from Data all;\noutput O [2] softmax from H all;\n"
    assert sorted(codes(text)) == ["NS035", "NS051"]
    assert fixed(text) == "// net\ninput Data auto;\n" + text.removeprefix("// net\n")


def test_section_keywords_that_are_misspelt_count() -> None:
    text = "inptu I [4];\nhidden H [3] tanh from I all;\nouput O [2] softmax from H all;\n"
    assert codes(text) == ["NS010", "NS010"]


def test_last_layer_becomes_the_output() -> None:
    text = "input I [4]; hidden { H [3] tanh from I all; O [2] softmax from H all; }"
    assert "NS052" in codes(text)
    after = fixed(text)
    assert after.endswith("}\noutput O [2] softmax from H all;")
    assert codes(after, severe=True) == []


def test_output_that_nothing_reads_counts_among_several() -> None:
    text = (
        "input I [4]; output A [3] tanh from I all; output B [3] tanh from A all; "
        "output C [2] softmax from B all;"
    )
    assert pointed(text, "NS053") == ["A", "B"]
    assert "NS054" not in codes(text)
    assert codes(fixed(text), severe=True) == []


def test_first_of_equal_outputs_counts() -> None:
    text = "input I [4]; output A [3] softmax from I all; output B [2] softmax from I all;"
    found = one(text, "NS053")
    assert text[found.start : found.end] == "B"
    assert [text[r.start : r.end] for r in found.related] == ["A"]


def test_each_connection_from_the_output_is_reported() -> None:
    text = (
        "input I [4]; output O [2] softmax from I all; hidden A [3] tanh from O all; "
        "hidden B [3] tanh from O all;"
    )
    assert codes(text, severe=True) == ["NS054", "NS054"]


def test_circle_is_named_in_the_direction_of_flow() -> None:
    text = """input I [4];
    hidden C [3] tanh from B all;
    hidden A [3] tanh { from I all; from C all; }
    hidden B [3] tanh from A all;
    output O [2] softmax from C all;"""
    found = one(text, "NS055")
    assert found.message == "Connections form a cycle: C, A, B, C."
    assert text[: found.start].count("\n") == 1
    assert len(found.related) == 2
    assert codes(text, severe=True) == ["NS055"]


def test_two_circles_are_two_faults() -> None:
    text = """input I [4];
    hidden A [3] tanh { from I all; from B all; }
    hidden B [3] tanh from A all;
    hidden C [3] tanh { from I all; from D all; }
    hidden D [3] tanh from C all;
    output O [2] softmax { from B all; from D all; }"""
    assert codes(text, severe=True) == ["NS055", "NS055"]


def test_layer_that_feeds_itself_is_no_circle() -> None:
    text = "input I [4]; hidden H [3] tanh { from I all; from H all; } output O [2] softmax "
    assert codes(text + "from H all;") == ["NS056"]


@pytest.mark.parametrize("length", [2, 5000])
def test_long_circles(length: int) -> None:
    layers = "".join(f"hidden H{i} [3] tanh from H{(i - 1) % length} all;\n" for i in range(length))
    text = f"input I [4];\n{layers}output O [2] softmax {{ from H1 all; from I all; }}"
    assert codes(text, severe=True) == ["NS055"]


def test_long_chains_are_sound() -> None:
    layers = "".join(f"hidden H{i} [3] tanh from H{i - 1} all;\n" for i in range(1, 3000))
    text = f"input H0 [4];\n{layers}output O [2] softmax from H2999 all;"
    assert codes(text) == []


def test_empty_bodies_are_reported_where_something_could_feed_them() -> None:
    text = "input I [4]; hidden H [3] tanh { } output O [2] softmax { Biases = [1, 2]; }"
    assert pointed(text, "NS057") == ["H", "O"]
    assert codes(fixed(text), severe=True) == []


def test_only_the_end_of_a_dangling_path_is_reported() -> None:
    text = """input I [4];
    hidden H [3] tanh from I all;
    hidden A [3] tanh from I all;
    hidden B [3] tanh from A all;
    output O [2] softmax from H all;"""
    assert pointed(text, "NS058") == ["B"]


@pytest.mark.parametrize(
    "fault",
    [
        "hidden X [3] tanh from Nowhere all;",
        "hidden X [3] tanh { from I all; from X all; }",
        "hidden X [3] tanh { }",
        "hidden X [3] tanh from O all;",
        "output X [3] tanh from I all;",
        "hidden D [5] tanh from I all;",
        "hidden X [3];",
    ],
)
def test_reaching_the_output_is_not_checked_while_connections_are_at_fault(fault: str) -> None:
    text = f"input I [4]; input J [2]; hidden D [3] tanh from I all; {fault}\n"
    found = codes(text + "output O [2] softmax from I all;")
    assert "NS058" not in found
    assert "NS059" not in found


def test_layer_in_a_share_is_not_removed() -> None:
    text = """input I [4];
    hidden H [3] tanh from I all;
    hidden G [3] tanh from I all;
    output O [2] softmax from H all;
    share { H, G }"""
    assert one(text, "NS058").fix is None


def test_equal_bundles_of_other_kinds_are_valid() -> None:
    text = """input I [4];
    hidden H [4] tanh { from I all; from I where (s, d) => s[0] == d[0]; }
    output O [2] softmax { from H all; from I all; }"""
    assert "NS060" not in codes(text)


def test_removing_a_bundle_takes_its_line() -> None:
    text = (
        "input I [4];\noutput O [2] softmax {\n  from I all;\n  from I all { }\n  from I all;\n}\n"
    )
    assert pointed(text, "NS060") == ["I", "I"]
    assert fixed(text) == "input I [4];\noutput O [2] softmax {\n  from I all;\n}\n"


def test_features_are_reported_for_each_input() -> None:
    text = """input A [37]; input { B [37]; C [1]; } input D auto; input E [2, 3];
    output O [2] softmax { from A all; from B all; from C all; from D all; from E all; }"""
    message = "Inputs take features in this order: "
    assert one(text, "NS116").message == (message + "A (0-36), B (37-73), C (74), D (from 75), E.")
    assert one(text, "NS116", features=91).message == (
        message + "A (0-36), B (37-73), C (74), D (75-84), E (85-90)."
    )


def test_network_without_hidden_layers_is_sound() -> None:
    assert codes("input I [4]; output O [2] softmax from I all;") == []


def test_sections_may_stand_in_any_order() -> None:
    text = "output O [N] softmax from H all; hidden H [3] tanh from I all; input I [4]; const N=2;"
    assert codes(text) == []


def test_inserted_lines_end_as_the_others_do() -> None:
    text = "hidden {\r\n  H [Size] tanh from Data all;\r\n  O [2] softmax from H all;\r\n}\r\n"
    after = fixed(text)
    assert after == (
        "const Size = 1;\r\ninput Data auto;\r\nhidden {\r\n  H [Size] tanh from Data all;\r\n}\r\n"
        "output O [2] softmax from H all;\r\n"
    )
