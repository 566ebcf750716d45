"""Rules on kernels beyond their pages: independent faults, no cascade, arithmetic, fixes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.geometry import Axis, product
from netsharp_lsp.netsharp.meaning.model import Geometry
from netsharp_lsp.netsharp.repairs.proposals import filling_pads
from tests.rules.rule_checks import (
    codes,
    convolution,
    diagnostics,
    fixed,
    network,
    notes,
    only,
    severe,
    words,
)

SHAPE = "InputShape = [8, 8]"
KERNEL = "KernelShape = [3, 3]"

# Several faults, one finding each.


def test_faults_in_different_dimensions_are_all_reported() -> None:
    text = convolution("[1, 1]", SHAPE, "KernelShape = [3, 9]", "Stride = [4, 1]")
    assert severe(text) == [("NS067", "9"), ("NS068", "4")]


def test_faults_of_different_attributes_are_all_reported() -> None:
    text = convolution(
        "[1, 1]",
        SHAPE,
        "KernelShape = [3, 4]",
        "Stride = [0, 5]",
        "LowerPad = [2, -1]",
        "UpperPad = [2, 3]",
        "MapCount = 0",
        "Sharing = [true]",
    )
    assert sorted(severe(text)) == [
        ("NS065", "[true]"),
        ("NS068", "5"),
        ("NS069", "-1"),
        ("NS069", "0"),
        ("NS071", "2"),
        ("NS072", "2"),
        ("NS072", "3"),
        ("NS076", "0"),
    ]


def test_both_excesses_in_one_dimension_are_reported() -> None:
    text = convolution("[1, 1]", SHAPE, "KernelShape = [9, 3]", "Stride = [10, 1]")
    assert severe(text) == [("NS067", "9"), ("NS068", "10")]


# One fault, no other findings.


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ((SHAPE, "KernelShape = [9, 3]"), [("NS067", "9")]),
        ((SHAPE, "KernelShape = [3, 3, 3]"), [("NS065", "[3, 3, 3]")]),
        ((SHAPE, KERNEL, "Stride = [2]"), [("NS065", "[2]")]),
        ((SHAPE, KERNEL, "Stride = [T, 2]"), [("NS030", "T")]),
        ((SHAPE, KERNEL, "Strid = [2, 2]"), [("NS061", "Strid")]),
        ((SHAPE, KERNEL, "MapCount = 2.5"), [("NS040", "2.5")]),
        (("InputShape = [8, 9]", KERNEL), [("NS066", "[8, 9]")]),
        (("InputShape = [0, 8]", KERNEL), [("NS069", "0")]),
        ((KERNEL,), [("NS063", "convolve")]),
        ((SHAPE,), [("NS063", "convolve")]),
        (("InputShape = []", KERNEL), [("NS063", "[]")]),
        ((SHAPE, "KernalShape = [3, 3]"), [("NS061", "KernalShape")]),
        ((SHAPE, KERNEL, "Padding = true", "LowerPad = [3, 3]"), [("NS070", "LowerPad")]),
    ],
)
def test_no_cascade(attributes: tuple[str, ...], expected: list[tuple[str, str]]) -> None:
    assert severe(convolution("[99]", *attributes)) == expected


def test_a_rank_fault_of_one_attribute_leaves_the_others_checked() -> None:
    text = convolution("[1, 1]", SHAPE, "KernelShape = [9, 3]", "Stride = [9, 9, 9]")
    assert severe(text) == [("NS067", "9"), ("NS065", "[9, 9, 9]")]


def test_nothing_is_reported_about_the_size_of_a_layer_that_is_broken() -> None:
    text = convolution("[0]", SHAPE, KERNEL)
    assert severe(text) == [("NS050", "0")]


# The arithmetic shown.


def test_disagreeing_nodes_show_every_dimension() -> None:
    text = convolution(
        "[5, 12, 13]",
        "InputShape = [29, 29]",
        "KernelShape = [5, 5]",
        "Stride = [2, 2]",
        "MapCount = 5",
        source="input I [29, 29];",
    )
    found = only(text, "NS074")
    assert found.message == (
        "Layer 'C' declares 780 nodes; this connection gives 845 ([65, 13] = maps x positions)."
    )
    assert words(text, found) == "12"
    assert notes(found) == [
        "NodeCount[0] = (29 - 5) / 2 + 1 = 13; 5 maps x 13 = 65",
        "NodeCount[1] = (29 - 5) / 2 + 1 = 13",
        "Together 65 x 13 = 845 nodes.",
    ]
    assert "hidden C [5, 13, 13] tanh" in fixed(text, "NS074")


@pytest.mark.parametrize(
    ("pads", "count", "formula"),
    [
        ("UpperPad = [1, 1]", 13, "(28 + 0 + 1 - 5) / 2 + 1 = 13"),
        ("Padding = true", 14, "(28 - 1) / 2 + 1 = 14"),
        ("Stride = [2, 2]", 12, "(28 - 5) / 2 + 1 = 12"),
    ],
)
def test_the_three_ways_of_padding_28_by_5_with_stride_2(
    pads: str, count: int, formula: str
) -> None:
    strides = () if pads.startswith("Stride") else ("Stride = [2, 2]",)
    attributes = ("InputShape = [28, 28]", "KernelShape = [5, 5]", *strides, pads)
    text = convolution("[1, 1]", *attributes, source="input I [28, 28];")
    assert f"NodeCount[1] = {formula}" in notes(only(text, "NS074"))
    right = convolution(f"[{count}, {count}]", *attributes, source="input I [28, 28];")
    assert severe(right) == []


def test_related_places_lead_to_the_source() -> None:
    text = convolution("[6, 6]", "InputShape = [4, 4]", KERNEL)
    found = only(text, "NS066")
    assert found.message == "InputShape [4, 4] has 16 nodes; source 'I' has 64."
    first = found.related[0]
    assert first.message == "'I' is declared [8, 8]: 8 x 8 = 64."
    assert text[first.start : first.end] == "[8, 8]"


def test_an_auto_source_is_checked_once_its_features_are_known() -> None:
    text = convolution("[6, 6]", SHAPE, KERNEL, source="input I auto;")
    assert severe(text) == [("NS086", "I")]
    assert severe(text, features=64) == []
    assert severe(text, features=65) == [("NS066", "[8, 8]")]


# Spans where values are constants.


def test_entries_of_a_constant_are_marked_as_a_whole_and_fixed_as_a_whole() -> None:
    text = "const K = [9, 3];\n" + convolution("[1, 6]", SHAPE, "KernelShape = K")
    assert words(text, only(text, "NS067")) == "K"
    assert "KernelShape = [8, 3];" in fixed(text, "NS067")


def test_constants_within_a_tuple_are_marked_alone() -> None:
    text = "const K = 9;\n" + convolution("[1, 6]", SHAPE, "KernelShape = [K, 3]")
    assert words(text, only(text, "NS067")) == "K"
    assert severe(fixed(text, "NS067")) == []


# Shapes that are right although they look different.


@pytest.mark.parametrize("size", ["[5, 6, 6]", "[30, 6]"])
def test_maps_may_have_a_dimension_of_their_own(size: str) -> None:
    text = convolution(size, SHAPE, KERNEL, "MapCount = 5")
    assert "NS075" not in codes(text)


def test_map_tuples_group_each_dimension() -> None:
    maps = "MapCount = [2, 3]"
    assert "NS075" not in codes(convolution("[12, 18]", SHAPE, KERNEL, maps))
    assert "NS075" not in codes(convolution("[2, 6, 3, 6]", SHAPE, KERNEL, maps))
    found = only(convolution("[6, 6, 6]", SHAPE, KERNEL, maps), "NS075")
    assert "[12, 18]" in found.message


def test_a_flat_size_is_worth_an_information() -> None:
    found = only(convolution("[36]", SHAPE, KERNEL), "NS075")
    assert found.severity == "info"


# Fixes with computed values.


def test_missing_attributes_are_inserted_in_the_style_of_the_block() -> None:
    text = network(
        "hidden N [6, 6] from I response norm {\n"
        "    InputShape  = [8, 8];\n"
        "    KernelShape = [3, 3];\n"
        "  }",
        last="N",
    )
    text = fixed(fixed(text, "NS063"), "NS063")
    assert (
        "    KernelShape = [3, 3];\n    Alpha       = 0.001;\n    Beta        = 0.75;\n  }"
    ) in text
    assert severe(text) == []


def test_a_connection_without_block_gets_one() -> None:
    text = network("hidden C [6, 6] tanh from I convolve;")
    text = fixed(fixed(text, "NS063"), "NS063")
    assert "from I convolve { InputShape = [8, 8]; KernelShape = [3, 3]; }\n" in text
    assert severe(text) == []


def test_a_proposed_kernel_leads_to_the_declared_size() -> None:
    source = "input I [3, 12, 12];"
    for size, kernel in (("[4, 8, 8]", "[3, 5, 5]"), ("[4, 10, 10]", "[3, 3, 3]")):
        text = convolution(size, "InputShape = [3, 12, 12]", "MapCount = 4", source=source)
        text = fixed(text, "NS063")
        assert f"KernelShape = {kernel};" in text
        assert severe(text) == []


def test_pads_that_fill_are_proposed() -> None:
    attributes = ("InputShape = [28, 28]", "KernelShape = [5, 5]", "Stride = [2, 2]")
    source = "input I [28, 28];"
    text = convolution("[13, 13]", *attributes, "UpperPad = [1, 2]", source=source)
    assert "UpperPad = [1, 1];" in fixed(text, "NS073")
    text = convolution(
        "[14, 13]", *attributes, "LowerPad = [2, 0]", "UpperPad = [2, 1]", source=source
    )
    assert "UpperPad = [1, 1];" in fixed(text, "NS073")


def test_unread_cells_can_be_padded_and_the_size_follows() -> None:
    attributes = ("InputShape = [28, 28]", "KernelShape = [5, 5]", "Stride = [2, 1]")
    text = convolution("[5, 12, 24]", *attributes, "MapCount = 5", source="input I [28, 28];")
    found = only(text, "NS077")
    assert found.message == "1 cell at the upper end of dimension 0 is never read."
    assert notes(found) == ["12 kernels of 5 with stride 2 cover 27 of 28 cells."]
    text = fixed(text, "NS077")
    assert "hidden C [5, 13, 24]" in text
    assert "UpperPad = [1, 0];" in text
    assert severe(text) == []
    assert "NS077" not in codes(text)


def test_all_unread_ends_are_padded_at_once() -> None:
    attributes = ("InputShape = [28, 28]", "KernelShape = [5, 4]", "Stride = [2, 4]")
    text = convolution("[12, 7]", *attributes, source="input I [28, 28];")
    assert "UpperPad = [1, 0];" in fixed(text, "NS077")
    attributes = ("InputShape = [9, 8]", "KernelShape = [5, 3]", "Stride = [5, 2]")
    text = convolution("[1, 3]", *attributes, source="input I [9, 8];")
    text = fixed(text, "NS077")
    assert "[1, 3]" not in text
    assert codes(text).isdisjoint({"NS073", "NS074", "NS077"})


def test_a_size_that_padding_would_give_is_reported() -> None:
    attributes = ("InputShape = [28, 28]", "KernelShape = [5, 5]", "Stride = [2, 2]")
    source = "input I [28, 28];"
    for size, pads in ((13, "UpperPad = [1, 1]"), (14, "Padding = true")):
        text = convolution(f"[{size}, {size}]", *attributes, source=source)
        assert f"With {pads} it gives [{size}, {size}]." in notes(only(text, "NS074"))
    text = convolution("[9, 9]", *attributes, source=source)
    assert not [note for note in notes(only(text, "NS074")) if note.startswith("With")]


def test_an_even_kernel_leaves_its_odd_cell_below() -> None:
    text = convolution(
        "[3]", "InputShape = [7]", "KernelShape = [2]", "Stride = [2]", source="input I [7];"
    )
    assert only(text, "NS077").message == "1 cell at the lower end of dimension 0 is never read."


def test_reordering_takes_the_other_tuples_along() -> None:
    text = convolution(
        "[4, 6, 6]",
        "InputShape = [8, 8, 3]",
        "KernelShape = [3, 3, 3]",
        "Stride = [1, 1, 2]",
        "MapCount = 4",
        source="input I [3, 8, 8];",
    )
    text = fixed(text, "NS122")
    assert "InputShape = [3, 8, 8];" in text
    assert "Stride = [2, 1, 1];" in text
    assert severe(text) == []


def test_an_auto_destination_gets_the_maps_first() -> None:
    text = convolution("auto", SHAPE, KERNEL, "MapCount = 4")
    assert "hidden C [4, 6, 6] tanh" in fixed(text, "NS085")


@pytest.mark.parametrize(
    ("source", "shape"), [("[8, 8]", "[8, 8]"), ("[1, 8, 8]", "[8, 8]"), ("[8]", "[1, 8]")]
)
def test_the_shape_of_the_source_keeps_the_dimensions_of_the_bundle(
    source: str, shape: str
) -> None:
    text = convolution("[6, 6]", "InputShape = [9, 9]", KERNEL, source=f"input I {source};")
    assert f"InputShape = {shape};" in fixed(text, "NS066")


def test_no_shape_is_proposed_where_dimensions_are_unknown() -> None:
    text = convolution("[6, 6]", "InputShape = [9, 9]", KERNEL, source="input I [4, 4, 4];")
    assert only(text, "NS066").fix is None


# Judgements.


def test_a_norm_across_maps_can_be_padded() -> None:
    source = "input I [48, 2, 2];"
    block = "InputShape = [48, 2, 2];\n  KernelShape = [5, 1, 1];\n  Alpha = 1;\n  Beta = 1;"
    text = network(f"hidden N [44, 2, 2] from I response norm {{\n  {block}\n}}", source, "N")
    found = only(text, "NS080")
    assert found.message.endswith("48 become 44.")
    assert severe(fixed(text, "NS080")) == []


def test_kernels_of_their_own_for_each_map_are_not_reproached() -> None:
    source = "input I [64, 12, 12];"
    block = ("InputShape = [64, 12, 12]", "KernelShape = [1, 5, 5]")
    depthwise = ("Sharing = [false, true, true]", "MapCount = 10")
    text = convolution("[640, 8, 8]", *block, *depthwise, source=source)
    assert codes(text).isdisjoint({"NS112", "NS121", "NS078"})
    text = convolution("[640, 8, 8]", *block, "MapCount = 10", source=source)
    assert "NS121" in codes(text)


def test_one_layer_of_several_dimensions_is_named_once_and_only_if_nothing_uses_them() -> None:
    text = (
        "input I [4];\nhidden A [2, 3] tanh from I all;\nhidden B [3, 4] tanh from A all;\n"
        "hidden C [4, 5] tanh from B all;\noutput O [2] softmax from C all;\n"
    )
    found = only(text, "NS118")
    assert words(text, found) == "[2, 3]"
    filtered = text.replace("from A all", "from A where (s, d) => s[1] == d[0]")
    assert words(filtered, only(filtered, "NS118")) == "[4, 5]"


def test_a_copying_pool_is_bypassed_by_all_its_readers() -> None:
    text = network(
        "hidden P [8, 8] from I max pool { InputShape = [8, 8]; KernelShape = [1, 1]; }\n"
        "hidden A [2] tanh from P all;\n"
        "hidden C [2] tanh { from P all; from A all; }"
    )
    text = fixed(text, "NS113")
    assert "P" not in text
    assert text.count("from I all") == 2
    assert severe(text) == []


@st.composite
def valid_kernels(draw: st.DrawFn) -> tuple[Geometry, list[str]]:
    """A convolution that obeys every limit, and its attributes."""
    rank = draw(st.integers(1, 3))
    sizes = [draw(st.integers(1, 9)) for _ in range(rank)]
    kernels = [draw(st.integers(1, size)) for size in sizes]
    strides = [draw(st.integers(1, kernel)) for kernel in kernels]
    maps = [draw(st.integers(1, 3)) for _ in range(rank)]
    sharing = [draw(st.booleans()) for _ in range(rank)]
    padding = [draw(st.booleans()) for _ in range(rank)]
    axes = [
        Axis(size, kernel, stride, padding=pad)
        for size, kernel, stride, pad in zip(sizes, kernels, strides, padding, strict=True)
    ]
    lines = [f"InputShape = {sizes}", f"KernelShape = {kernels}", f"Stride = {strides}"]
    if draw(st.booleans()):
        pads = [filling_pads(Axis(axis.size, axis.kernel, axis.stride)) or (0, 0) for axis in axes]
        axes = [
            Axis(axis.size, axis.kernel, axis.stride, lower=lower, upper=upper)
            for axis, (lower, upper) in zip(axes, pads, strict=True)
        ]
        lines += [f"LowerPad = {[a for a, _ in pads]}", f"UpperPad = {[b for _, b in pads]}"]
    else:
        lines.append(f"Padding = {str(padding).lower()}")
    lines += [f"Sharing = {str(sharing).lower()}", f"MapCount = {maps}"]
    return Geometry(tuple(axes), tuple(sharing), tuple(maps), trained=True), lines


def sizes_measured(text: str) -> set[str]:
    """The severe codes, except the one about how many kernels there are (NS112)."""
    return {code for code, _ in severe(text)} - {"NS112"}


@settings(max_examples=150, derandomize=True, deadline=None)
@given(valid_kernels())
def test_what_obeys_every_limit_is_accepted_with_the_size_it_gives(
    case: tuple[Geometry, list[str]],
) -> None:
    geometry, lines = case
    source = f"input I {[axis.size for axis in geometry.axes]};"
    assert sizes_measured(convolution(f"{list(geometry.output)}", *lines, source=source)) == set()


@settings(max_examples=100, derandomize=True, deadline=None)
@given(valid_kernels(), st.integers(1, 400))
def test_any_other_size_is_refused_and_the_fix_declares_the_right_one(
    case: tuple[Geometry, list[str]], nodes: int
) -> None:
    geometry, lines = case
    source = f"input I {[axis.size for axis in geometry.axes]};"
    text = convolution(f"[{nodes}]", *lines, source=source)
    found = sizes_measured(text)
    assert found == (set() if nodes == product(geometry.output) else {"NS074"})
    if found:
        assert sizes_measured(fixed(text, "NS074")) == set()


numbers = st.integers(-2, 9)
tuples = st.lists(numbers, min_size=0, max_size=3).map(str)


@pytest.mark.costly
@settings(max_examples=150, derandomize=True, deadline=None)
@given(tuples, tuples, tuples, tuples, tuples, st.sampled_from(["[4, 9]", "[36]", "auto"]))
def test_any_figures_give_findings_and_fixes_that_apply(
    shape: str, kernel: str, stride: str, lower: str, upper: str, size: str
) -> None:
    text = convolution(
        size,
        f"InputShape = {shape}",
        f"KernelShape = {kernel}",
        f"Stride = {stride}",
        f"LowerPad = {lower}",
        f"UpperPad = {upper}",
        source="input I [6, 6];",
    )
    for diagnostic in diagnostics(text):
        if diagnostic.fix is not None:
            after = fixed(text, diagnostic.code)
            assert after != text
            assert "NS001" not in codes(after)
