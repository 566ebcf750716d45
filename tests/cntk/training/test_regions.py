"""Pooling over regions and putting maxima back, against the plain words; what is left out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.ops.tensors import TENSORS
from netsharp_engine.tensor_backend.kernels.table import TABLE
from netsharp_lsp.cntk.networks.node import Node
from netsharp_lsp.cntk.networks.node_types import INPUTS, NODE_TYPES
from netsharp_lsp.cntk.training.networks.left_out import _REFUSED, _TYPES, TRACE, why_not
from netsharp_lsp.cntk.training.networks.recurrent_stacks import STACK
from netsharp_lsp.cntk.training.networks.simpler import PARTS
from tests.cntk.training.experiments import run
from tests.cntk.training.operations import node_of
from tests.cntk.training.test_rarer_nodes import experiment
from tests.conftest import SEED


def rounded(number: float) -> int:
    return math.floor(number + 0.5)


def test_regions_are_pooled_by_the_plain_words() -> None:
    random = np.random.default_rng(SEED)
    images = random.normal(size=(2, 3, 6, 5))
    regions = np.concatenate(
        [random.uniform(0, 1, (2, 9, 2)), random.uniform(0, 1.2, (2, 9, 2))], 2
    )
    regions[0, 0], regions[0, 1] = (0, 0, 1, 1), (1, 1, 0.5, 0.5)
    node = node_of("ROIPooling", ((3, 6, 5), (9, 4)), size=(4, 2))
    found = TABLE["ROIPooling"].forward(node, [images, regions])
    assert found.shape == (2, 9, 3, 4, 2)
    for sample, region, channel, y, x in np.ndindex(*found.shape):
        left, top, width, height = regions[sample, region]
        high, wide = max(rounded(height * 6), 1) / 4, max(rounded(width * 5), 1) / 2
        rows = range(6)[
            rounded(top * 6) + math.floor(y * high) : rounded(top * 6) + math.ceil((y + 1) * high)
        ]
        columns = range(5)[
            rounded(left * 5) + math.floor(x * wide) : rounded(left * 5) + math.ceil((x + 1) * wide)
        ]
        cells = [images[sample, channel, row, column] for row in rows for column in columns]
        assert found[sample, region, channel, y, x] == max(cells, default=0.0)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, -3.0, 1e30])
def test_regions_that_are_none_break_nothing_off(odd: float) -> None:
    node = node_of("ROIPooling", ((1, 4, 4), (1, 4)), size=(2, 2))
    for place in range(4):
        region = np.array([[[0.25, 0.25, 0.5, 0.5]]])
        region[0, 0, place] = odd
        found = TABLE["ROIPooling"].forward(node, [np.ones((1, 1, 4, 4)), region])
        assert np.isin(found, (0, 1)).all()


def test_values_go_back_to_the_places_of_maxima() -> None:
    """Of two windows with the same maximum the last one stays."""
    from netsharp_engine.geometry import CorneredAxis

    node = node_of("MaxUnpooling", ((3,), (7,)), axes=(CorneredAxis(7, 3, 2),))
    image = np.array([[1.0, 5, 9, 2, 3, 3, 0]])
    found = TABLE["MaxUnpooling"].forward(node, [np.array([[1.0, 2, 4]]), image])
    assert found.tolist() == [[0, 0, 2, 0, 4, 0, 0]]


LEFT_OUT = sorted(set(NODE_TYPES) - TENSORS - INPUTS - PARTS.keys() - {"DynamicAxis", STACK, TRACE})


def test_what_is_left_out_has_its_reason() -> None:
    """Each type of the first releases that is not done has a reason; none done is listed."""
    assert {name for name in LEFT_OUT if not NODE_TYPES[name].since} == {
        name for name in _TYPES if name in NODE_TYPES and not NODE_TYPES[name].since
    }
    for name in LEFT_OUT:
        assert why_not(Node(name, 0, "n")).startswith(f"is of type {name}, which")
    assert set(_REFUSED) == {"NoiseContrastiveEstimation"}
    for name in _REFUSED:
        assert name in TENSORS
        assert why_not(Node(name, 0, "n")).startswith(f"is of type {name}, which CNTK")


def test_a_type_that_is_left_out_is_refused_at_its_place(tmp_path: Path) -> None:
    node = "new ComputationNode { operation = 'SequenceWithSoftmax' ; inputs = y:h:h ; tag = '' }"
    experiment(tmp_path, f"m = {node} ; ce = SquareError (y, h + m)")
    answer, follower = run(tmp_path)
    assert answer.code == 2
    assert any(
        "line 9" in one and "of type SequenceWithSoftmax, which reads lattices" in one
        for one in answer.complaints
    )
    assert follower.events == []
    assert not (tmp_path / "out").exists()
