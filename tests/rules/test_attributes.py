"""Rules on attributes beyond their pages: names, styles of blocks, values that slipped."""

from __future__ import annotations

import pytest

from tests.rules.rule_checks import (
    codes,
    convolution,
    diagnostics,
    fixed,
    network,
    only,
    severe,
    words,
)

SHAPE = "InputShape = [8, 8]"
KERNEL = "KernelShape = [3, 3]"


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("kernel_size", "KernelShape"),
        ("KernelSize", "KernelShape"),
        ("Kern", "KernelShape"),
        ("strides", "Stride"),
        ("Filters", "MapCount"),
        ("Mapcounts", "MapCount"),
        ("pad", "Padding"),
        ("upperpadding", "UpperPad"),
    ],
)
def test_names_of_other_tools_are_understood(word: str, meant: str) -> None:
    value = "2" if meant == "MapCount" else "true" if meant == "Padding" else "[1, 1]"
    lines = [SHAPE, f"{word} = {value}"] + ([] if meant == "KernelShape" else [KERNEL])
    found = only(convolution("[6, 6]", *lines), "NS061")
    assert f"'{meant}'" in found.message
    assert found.fix is not None
    assert found.fix.edits[0].text == meant


def test_a_word_like_nothing_has_no_proposal() -> None:
    found = only(convolution("[6, 6]", SHAPE, KERNEL, "Zzz = 1"), "NS061")
    assert found.fix is None


def test_a_name_already_given_is_not_proposed_as_a_fix() -> None:
    text = convolution("[6, 6]", SHAPE, KERNEL, "KernelShap = [1, 1]")
    found = only(text, "NS061")
    assert "'KernelShape'" in found.message
    assert found.fix is None


def test_an_attribute_of_connections_in_a_layer_is_named() -> None:
    text = "input I [4];\noutput O [2] softmax { Stride = [1]; from I all; }\n"
    assert severe(text) == [("NS061", "Stride")]


def test_the_activation_as_an_attribute_is_left_to_its_own_rule() -> None:
    assert "NS061" not in codes(convolution("[6, 6]", SHAPE, KERNEL, "Activation = tanh"))


def test_odd_capitals_are_worth_an_information() -> None:
    text = convolution("[6, 6]", "inputshape = [8, 8]", KERNEL)
    assert severe(text) == []
    assert "  InputShape = [8, 8];" in fixed(text, "NS014")


def test_a_second_mention_with_another_value_is_removed_only_on_request() -> None:
    same = only(convolution("[6, 6]", SHAPE, KERNEL, "KernelShape = [3,3]"), "NS062")
    other = only(convolution("[6, 6]", SHAPE, KERNEL, "KernelShape = [5, 5]"), "NS062")
    assert same.fix is not None
    assert other.fix is not None
    assert same.fix.safe
    assert not other.fix.safe


def test_the_second_mention_counts_for_nothing() -> None:
    assert severe(convolution("[6, 6]", SHAPE, KERNEL, "kernelshape = [9, 9]")) == [
        ("NS062", "kernelshape")
    ]


def test_removing_an_attribute_takes_its_line_but_no_neighbour() -> None:
    block = "{ InputShape = [8, 8]; // shape\n  MapCount = 1; KernelShape = [2, 2]; // size\n}"
    text = network(f"hidden P [7, 7] from I max pool {block}", last="P")
    assert "// shape\n  KernelShape = [2, 2]; // size\n" in fixed(text, "NS064")
    text = text.replace(
        "MapCount = 1; KernelShape = [2, 2];", "KernelShape = [2, 2];\n  MapCount = 1;"
    )
    assert "KernelShape = [2, 2];\n  // size\n}" in fixed(text, "NS064")
    text = text.replace("MapCount = 1; // size\n}", "MapCount = 1; }")
    assert "KernelShape = [2, 2];\n  }" in fixed(text, "NS064")


def test_idle_padding_goes_before_pads_that_do_something() -> None:
    idle = convolution("[8, 8]", SHAPE, KERNEL, "Padding = true", "LowerPad = [0, 0]")
    found = only(idle, "NS070")
    assert words(idle, found) == "LowerPad"
    assert found.fix is not None
    assert found.fix.safe
    assert severe(fixed(idle, "NS070")) == []
    both = convolution("[8, 8]", SHAPE, KERNEL, "LowerPad = [1, 1]", "Padding = true")
    found = only(both, "NS070")
    assert words(both, found) == "Padding"
    assert found.fix is not None
    assert not found.fix.safe


def test_short_tuples_are_filled_with_what_changes_nothing() -> None:
    source = "input I [3, 8, 8];"
    text = convolution(
        "[3, 8, 8]",
        "InputShape = [3, 8, 8]",
        "KernelShape = [3, 3]",
        "Padding = [true, true]",
        "Sharing = [true, true]",
        source=source,
    )
    for _ in range(3):
        text = fixed(text, "NS065")
    assert "KernelShape = [1, 3, 3];" in text
    assert "Padding = [false, true, true];" in text
    assert "Sharing = [true, true, true];" in text
    assert severe(text) == []


