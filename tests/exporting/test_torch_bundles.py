"""Bundles, activations and answers of Net# say the same in PyTorch as in the engine."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsharp
from netsharp_engine.activations import NAMES
from netsharp_engine.exporting.differences import BOUND
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.torch.exported import TorchForm, exported
from netsharp_engine.exporting.torch.operators.bundles import _CELLS
from netsharp_engine.exporting.torch.written import WrittenTorch, stored, write_torch
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

pytest.importorskip("torch", reason=REASONS["torch"])
from netsharp_engine.exporting.torch.comparing import Running
from tests.exporting.modules import formatted, require_plain, ruff

SEEDS = st.integers(0, 2**31)
GEOMETRIES = settings(max_examples=40, derandomize=True, deadline=None)


def agree(graph: Graph, output: Node, seed: int) -> Any:
    plan = plan_of(graph, output, 3, None, "float32")
    random = np.random.default_rng(seed)
    values = randomise(plan, random)
    x = random.uniform(-1, 1, (3, graph.features)).astype(np.float32)
    module = exported(Portable(graph, values, "float32", (output,)), TorchForm())
    require_plain(module.text)
    parts = np.split(x, np.cumsum([node.size for node in graph.inputs])[:-1], axis=1)
    given_as = [
        part.reshape(3, *node.shape) for node, part in zip(graph.inputs, parts, strict=True)
    ]
    (found,) = Running(module, stored(module))(given_as)
    np.testing.assert_allclose(found.reshape(3, -1), forward(plan, x), rtol=1e-5, atol=3e-6)
    return module


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
    module = agree(graph, node, 1)
    assert sum(one.size for one in module.state.values()) < 10 * size


@pytest.mark.parametrize("function", NAMES)
def test_activations(function: str) -> None:
    graph = Graph()
    weights = graph.parameter("W", (6, 4))
    total = graph.apply("full", graph.input("X", (4,)), parameters=(weights,), shape=(2, 3))
    agree(graph, graph.apply("activation", total, function=function, name="A"), 3)


def imported(written: WrittenTorch, folder: Path) -> Any:
    """The module as a person imports it, from its two files."""
    (folder / "network.py").write_text(written.text)
    (folder / "network.safetensors").write_bytes(written.numbers)
    specification = importlib.util.spec_from_file_location("network", folder / "network.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("normalizer", ["minmax", "robust", "binning", "none"])
@pytest.mark.parametrize("output", ["output Y [2] softmax", "output Y [1] sigmoid", "output Y [2]"])
def test_tables_with_texts_and_gaps(normalizer: str, output: str, tmp_path: Path) -> None:
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
    written = write_torch(model, TorchForm())
    assert written.differences is not None
    assert all(one.relative <= BOUND for one in written.differences)
    assert formatted(written.text) == written.text
    module = imported(written, tmp_path)
    cells = [[line[0], line[1], line[2] or None] for line in lines]
    network = module.load()
    (ours,) = predict_stream(model, str(tmp_path / "rows.csv"))
    assert module.predict(network, cells) == list(ours.predicted)
    _, shares = network(module.encode(cells))
    np.testing.assert_allclose(shares.detach().numpy(), ours.probabilities, atol=1e-5)
    # A colour that no row of the training had.
    assert module.predict(network, [[20.0, "violet", None]])[0] in module.CLASSES


def test_a_regression_answers_with_a_number(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(60, 3))
    model = netsharp.train(
        "input X [3];\nhidden H [4] from X all;\noutput Y [1] linear from H all;\n",
        x,
        1e4 * x.sum(1) + 5e4,
        task="regression",
        epochs=2,
    )
    written = write_torch(model, TorchForm())
    assert written.outputs == ("prediction [batch]",)
    module = imported(written, tmp_path)
    found = module.load()(module.encode(x.tolist())).detach().numpy()
    np.testing.assert_allclose(found, model.predict(x).predicted, rtol=1e-5, atol=1e-6)


def test_a_regression_with_several_answers(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(60, 3))
    model = netsharp.train(
        "input X [3];\nhidden H [4] from X all;\noutput Y [2] linear from H all;\n",
        x,
        np.stack([1e4 * x.sum(1) + 5e4, x[:, 0] - x[:, 2]], 1),
        task="regression",
        epochs=2,
    )
    written = write_torch(model, TorchForm())
    assert written.outputs == ("prediction [batch, 2]",)
    module = imported(written, tmp_path)
    found = module.load()(module.encode(x.tolist())).detach().numpy()
    assert found.shape == (60, 2)
    np.testing.assert_allclose(found, model.predict(x).predicted, rtol=1e-5, atol=1e-6)


def test_hostile_classes_and_columns_are_texts(tmp_path: Path) -> None:
    hostile = ['"""; import os', "'\\", "\u540d\u2028x", "{floats}"]
    rows = [["1" if number % 2 else "2", hostile[number % 4]] for number in range(40)]
    names = ['a"b\\', "kind"]
    text = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [names, *rows]]
    (tmp_path / "rows.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    model = netsharp.train(
        "input X auto;\nhidden H [3] tanh from X all;\noutput Y [4] softmax from H all;\n",
        train=str(tmp_path / "rows.csv"),
        label="kind",
        epochs=1,
    )
    written = write_torch(model, TorchForm())
    require_plain(written.text)
    assert formatted(written.text) == written.text
    ruff("check", "--select", "E4,E7,E9,F,B", "-", text=written.text)
    assert sorted(imported(written, tmp_path).CLASSES) == sorted(hostile)
