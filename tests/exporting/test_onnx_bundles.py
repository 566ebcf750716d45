"""Bundles, activations and answers of Net# say the same in onnxruntime as in the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsharp
from netsharp_engine.activations import NAMES
from netsharp_engine.exporting.differences import BOUND
from netsharp_engine.exporting.onnx.operators.bundles import _CELLS
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.graph import Graph, Node
from netsharp_engine.model import predict_stream
from tests.engine.networks import (
    axes_of,
    convolution,
    dimensions,
    filtered,
    filters,
    forward,
    plan_of,
    randomise,
)
from tests.exporting.tables import rows_of_texts
from tests.peers import REASONS

pytest.importorskip("onnxruntime", reason=REASONS["onnxruntime"])
from netsharp_engine.exporting.onnx.checking import Runtime, require_valid
from netsharp_engine.exporting.onnx.exported import OnnxForm, exported
from netsharp_engine.exporting.onnx.written import write_onnx

SEEDS = st.integers(0, 2**31)
GEOMETRIES = settings(max_examples=60, derandomize=True, deadline=None)


def agree(graph: Graph, output: Node, seed: int, opset: int = 17) -> Any:
    random = np.random.default_rng(seed)
    plan = plan_of(graph, output, 3, None, "float32")
    values = randomise(plan, random)
    x = random.uniform(-1, 1, (3, graph.features)).astype(np.float32)
    model = exported(Portable(graph, values, "float32", (output,)), OnnxForm(opset))
    require_valid(model)
    parts = np.split(x, np.cumsum([node.size for node in graph.inputs])[:-1], axis=1)
    given_as = {
        node.name: part.reshape(3, *node.shape)
        for node, part in zip(graph.inputs, parts, strict=True)
    }
    (found,) = Runtime(model.SerializeToString())(given_as, [model.graph.output[0].name])
    ours = forward(plan, x)
    np.testing.assert_allclose(found.reshape(3, -1), ours, rtol=1e-5, atol=3e-6)
    return model


@GEOMETRIES
@given(dimensions(sharing=True), SEEDS)
def test_convolution(found: Any, seed: int) -> None:
    graph = Graph()
    source = graph.input("X", tuple(d.size for d in found))
    agree(graph, convolution(graph, source, found), seed)


@pytest.mark.parametrize("kind", ["max", "mean"])
@GEOMETRIES
@given(found=dimensions(), seed=SEEDS)
def test_pools(kind: str, found: Any, seed: int) -> None:
    graph = Graph()
    source = graph.input("X", tuple(d.size for d in found))
    agree(graph, graph.apply(f"{kind} pool", source, axes=axes_of(found), name="P"), seed)


@GEOMETRIES
@given(found=dimensions(), seed=SEEDS, whole=st.booleans(), beta=st.sampled_from([0.5, 0.75, 1.2]))
def test_response_norm(found: Any, seed: int, whole: bool, beta: float) -> None:
    graph = Graph()
    source = graph.input("X", tuple(d.size for d in found))
    attributes = {"alpha": 0.3, "beta": beta, "offset": 1.5, "over_full_kernel": whole}
    agree(
        graph,
        graph.apply("response norm", source, axes=axes_of(found), name="N", **attributes),
        seed,
    )


@GEOMETRIES
@given(filters(), SEEDS)
def test_filtered(drawn: Any, seed: int) -> None:
    source, shape, edges = drawn
    graph = Graph()
    agree(graph, filtered(graph, graph.input("X", source), shape, edges), seed)


def test_a_large_filtered_bundle_has_no_matrix() -> None:
    size = int(_CELLS**0.5) + 100
    graph = Graph()
    edges = [(number, (number * 7) % size) for number in range(size)]
    node = filtered(graph, graph.input("X", (size,)), (size,), edges)
    model = agree(graph, node, 1)
    assert sum(np.prod(one.dims) for one in model.graph.initializer) < 10 * size


@pytest.mark.parametrize("function", NAMES)
def test_activations(function: str) -> None:
    graph = Graph()
    weights = graph.parameter("W", (6, 4))
    total = graph.apply("full", graph.input("X", (4,)), parameters=(weights,), shape=(2, 3))
    agree(graph, graph.apply("activation", total, function=function, name="A"), 3)


@pytest.mark.parametrize("normalizer", ["minmax", "robust", "binning", "none"])
@pytest.mark.parametrize("output", ["output Y [2] softmax", "output Y [1] sigmoid", "output Y [2]"])
def test_tables_with_texts_and_gaps(normalizer: str, output: str, tmp_path: Any) -> None:
    lines, names = rows_of_texts(np.random.default_rng(7), 120)
    text = "\n".join(",".join(map(str, line)) for line in [names, *lines])
    (tmp_path / "rows.csv").write_text(text + "\n")
    model = netsharp.train(
        f"input X auto;\nhidden H [5] tanh from X all;\n{output} from H all;\n",
        train=str(tmp_path / "rows.csv"),
        label="label",
        categorical=["colour"],
        missing="mean",
        normalizer=normalizer,
        epochs=3,
    )
    written = write_onnx(model, OnnxForm())
    assert [one.split()[0] for one in written.inputs] == ["size", "colour", "more"]
    assert written.differences is not None
    assert all(one.relative <= BOUND for one in written.differences)
    runtime = Runtime(written.data)
    cells = {
        "size": np.array([[float(str(line[0]))] for line in lines], np.float32),
        "colour": np.array([[line[1]] for line in lines], object),
        "more": np.array([[float(str(line[2] or "nan"))] for line in lines], np.float32),
    }
    label, shares = runtime(cells, ["label", "probabilities"])
    (ours,) = predict_stream(model, str(tmp_path / "rows.csv"))
    np.testing.assert_allclose(shares, ours.probabilities, atol=1e-5)
    assert list(label) == list(ours.predicted)


def test_a_regression_answers_with_a_number() -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(60, 3))
    model = netsharp.train(
        "input X [3];\nhidden H [4] from X all;\noutput Y [1] linear from H all;\n",
        x,
        1e4 * x.sum(1) + 5e4,
        task="regression",
        epochs=2,
    )
    written = write_onnx(model, OnnxForm())
    assert written.outputs == ("prediction [batch]",)
    (found,) = Runtime(written.data)({"features": x.astype(np.float32)}, ["prediction"])
    np.testing.assert_allclose(found, model.predict(x).predicted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset", [13, 15, 18, 22])
def test_other_sets_of_operators(opset: int) -> None:
    graph = Graph()
    source = graph.input("X", (6,))
    agree(graph, graph.apply("mean pool", source, axes=axes_of([_Line()]), name="P"), 1, opset)


class _Line:
    """One dimension without pads."""

    size, kernel, stride, padding, lower, upper = 6, 2, 2, False, 0, 0


@pytest.mark.parametrize("names", [["label", "probabilities"], ["features", "H/X/weights"]])
def test_columns_that_are_called_as_other_tensors(names: list[str], tmp_path: Any) -> None:
    random = np.random.default_rng(5)
    rows = [[f"{random.normal():.3f}", "xyz"[random.integers(3)]] for _ in range(60)]
    lines = [[*names, "kind"], *([*row, "ab"[row[1] == "x"]] for row in rows)]
    (tmp_path / "rows.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    model = netsharp.train(
        "input X auto;\nhidden H [3] tanh from X all;\noutput Y [2] softmax from H all;\n",
        train=str(tmp_path / "rows.csv"),
        label="kind",
        categorical=[names[1]],
        epochs=2,
    )
    written = write_onnx(model, OnnxForm())
    assert [one.rpartition(" [")[0] for one in written.inputs] == names
    assert written.differences is not None