def test_entries_too_many_that_change_nothing_are_taken_away() -> None:
    text = convolution("[6, 6]", SHAPE, "KernelShape = [1, 3, 3]", "Stride = [2, 1, 1]")
    assert "KernelShape = [3, 3];" in fixed(text, "NS065")
    found = [d for d in diagnostics(text) if d.code == "NS065" and d.fix is None]
    assert [words(text, d) for d in found] == ["[2, 1, 1]"]


SHARP = ("InputShape = [1, 28, 28]", "KernelShape = [1, 5, 5]")


@pytest.mark.parametrize(
    ("size", "written", "meant"),
    [
        ("[8, 12, 12]", "Stride = [1, 2]", "Stride = [1, 2, 2];"),
        ("[8, 24, 12]", "Stride = [1, 2]", "Stride = [1, 1, 2];"),
        ("[8, 12, 12]", "Stride = [0, 2, 2]", "Stride = [1, 2, 2];"),
        ("[8, 12, 12]", "Stride = [1, -2, 2]", "Stride = [1, 2, 2];"),
    ],
)
def test_the_reading_that_gives_the_declared_size_is_safe(
    size: str, written: str, meant: str
) -> None:
    text = convolution(size, *SHARP, written, "MapCount = 8", source="input I [1, 28, 28];")
    (code,) = {code for code, _ in severe(text)}
    found = only(text, code)
    assert found.fix is not None
    assert found.fix.safe
    assert meant in fixed(text, code)
    assert severe(fixed(text, code)) == []


@pytest.mark.parametrize(
    ("size", "written"),
    [
        ("[8, 11, 11]", "Stride = [1, 2]"),
        ("auto", "Stride = [1, 2]"),
        ("[8, 24, 24]", "Sharing = [true, false]"),
        ("[8, 11, 11]", "Stride = [0, 2, 2]"),
        ("[8, 24, 24]", "strides = 2"),
        ("[8, 24, 24]", "pad = [0, 2, 2]"),
        ("[8, 24, 24]", "strides = [1, 2, 2]"),
    ],
)
def test_a_reading_that_nothing_bears_out_is_not_safe(size: str, written: str) -> None:
    text = convolution(size, *SHARP, written, "MapCount = 8", source="input I [1, 28, 28];")
    fixes = [d.fix for d in diagnostics(text) if d.severity == "error" and d.fix is not None]
    assert [fix.title for fix in fixes if fix.safe] == []


def test_a_new_attribute_stands_after_the_comment_of_its_line() -> None:
    block = "{\n  InputShape = [8, 8]; // the image\n}"
    text = network(f"hidden C [6, 6] tanh from I convolve {block}")
    assert "[8, 8]; // the image\n  KernelShape = [3, 3];\n}" in fixed(text, "NS063")


@pytest.mark.parametrize(
    ("source", "kernel", "shape"),
    [
        ("[8, 8]", "[3, 3]", "[8, 8]"),
        ("[1, 8, 8]", "[3, 3]", "[8, 8]"),
        ("[8, 8]", "[1, 3, 3]", "[1, 8, 8]"),
    ],
)
def test_the_proposed_shape_has_the_dimensions_of_the_kernel(
    source: str, kernel: str, shape: str
) -> None:
    text = convolution("[6, 6]", f"KernelShape = {kernel}", source=f"input I {source};")
    text = fixed(text, "NS063")
    assert f"InputShape = {shape};" in text
    assert severe(text) == []


# Values that slipped by one line.


def test_stride_and_sharing_exchanged() -> None:
    text = convolution(
        "[4, 3, 3]",
        "InputShape = [8, 8]",
        "KernelShape = [4, 4]",
        "Stride = [false, true]",
        "Sharing = [2, 2]",
        "MapCount = 4",
    )
    found = only(text, "NS119")
    assert found.severity == "hint"
    assert words(text, found) == "Stride"
    after = fixed(text, "NS119")
    assert "Sharing = [false, true];\n  Stride = [2, 2];" in after
    assert severe(after) == []


def test_a_lost_line_moves_the_values_up() -> None:
    text = convolution(
        "[40, 6, 6]",
        "InputShape = [8, 8]",
        "KernelShape = [3, 3]",
        "Stride = [true, true]",
        "Sharing = 40",
    )
    after = fixed(text, "NS119")
    assert "Sharing = [true, true];\n  MapCount = 40;" in after
    assert severe(after) == []


def test_one_faulty_value_alone_is_no_shift() -> None:
    assert "NS119" not in codes(convolution("[6, 6]", SHAPE, KERNEL, "Stride = [true, true]"))


@pytest.mark.parametrize(
    ("alpha", "beta", "shifted"),
    [("0.75", "0.001", True), ("0.001", "0.75", False), ("1", "0.5", False), ("0.1", "0.1", False)],
)
def test_alpha_and_beta_by_their_size(alpha: str, beta: str, shifted: bool) -> None:
    block = f"{{ InputShape = [8, 8]; KernelShape = [3, 3]; Alpha = {alpha}; Beta = {beta}; }}"
    text = network(f"hidden N [6, 6] from I response norm {block}", last="N")
    assert ("NS119" in codes(text)) is shifted
