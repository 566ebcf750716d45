"""Model files of CNTK from Python: what a model says of itself, copied and pickled."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import netsharp
from tests.cntk.training.model_writing import First
from tests.cntk.training.test_opened_models import HANDED


def chain(path: Path, length: int) -> Path:
    """A model of a chain of nodes, each of which reads the one before."""
    model = First(27)
    model.input("x", (3,))
    model.parameter("W", np.arange(6, dtype=np.float32).reshape(3, 2) / 6)
    model.add("Times", "n0", b"\x01\0\0\0\0\0\0\0" + b"\xff\xff\xff\xff", "W", "x")
    for number in range(1, length):
        model.add("Tanh", f"n{number}", b"", f"n{number - 1}")
    path.write_bytes(model.data([("FeatureNodes", ["x"]), ("OutputNodes", [f"n{length - 1}"])]))
    return path


def same(one: netsharp.Model, other: netsharp.Model) -> None:
    assert one.inputs == other.inputs
    assert one.outputs == other.outputs
    assert list(one.parameters) == list(other.parameters)
    for name, values in one.parameters.items():
        np.testing.assert_array_equal(values, other.parameters[name])
    assert [node.name for node in one.graph.nodes] == [node.name for node in other.graph.nodes]


@pytest.mark.parametrize("length", [3, 3000])
def test_a_model_is_copied_and_pickled(length: int, tmp_path: Path) -> None:
    model = netsharp.load(str(chain(tmp_path / "old.dnn", length)))
    assert model.inputs == {"x": (3,)}
    assert model.outputs == {f"n{length - 1}": (2,)}
    assert model.parameters["W"].shape == (3, 2)
    assert len(model.graph.nodes) >= length
    assert len(repr(model)) < 10_000
    rows = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 4.0]])
    answers, labels = model.compute(rows), model.predict(rows).predicted
    for made in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        same(model, made)
        np.testing.assert_array_equal(made.compute(rows), answers)
        assert made.predict(rows).predicted == labels


@pytest.mark.skipif(not HANDED.exists(), reason="shared/peer is not beside us")
@pytest.mark.parametrize("name", ["mnist_conv.cmf", "slu.forward.backward.cmf", "solar.dnn"])
def test_models_of_others_are_pickled_without_their_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes((HANDED / name).read_bytes())
    model = netsharp.load(str(path))
    path.unlink()
    pickled = pickle.dumps(model)
    assert len(pickled) < 1.3 * (HANDED / name).stat().st_size + 100_000
    same(model, pickle.loads(pickled))
