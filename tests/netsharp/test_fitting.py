"""Proposed kernels lead to the declared size, and to the guide's own where that is theirs."""

from __future__ import annotations

import pytest

from netsharp_engine.geometry import Axis
from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.ide.completion.fitting import Figures, fitted, usual
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.meaning.values.attributes import KERNEL_KINDS
from netsharp_lsp.netsharp.reading.parser import parse
from tests.collection import SAMPLES, Sample

COMPLETE = [sample for sample in SAMPLES if sample.complete]
CONVOLVE, MAX, MEAN, NORM = KERNEL_KINDS


@pytest.mark.parametrize(
    ("kind", "shape", "declared", "kernel", "stride", "padding", "maps"),
    [
        (CONVOLVE, (29, 29), (5, 13, 13), (5, 5), (2, 2), (False, False), 5),
        (CONVOLVE, (29, 29), (25, 25), (5, 5), (1, 1), (False, False), 1),
        (CONVOLVE, (5, 13, 13), (50, 5, 5), (5, 5, 5), (1, 2, 2), (False,) * 3, 50),
        (CONVOLVE, (3, 32, 32), (8, 32, 32), (3, 5, 5), (1, 1, 1), (False, True, True), 8),
        (MAX, (5, 24, 24), (5, 12, 12), (1, 2, 2), (1, 2, 2), (False,) * 3, 1),
        (MEAN, (5, 13, 13), (5, 11, 11), (1, 3, 3), (1, 1, 1), (False,) * 3, 1),
        (NORM, (5, 12, 12), (5, 10, 10), (1, 3, 3), (1, 1, 1), (False,) * 3, 1),
        (NORM, (5, 12, 12), (5, 12, 12), (1, 3, 3), (1, 1, 1), (True,) * 3, 1),
    ],
)
def test_a_kernel_for_a_declared_size(
    kind: str,
    shape: tuple[int, ...],
    declared: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[bool, ...],
    maps: int,
) -> None:
    figures = fitted(kind, shape, declared)
    assert figures is not None
    found = (figures.kernel, figures.stride, figures.padding, figures.maps)
    assert found == (kernel, stride, padding, maps)


@pytest.mark.parametrize("kind", KERNEL_KINDS)
@pytest.mark.parametrize("declared", [None, (), (7,), (5, 2, 9), (1, 2, 3, 4)])
def test_where_nothing_fits_nothing_is_made_up(kind: str, declared: tuple[int, ...] | None) -> None:
    assert fitted(kind, (5, 13, 13), declared) is None


@pytest.mark.parametrize("sample", COMPLETE, ids=lambda sample: sample.name)
def test_a_proposal_leads_to_the_declared_size(sample: Sample) -> None:
    for bundle in resolve(parse(sample.text), Context()).bundles():
        if bundle.geometry is None or bundle.input_shape is None or bundle.kind is None:
            continue
        figures = fitted(bundle.kind, bundle.input_shape, bundle.layer.shape)
        if figures is None:
            figures = usual(bundle.kind, bundle.input_shape)
        else:
            assert nodes(bundle.input_shape, figures) == bundle.layer.nodes
        sizes = zip(figures.stride, figures.kernel, bundle.input_shape, strict=True)
        assert all(1 <= stride <= kernel <= size for stride, kernel, size in sizes)


def nodes(shape: tuple[int, ...], figures: Figures) -> int:
    """The nodes that figures give: maps times positions."""
    total = figures.maps
    columns = (shape, figures.kernel, figures.stride, figures.padding)
    for size, kernel, stride, padding in zip(*columns, strict=True):
        total *= Axis(size, kernel, stride, padding=padding).count
    return total
