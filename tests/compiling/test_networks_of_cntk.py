"""Networks of CNTK in integers: the import beside the engine, the C beside the simulator, what is
lost, and what is refused by its name.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.compiled import CompiledNetwork
from netsharp_compile.importing.tensors import tensor_layers
from netsharp_compile.layers import SOFTMAX, values_of
from tests.cli.command_line import netsharp as command
from tests.cntk.training.model_writing import First, dictionary
from tests.cntk.training.random_models import Grown, first, second
from tests.compiling.builds import SANITIZED, require_same_bits
from tests.compiling.qdq_files import HAS_RUNTIME, answered, require_exported
from tests.conftest import SEED

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "cntk"


def shares(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def trained(name: str, folder: Path) -> Any:
    """An example, trained in a folder of its own."""
    shutil.copytree(EXAMPLES / name, folder / name)
    done = command("run", f"{name}.cntk", "command=learn", cwd=folder / name)
    assert done.code == 0, done.err
    return netsharp.load(folder / name / "out" / f"{name}.dnn")


def rows_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Features and numbers of classes of a file in text format."""
    features, labels = [], []
    for line in path.read_text().splitlines():
        streams = dict(one.split(maxsplit=1) for one in line.split("|") if one.strip())
        features.append([float(one) for one in streams["features"].split()])
        labels.append(int(np.argmax([float(one) for one in streams["labels"].split()])))
    return np.array(features), np.array(labels)


@pytest.mark.costly
@pytest.mark.parametrize("name", ["numerals", "plane"])
def test_an_example_is_imported_and_compiled(name: str, tmp_path: Path) -> None:
    model = trained(name, tmp_path)
    rows, _ = rows_of(tmp_path / name / "train.ctf")
    held, classes = rows_of(tmp_path / name / "test.ctf")
    *_, (_, found) = values_of(tensor_layers(model.graph, model.tensors), held)
    assert np.abs(shares(found) - model.compute(held)).max() < 1e-5
    made = netsharp.compile(model, rows, holdout=(held, classes.astype(str)))
    gate = made.report.gate
    assert gate is not None
    assert gate.right_before is not None
    assert gate.right is not None
    assert gate.right_before - gate.right <= max(1, len(held) * 0.005)
    require_same_bits(made, held[:40], tmp_path, "-O2", " ".join(SANITIZED))
    if HAS_RUNTIME:
        require_the_same_file(name, made, held, tmp_path / name)


def require_the_same_file(name: str, made: CompiledNetwork, held: np.ndarray, folder: Path) -> None:
    """Export the model with the rows that its run names: what onnxruntime makes of tensors is what
    the simulator makes of rows.
    """
    lines = require_exported(folder / "out" / f"{name}.dnn", folder, "--verify", "test.ctf")
    assert lines[1].startswith("note: ranges are read from train.ctf, on which learn of ")
    assert lines[-1].startswith(f"answers in onnxruntime, on {len(held):,} rows: ")
    path = folder / "net.onnx"
    made.write_onnx(path, held)
    (node,) = made._model.graph.inputs
    given = {"features": held.astype(np.float32).reshape(-1, *node.shape)}
    (tensor,) = answered(path, given).values()
    found = tensor.reshape(len(held), -1)
    ours = made.simulate(held).probabilities
    assert ours is not None
    np.testing.assert_allclose(shares(found.astype(np.float64)), ours, atol=0.02)


def written(folder: Path, add: Any, shape: tuple[int, ...] = (4,)) -> Path:
    """A model of an input x of a shape and the nodes that are added, of which z answers."""
    stored = First(27)
    stored.input("x", shape)
    add(stored)
    groups = [("FeatureNodes", ["x"]), ("OutputNodes", ["z"])]
    path = folder / "net.dnn"
    path.write_bytes(stored.data(groups))
    return path


PRODUCT = b"\x01\0\0\0\0\0\0\0" + b"\xff\xff\xff\xff"


def test_two_branches_are_one_sum(tmp_path: Path) -> None:
    chance = np.random.default_rng(SEED)

    def add(stored: First) -> None:
        stored.parameter("V", chance.normal(size=(4, 4)))
        stored.parameter("half", np.array([0.5]))
        stored.add("Times", "v", PRODUCT, "V", "x")
        stored.add("RectifiedLinear", "h", b"", "v")
        stored.add("ElementTimes", "g", b"", "h", "half")
        stored.add("Tanh", "t", b"", "x")
        stored.add("Minus", "y", b"", "g", "t")
        stored.add("Sigmoid", "s", b"", "y")
        stored.parameter("W", chance.normal(size=(4, 3)))
        stored.add("Times", "z", PRODUCT, "W", "s")

    model = netsharp.load(written(tmp_path, add))
    layers = tensor_layers(model.graph, model.tensors)
    assert [(one.name, one.function) for one in layers] == [
        ("h", "rlinear"),
        ("t", "tanh"),
        ("s", "sigmoid"),
        ("z", "softmax"),
    ]
    assert len(layers[2].parts) == 2
    x = chance.normal(size=(100, 4))
    *_, (_, found) = values_of(layers, x)
    assert np.abs(shares(found) - model.compute(x)).max() < 1e-5
    require_same_bits(netsharp.compile(model, x), x, tmp_path)


class Compilable(Grown):
    """A network that grows by operations that are compiled, each row by itself."""

    def smooth(self, source: str) -> str:
        names = ("Sigmoid", "Tanh", "RectifiedLinear", "Negate", "Abs", "Pass", "Dropout")
        return self.same(self.among(names), source)

    calm = stepped = delayed = looped = smooth

    def pair(self, source: str) -> str:
        other = self.held(self.shapes[source])
        return self.same(self.among(("Plus", "Minus", "ElementTimes")), source, other)


#: Why a few of them are none: what is reduced by logarithms or least values, and a constant that
#: is beside values.
REFUSED = re.compile(r"the reduction '\w+' has no form|it is a constant among values|no form in")


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(200))
@pytest.mark.parametrize("form", ["v1", "v2"])
def test_networks_drawn_by_chance_are_imported_as_they_answer(
    form: str, number: int, tmp_path: Path
) -> None:
    grown = Compilable(SEED + number, form)
    path = tmp_path / "net.dnn"
    path.write_bytes(first(grown) if form == "v1" else dictionary(second(grown)))
    model = netsharp.load(path)
    layers, reason = [], ""
    try:
        layers = tensor_layers(model.graph, model.tensors)
    except netsharp.CompileError as error:
        reason = str(error)
    if not layers:
        assert REFUSED.search(reason), reason
        return
    size = sum(one.size for one in model.graph.inputs)
    x = np.random.default_rng(SEED + number).normal(size=(7, size))
    *_, (_, found) = values_of(layers, x)
    answers = found.reshape(7, -1)
    if layers[-1].function == SOFTMAX:
        answers = shares(answers)
    assert np.abs(answers - model.compute(x).reshape(7, -1)).max() < 1e-5


def test_what_has_no_form_in_integers_is_named(tmp_path: Path) -> None:
    def add(stored: First) -> None:
        stored.add("Sigmoid", "s", b"", "x")
        stored.add("Exp", "e", b"", "x")
        stored.add("ElementTimes", "z", b"", "s", "e")

    path = written(tmp_path, add)
    message = r"^'e' in .*net\.dnn cannot be compiled yet: Exp has no form in integers"
    with pytest.raises(netsharp.CompileError, match=message):
        netsharp.compile(path, np.zeros((3, 4)))
