"""Every operation that has an ONNX row gives the engine's values in onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from netsharp_engine.exporting.onnx.operators.bundles import BUNDLES
from netsharp_engine.exporting.onnx.operators.table import ROWS, why_not
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.graph import Graph
from netsharp_engine.ops.tensors import COUNTING, ENVIRONMENT, HELD, SUMS, TENSORS
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from tests.cntk.training.operations import CASES, PREPARED, SAMPLES, Shape, values
from tests.conftest import SEED
from tests.peers import REASONS

pytest.importorskip("onnxruntime", reason=REASONS["onnxruntime"])
from netsharp_engine.exporting.onnx.checking import Runtime, require_valid
from netsharp_engine.exporting.onnx.exported import OnnxForm, exported
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.tensor_backend.kernels.table import TABLE

#: Regions are written by their corners, of images that come with them.
EXPORTED = [
    case
    for case in CASES
    if case[0] in ROWS
    and SAMPLES in case[3]
    and (case[0] != "ROIPooling" or ("scale" in case[2] and 1 not in case[3]))
]


@pytest.mark.drawn
@pytest.mark.parametrize(("operation", "sizes", "attributes", "spread"), EXPORTED)
def test_operation(
    operation: str,
    sizes: tuple[Shape, ...],
    attributes: Mapping[str, Any],
    spread: tuple[int, ...],
) -> None:
    """Sources with one row are parameters, which all samples share."""
    random = np.random.default_rng(SEED)
    drawn = [values(operation, (n, *s), random) for n, s in zip(spread, sizes, strict=True)]
    drawn = PREPARED.get(operation, lambda same: same)(drawn)
    graph, tensors, sources = Graph(), {}, []
    for number, (size, array) in enumerate(zip(sizes, drawn, strict=True)):
        if len(array) == 1:
            parameter = graph.parameter(f"p{number}", size)
            tensors[parameter.name] = array[0]
            sources.append(
                graph.apply("LearnableParameter", parameters=[parameter], name=parameter.name)
            )
        else:
            sources.append(graph.input(f"x{number}", size))
    reported = dict(attributes)
    if operation == "Times" and len(sizes[0]) == 4:
        reported["outputRank"] = 2
    node = graph.apply(operation, *sources, name="y", **reported)
    # Not all of the runtime's operators take double precision.
    drawn = [one.astype(np.float32) for one in drawn]
    model = exported(Portable(graph, tensors, "float32", (node,)), OnnxForm())
    require_valid(model)
    given = {f"x{number}": one for number, one in enumerate(drawn) if len(one) > 1}
    (found,) = Runtime(model.SerializeToString())(given, ["y"])
    expected = TABLE[operation].forward(node, drawn)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)


def test_every_operation_is_written_or_refused_with_its_reason() -> None:
    elsewhere = {*HELD, *DELAYS, *COLUMNS, ENVIRONMENT}
    left = TENSORS - ROWS.keys() - elsewhere
    assert left.issuperset(SUMS)
    assert not left.intersection(COUNTING)
    for operation in sorted(left):
        assert why_not(operation).endswith(".")
    tried = {case[0] for case in EXPORTED}
    assert tried >= ROWS.keys() - BUNDLES.keys() - {
        *("Convolution", "Pooling", "MaxPooling", "AveragePooling", "Dropout", "StraightThrough"),
        *COUNTING,
    }


def test_a_criterion_is_refused_by_name() -> None:
    graph = Graph()
    x, labels = graph.input("x", (3,)), graph.input("labels", (3,))
    loss = graph.apply("CrossEntropyWithSoftmax", labels, x, name="ce")
    with pytest.raises(ExportError, match="'ce' is of type CrossEntropyWithSoftmax: it sums over"):
        exported(Portable(graph, {}, "float32", (loss,)), OnnxForm())


@pytest.mark.parametrize("names", [("h/Max", "z"), ("z", "h/constant"), ("h/Max/2", "h/Max")])
def test_outputs_have_their_names_whatever_other_tensors_are_called(names: tuple[str, str]) -> None:
    """A tensor inside a node is called like the node and an operator, as another node may be."""
    graph = Graph()
    root = graph.apply("Sqrt", graph.input("x", (3,)), name="h")
    asked = tuple(graph.apply(f, root, name=n) for f, n in zip(("Tanh", "Abs"), names, strict=True))
    model = exported(Portable(graph, {}, "float32", asked), OnnxForm())
    require_valid(model)
    assert [one.name for one in model.graph.output] == list(names)
    rows = np.random.default_rng(SEED).uniform(0, 4, (5, 3)).astype(np.float32)
    found = Runtime(model.SerializeToString())({"x": rows}, list(names))
    np.testing.assert_allclose(found, [np.tanh(np.sqrt(rows)), np.sqrt(rows)], rtol=1e-5)
