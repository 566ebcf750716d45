"""Kernel placement against a naive one written from the guide's words, and the guide's numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.geometry import Axis, kernel_count, output_shape
from netsharp_lsp.netsharp.arithmetic import positions
from netsharp_lsp.netsharp.meaning.inforce import is_valid
from netsharp_lsp.netsharp.repairs.proposals import filling_pads


@st.composite
def axes(draw: st.DrawFn, pads: bool = True) -> Axis:
    size = draw(st.integers(1, 24))
    kernel = draw(st.integers(1, size))
    stride = draw(st.integers(1, kernel))
    kind = draw(st.sampled_from(("none", "padding", "explicit") if pads else ("none", "padding")))
    if kind != "explicit":
        return Axis(size, kernel, stride, padding=kind == "padding")
    lower = draw(st.integers(0, (kernel - 1) // 2))
    upper = draw(st.integers(0, kernel // 2))
    return Axis(size, kernel, stride, lower=lower, upper=upper)


def placed(axis: Axis) -> list[list[int]]:
    """The source cells under each kernel, by trying every start.

    Explicit pads: kernels start at the padded end and step as long as they stay inside.  With
    Padding, centres are real nodes a stride apart, as many as fit.  Without, kernels lie inside
    the source.  In the last two cases what is left over is split between the ends: of all
    starts, that one counts whose unused cells at both ends differ by at most one.
    """
    below, above = (axis.kernel - 1) // 2, axis.kernel // 2
    if axis.lower or axis.upper:
        starts = [-axis.lower]
        lowest, highest = -axis.lower, axis.size + axis.upper
    elif axis.padding:
        starts = list(range(-below, axis.size - below))
        lowest, highest = -below, axis.size + above
    else:
        starts = list(range(axis.size))
        lowest, highest = 0, axis.size
    rows = []
    for start in starts:
        row = list(range(start, highest - axis.kernel + 1, axis.stride))
        rest = highest - (row[-1] + axis.kernel) if row else axis.size
        rows.append((row, start - lowest, rest))
    longest = max(len(row) for row, _, _ in rows)
    rows = [row for row in rows if len(row[0]) == longest]
    fair = [row for row in rows if abs(row[1] - row[2]) <= 1] or rows
    centred = min(fair, key=lambda row: (uncentred(axis, row[0]), row[1]))
    return [
        [cell for cell in range(start, start + axis.kernel) if 0 <= cell < axis.size]
        for start in centred[0]
    ]


def uncentred(axis: Axis, row: list[int]) -> int:
    """How far the centres are from having equal room, an odd cell above: 0 is right."""
    if axis.lower or axis.upper or not row:
        return 0
    centre = (axis.kernel - 1) // 2
    left = row[0] + centre
    right = axis.size - 1 - (row[-1] + centre)
    return 0 if right - left in (0, 1) else 1


@settings(max_examples=400, derandomize=True, deadline=None)
@given(axes())
def test_count_and_cells_are_those_of_the_naive_placement(axis: Axis) -> None:
    expected = placed(axis)
    assert axis.count == len(expected)
    assert [list(axis.cells(position)) for position in range(axis.count)] == expected


@settings(max_examples=400, derandomize=True, deadline=None)
@given(axes())
def test_unread_cells_are_those_in_no_kernel(axis: Axis) -> None:
    read = {cell for position in range(axis.count) for cell in axis.cells(position)}
    lower, upper = axis.unread()
    unread = set(range(axis.size)) - read
    assert unread == set(range(lower)) | set(range(axis.size - upper, axis.size))
    assert len(unread) == lower + upper


@settings(max_examples=400, derandomize=True, deadline=None)
@given(axes())
def test_every_centre_is_a_real_node(axis: Axis) -> None:
    centres = [axis.centre(position) for position in range(axis.count)]
    assert all(0 <= centre < axis.size for centre in centres)
    assert all(b - a == axis.stride for a, b in pairwise(centres))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(axes())
def test_a_kernel_has_a_real_cell_and_never_more_than_its_length(axis: Axis) -> None:
    lengths = [len(axis.cells(position)) for position in range(axis.count)]
    assert all(1 <= length <= axis.kernel for length in lengths)
    assert axis.real_taps() == sum(lengths)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(axes())
def test_proposed_pads_are_valid_and_filled(axis: Axis) -> None:
    pads = filling_pads(axis)
    if pads is not None:
        padded = Axis(axis.size, axis.kernel, axis.stride, lower=pads[0], upper=pads[1])
        assert is_valid(padded)
        assert sum(pads) > 0


@settings(max_examples=200, derandomize=True, deadline=None)
@given(axes())
def test_the_arithmetic_shown_evaluates_to_what_it_says(axis: Axis) -> None:
    formula, _, result = positions(axis).partition(" = ")
    assert eval(formula.replace("/", "//")) == int(result) == axis.count


@pytest.mark.parametrize(
    ("axis", "count", "text"),
    [
        (Axis(29, 5, 2), 13, "(29 - 5) / 2 + 1 = 13"),
        (Axis(28, 5, 2, upper=1), 13, "(28 + 0 + 1 - 5) / 2 + 1 = 13"),
        (Axis(28, 5, 2, padding=True), 14, "(28 - 1) / 2 + 1 = 14"),
        (Axis(28, 5, 2), 12, "(28 - 5) / 2 + 1 = 12"),
        (Axis(24, 2, 2), 12, "(24 - 2) / 2 + 1 = 12"),
        (Axis(12, 3), 10, "(12 - 3) / 1 + 1 = 10"),
        (Axis(12, 3, padding=True), 12, "(12 - 1) / 1 + 1 = 12"),
    ],
)
def test_numbers_of_the_guide(axis: Axis, count: int, text: str) -> None:
    assert axis.count == count
    assert positions(axis) == text


def test_an_odd_leftover_falls_above_odd_kernels_and_below_even_ones() -> None:
    assert Axis(28, 5, 2).unread() == (0, 1)
    assert Axis(7, 2, 2).unread() == (1, 0)


def test_the_padded_norm_of_the_guide_keeps_its_source() -> None:
    kernels = ((5, 1), (12, 3), (12, 3))
    assert output_shape(tuple(Axis(i, k) for i, k in kernels)) == (5, 10, 10)
    assert output_shape(tuple(Axis(i, k, padding=True) for i, k in kernels)) == (5, 12, 12)


def test_maps_are_grouped_within_their_dimension() -> None:
    plane = (Axis(10, 3), Axis(10, 3))
    assert output_shape(plane, (2, 3)) == (2 * 8, 3 * 8)
    assert output_shape((Axis(29, 5, 2), Axis(29, 5, 2)), (5, 1)) == (65, 13)
    assert kernel_count(plane, (True, True), (2, 3)) == 6


def test_the_second_convolution_of_the_guide_has_50_kernels() -> None:
    conv2 = (Axis(5, 1), Axis(13, 5, 2), Axis(13, 5, 2))
    assert output_shape(conv2, (10, 1, 1)) == (50, 5, 5)
    assert kernel_count(conv2, (False, True, True), (10, 1, 1)) == 50
