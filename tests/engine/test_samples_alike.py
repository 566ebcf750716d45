"""Forward alone, what a network makes of a row does not depend on where in a batch it lies."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.numpy_backend import build_plan, design_plan
from netsharp_engine.numpy_backend.kernels.products import LANES
from netsharp_engine.train.measure import BATCH
from netsharp_lsp.netsharp.lower import build_graph

NETWORKS = {
    "full": "input A [144]; hidden H [20] tanh from A all; output B [16] linear from H all;",
    "wide": "input A [784]; hidden H [100] sigmoid from A all; output B [33] linear from H all;",
    "convolution": """\
        input A [13, 13];
        hidden C [16, 5, 5] tanh from A convolve {
          InputShape = [13, 13]; KernelShape = [5, 5]; Stride = [2, 2]; MapCount = 16;
        }
        output B [24] linear from C all;""",
    "filtered": """\
        input A [100];
        hidden F [40] tanh from A where (s, d) => s[0] % 3 == d[0] % 3;
        output B [20] linear from F all;""",
    "edges": """\
        input A [1000];
        hidden F [500] tanh from A where (s, d) => s[0] / 2 == d[0];
        output B [20] linear from F all;""",
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NETWORKS)
def test_equal_rows_get_equal_bits(name: str, dtype: str, seed: int) -> None:
    graph = build_graph(NETWORKS[name], {})
    plan = build_plan(design_plan(graph, BATCH, None, dtype, training=False), 2)
    random = np.random.default_rng(seed)
    plan.load(
        {each.name: random.standard_normal(each.shape).astype(dtype) for each in graph.parameters}
    )
    for row in random.standard_normal((5, 1, graph.features)).astype(dtype):
        plan.feed(np.repeat(row, BATCH, axis=0))
        plan.forward()
        found = np.array(plan.output)
        np.testing.assert_array_equal(found, np.repeat(found[:1], BATCH, axis=0))


def test_batches_are_whole_lanes() -> None:
    assert BATCH % LANES == 0
