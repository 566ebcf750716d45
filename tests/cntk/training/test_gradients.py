"""Gradients of every operation on tensors against differences, in double precision.

Each source with a gradient, spread over samples and shared by all, and broadcast both ways.
"""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.graph import GraphError
from netsharp_engine.ops.tensors import TENSORS
from netsharp_engine.tensor_backend.kernels.elements import reduced
from netsharp_engine.tensor_backend.kernels.table import COMPUTED, TABLE, backward_of
from tests.cntk.training.operations import CASES, PREPARED, Shape, node_of, values
from tests.conftest import SEED


@pytest.mark.parametrize(("operation", "sizes", "attributes", "spread"), CASES)
def test_gradient(
    operation: str,
    sizes: tuple[Shape, ...],
    attributes: dict[str, object],
    spread: tuple[int, ...],
) -> None:
    random = np.random.default_rng(SEED)
    node, kernel = node_of(operation, sizes, **attributes), TABLE[operation]
    sources = [values(operation, (n, *size), random) for n, size in zip(spread, sizes, strict=True)]
    sources = PREPARED.get(operation, list)(sources)
    value = kernel.forward(node, sources)
    assert value.shape[1:] == node.shape
    by = random.normal(size=value.shape)
    for number, (source, back) in enumerate(zip(sources, backward_of(node), strict=True)):
        if back is None:
            continue
        gradient = reduced(back(node, sources, value, by), source.shape)
        assert gradient.shape == source.shape
        for place in np.ndindex(source.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [one.copy() for one in sources]
                moved[number][place] += step
                ends.append(float((kernel.forward(node, moved) * by).sum()))
            slope = (ends[0] - ends[1]) / 2e-6
            assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-7), (number, place)


def test_every_operation_has_a_kernel() -> None:
    assert COMPUTED == TENSORS


def test_ties_count_as_the_original_counts_them() -> None:
    node = node_of("ClassificationError", ((3,), (3,)))
    labels = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    scores = np.array([[2.0, 2.0, 1.0], [2.0, 2.0, 1.0], [0.0, 1.0, 1.0]])
    assert TABLE["ClassificationError"].forward(node, [labels, scores]) == 2


def test_a_logarithm_is_clipped() -> None:
    node = node_of("Log", ((3,),))
    found = TABLE["Log"].forward(node, [np.array([[0.0, -1.0, np.e]])])
    assert found.tolist() == [[-85.1, -85.1, 1.0]]


def test_a_logarithm_of_a_sum_leaves_out_what_the_original_does() -> None:
    node = node_of("LogPlus", ((3,), (3,)))
    left, right = np.array([[0.0, 5.0, -20.0]]), np.array([[0.0, -4.5, -8.0]])
    found = TABLE["LogPlus"].forward(node, [left, right])
    assert found.tolist() == [[np.log(2), 5.0, -8.0]]


def test_the_label_may_be_among_the_best() -> None:
    node = node_of("ClassificationError", ((4,), (4,), (1,)))
    labels = np.eye(4)[[0, 1, 2, 3]]
    scores = np.array([[4.0, 3, 2, 1]] * 4)
    missed = [
        TABLE["ClassificationError"].forward(node, [labels, scores, np.full((1, 1), float(most))])
        for most in (1, 2, 3, 4, 9)
    ]
    assert [one.item() for one in missed] == [3, 2, 1, 0, 0]


def test_negative_samples_are_those_after() -> None:
    random = np.random.default_rng(SEED)
    first, second = random.normal(size=(2, 5, 3))
    node = node_of("CosDistanceWithNegativeSamples", ((3,), (3,), (1,), (1,)), negatives=2)
    found = TABLE[node.op].forward(
        node, [first, second, np.full((1, 1), 3.0), np.full((1, 1), 2.0)]
    )
    for at, number in np.ndindex(5, 3):
        other = second[(at + (0, 3, 4)[number]) % 5]
        cosine = first[at] @ other / np.linalg.norm(first[at]) / np.linalg.norm(other)
        assert found[at, number] == pytest.approx(cosine, rel=1e-12)


@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")
@pytest.mark.parametrize(
    ("dtype", "own"), [("float32", [np.nan] * 3), ("float64", [1e30 / 3, 2e30 / 3, 2e30 / 3])]
)
def test_the_cosine_of_a_vector_of_zeros_has_the_gradient_of_the_original(
    dtype: str, own: list[float]
) -> None:
    """CNTK divides by 1e-30, and squares that: more than a number of 32 bits holds.

    Source: LinearAlgebraNodes.h, CosDistanceNode, and CPUMatrixImpl.h, AssignElementInverseOf.
    """
    node = node_of("CosDistance", ((3,), (3,)))
    sources = [np.zeros((1, 3), dtype), np.array([[1, 2, 2]], dtype)]
    value = TABLE[node.op].forward(node, sources)
    assert value.tolist() == [[0.0]]
    found = [back(node, sources, value, np.ones_like(value)) for back in backward_of(node) if back]
    np.testing.assert_allclose(found[0], [own], rtol=1e-6)
    assert found[1].tolist() == [[0.0, 0.0, 0.0]]


def test_a_given_gradient_is_handed_on() -> None:
    node, random = node_of("DummyCriterion", ((1,), (4,), (2, 2))), np.random.default_rng(SEED)
    sources = [random.normal(size=(3, *shape)) for shape in ((1,), (4,), (2, 2))]
    value = TABLE["DummyCriterion"].forward(node, sources)
    assert value == pytest.approx(sources[0].sum())
    *none, back = backward_of(node)
    assert none == [None, None]
    assert back is not None
    found = back(node, sources, value, np.full((1, 1), 0.5))
    assert found.tolist() == (0.5 * sources[1].reshape(3, 2, 2)).tolist()


@pytest.mark.parametrize(
    "label", [(4, 1, 5, 7), (7, 1, 5, 7), (5, 2, 5, 7), (5, 1, 5, 8), (0, 0, 0, 0)]
)
def test_a_word_has_to_be_one_of_its_class(label: tuple[float, ...]) -> None:
    node = node_of("ClassBasedCrossEntropyWithSoftmax", ((4,), (3,), (7, 3), (2,)))
    sources = [np.array([label], float), np.ones((1, 3)), np.ones((1, 7, 3)), np.ones((1, 2))]
    with pytest.raises(GraphError, match=f"'y' has the label {', '.join(map(str, label))}"):
        TABLE[node.op].forward(node, sources)
