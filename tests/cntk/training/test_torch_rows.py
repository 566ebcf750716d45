"""Every operation of CNTK on torch against the processor: its value, and its gradient by autograd.

The cases are those on which the processor's kernels are tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from netsharp_engine.geometry import CorneredAxis, output_shape
from netsharp_engine.graph import Graph
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors import TENSORS
from netsharp_engine.tensor_backend.kernels.elements import reduced
from netsharp_engine.tensor_backend.kernels.table import TABLE, backward_of
from tests.cntk.training import test_images
from tests.cntk.training.operations import CASES, PREPARED, Shape, node_of, values
from tests.conftest import SEED

pytest.importorskip("torch", reason="PyTorch is in the dependency group 'peers'")
import torch

from netsharp_engine.torch_backend.tensors.kernels import table

#: How near values and gradients are to those of the processor.
CLOSE = {"float64": {"rtol": 1e-9, "atol": 1e-11}, "float32": {"rtol": 2e-4, "atol": 2e-5}}
TYPES = pytest.mark.parametrize("dtype", CLOSE)


def agree(node: Node, drawn: list[Any], dtype: str) -> None:
    """Compare a value, and the gradients of all sources that have one."""
    sources = [one.astype(dtype) for one in drawn]
    value = TABLE[node.op].forward(node, sources)
    by = np.random.default_rng(SEED).normal(size=value.shape).astype(dtype)
    backs = backward_of(node)
    tensors = [
        torch.tensor(one, requires_grad=back is not None)
        for one, back in zip(sources, backs, strict=True)
    ]
    found = table.TABLE[node.op](node, tensors)
    assert tuple(found.shape) == value.shape
    np.testing.assert_allclose(found.detach().numpy(), value, **CLOSE[dtype])
    asked = [number for number, back in enumerate(backs) if back is not None]
    if not asked:
        assert not found.requires_grad
        return
    wanted = [tensors[number] for number in asked]
    gradients: Any = [None] * len(asked)
    if found.requires_grad:
        gradients = torch.autograd.grad(found, wanted, torch.tensor(by), allow_unused=True)
    for number, gradient in zip(asked, gradients, strict=True):
        back, source = backs[number], sources[number]
        assert back is not None
        expected = reduced(back(node, sources, value, by), source.shape)
        ours = np.zeros_like(source) if gradient is None else gradient.numpy()
        np.testing.assert_allclose(ours, expected, err_msg=str(number), **CLOSE[dtype])


def test_every_operation_has_a_row() -> None:
    assert table.COMPUTED == TENSORS


@TYPES
@pytest.mark.drawn
@pytest.mark.parametrize(("operation", "sizes", "attributes", "spread"), CASES)
def test_operation(
    operation: str,
    sizes: tuple[Shape, ...],
    attributes: Mapping[str, Any],
    spread: tuple[int, ...],
    dtype: str,
) -> None:
    random = np.random.default_rng(SEED)
    drawn = [values(operation, (n, *size), random) for n, size in zip(spread, sizes, strict=True)]
    agree(node_of(operation, sizes, **attributes), PREPARED.get(operation, list)(drawn), dtype)


@TYPES
@pytest.mark.drawn
@pytest.mark.parametrize(("name", "backwards", "last"), test_images.WAYS)
def test_convolution(name: str, backwards: bool, last: bool, dtype: str) -> None:
    node = test_images.convolution_of(name, backwards, last)
    agree(node, drawn_of(node, 1, 3), dtype)


@TYPES
@pytest.mark.drawn
@pytest.mark.parametrize(
    "attributes", [{"groups": 2}, {"gaps": (1, 2, 1)}, {"groups": 2, "gaps": (1, 1, 3)}]
)
@pytest.mark.parametrize("backwards", [False, True])
def test_kernels_with_gaps_and_groups(
    attributes: dict[str, Any], backwards: bool, dtype: str
) -> None:
    groups, gaps = attributes.get("groups", 1), attributes.get("gaps", (1, 1, 1))
    if backwards and groups > 1:
        pytest.skip("transposed kernels have no groups")
    axes = tuple(
        CorneredAxis(size, (taps - 1) * gap + 1, stride)
        for size, taps, stride, gap in zip((4, 7, 8), (4, 2, 3), (4, 2, 1), gaps, strict=True)
    )
    given: dict[str, Any] = {"axes": axes, "maps": (6, 1, 1), "sharing": (True,) * 3}
    given |= {"transpose": backwards, "channels_last": False, **attributes}
    shape = output_shape(axes, (6, 1, 1)) if backwards else (4, 7, 8)
    graph = Graph()
    weights = graph.input("w", (6, 4 // groups * 2 * 3))
    node = graph.apply("Convolution", weights, graph.input("x", shape), name="y", **given)
    agree(node, drawn_of(node, 1, 3), dtype)


@TYPES
@pytest.mark.drawn
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize("name", test_images.POOLS)
def test_pooling(name: str, kind: str, last: bool, padded: bool, dtype: str) -> None:
    """Of whole numbers, so that several cells of a window are equal."""
    node = test_images.pooling_of(name, kind, last)
    node.attributes = {**node.attributes, "include_pads": padded}
    agree(node, [np.round(one * 2) for one in drawn_of(node, 3)], dtype)


@TYPES
@pytest.mark.parametrize("operation", ["LambdaRank", "NDCG1Eval"])
def test_answers_to_queries(operation: str, dtype: str) -> None:
    """Equal worths and scores, a query of one answer, and one whose answers are worth nothing."""
    query = [3.0, 3, 3, 3, 1, 2, 2, 2, 7, 7]
    worth = [4.0, 2, 2, 0, 1, 0, 0, 0, 3, 1]
    scores = [0.1, 0.5, 0.5, -0.3, 2, 1, 0, 0.5, 0.25, 0.25]
    node = node_of(operation, ((1,), (1,), (1,)))
    agree(node, [np.array(one).reshape(-1, 1) for one in (worth, scores, query)], dtype)


@TYPES
@pytest.mark.parametrize("operation", ["DummyCriterion", "StraightThrough"])
def test_gradients_that_are_given(operation: str, dtype: str) -> None:
    sizes: tuple[Shape, ...] = ((3, 4),)
    if operation == "DummyCriterion":
        sizes = ((1,), (4,), (2, 2))
    agree(node := node_of(operation, sizes), drawn_of(node, *(3,) * len(sizes)), dtype)


@TYPES
def test_where_slopes_end(dtype: str) -> None:
    """Numbers at kinks, at and below 0, and at the bounds of what is cut off."""
    edges = np.array([[0.0, -1.0, 1.0, 1e-38, 2.0, -0.0]])
    for operation in ("Abs", "RectifiedLinear", "Log", "Sqrt", "Reciprocal", "StraightThrough"):
        agree(node_of(operation, ((6,),)), [edges], dtype)
    agree(node_of("Clip", ((1,), (1,), (6,))), [*np.array([[[-1.0]], [[1.0]]]), edges], dtype)
    agree(node_of("LogPlus", ((6,), (6,))), [edges, edges * 20], dtype)
    agree(node_of("ExponentialLinearUnit", ((6,),)), [edges], dtype)
    powers = np.array([[2.0, 2.0, 0.5, 1.0, 3.0, 1.5]])
    agree(node_of("Pow", ((6,), (6,))), [np.abs(edges), powers], dtype)
    equal = {"axis": 0, "reductionOp": "Max"}
    agree(node_of("ReduceElements", ((6,),), **equal), [np.round(edges)], dtype)


@TYPES
@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")
@pytest.mark.parametrize("operation", ["CosDistance", "CosDistanceWithNegativeSamples"])
def test_cosines_of_vectors_without_a_direction(operation: str, dtype: str) -> None:
    """Zeros before, after and on both sides, and lengths whose squares are not numbers."""
    first = np.array([[0.0, 0, 0], [1, 2, 3], [0, 0, 0], [3e-31, 0, 0], [1e-25, 2e-25, 0]])
    second = np.array([[1.0, 2, 2], [0, 0, 0], [0, 0, 0], [1, 0, 0], [2, 1, 0]])
    if operation == "CosDistance":
        agree(node_of(operation, ((3,), (3,))), [first, second], dtype)
    else:
        node = node_of(operation, ((3,), (3,), (1,), (1,)), negatives=2)
        agree(node, [first, second, np.ones((1, 1)), np.full((1, 1), 2.0)], dtype)


def drawn_of(node: Node, *counts: int) -> list[Any]:
    """Numbers for a count of samples of each source."""
    random = np.random.default_rng(SEED)
    pairs = zip(counts, node.inputs, strict=True)
    return [random.normal(size=(count, *one.shape)) for count, one in pairs]
