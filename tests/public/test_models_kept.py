"""Models and estimators can be pickled, copied, saved and printed at any time."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_engine.model_file import read_file
from tests.engine_training.test_model_file import rewritten

SPEC = "input D auto; hidden H [6] tanh from D all; output O auto softmax from H all;"
X = np.random.default_rng(7).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)
MODELS = Path(__file__).resolve().parents[3] / "shared" / "peer" / "models"
LAYERS = 600
DEEP = "".join(
    ["input H0 auto;"]
    + [f"hidden H{number} [2] tanh from H{number - 1} all;" for number in range(1, LAYERS)]
    + [f"output O auto softmax from H{LAYERS - 1} all;"]
)


@pytest.mark.costly
@pytest.mark.parametrize("again", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
@pytest.mark.parametrize("text", [SPEC, DEEP], ids=["shallow", "deep"])
def test_a_model_is_kept_before_and_after_it_predicts(again: Any, text: str) -> None:
    model = netsharp.train(text, X, Y, epochs=1, batch_size=40)
    before = again(model)
    answers = model.compute(X)
    after = again(model)
    for kept in (before, after, again(after)):
        assert kept.compute(X).tobytes() == answers.tobytes()
        assert kept.predict(X).predicted.dtype == Y.dtype
    further = copy.copy(model)
    assert further.compute(X).tobytes() == answers.tobytes()


@pytest.mark.skipif(not MODELS.is_dir(), reason="models of CNTK's are not beside the checkout")
@pytest.mark.parametrize("name", ["solar.dnn", "mnist_conv.cmf"])
def test_a_model_of_cntk_is_kept_too(name: str) -> None:
    model = netsharp.load(MODELS / name)
    kept = pickle.loads(pickle.dumps(model))
    size = model.encoding.features
    rows = np.random.default_rng(1).normal(size=(3, size)).astype(model.settings.dtype)
    (key,) = model.inputs
    given: Any = {key: [rows] if model.network.over_time else rows}
    asked = list(model.outputs)[:1]
    first = model.predict(given, outputs=asked).values
    assert kept.predict(given, outputs=asked).values[asked[0]].tobytes() == (
        first[asked[0]].tobytes()
    )
    assert pickle.loads(pickle.dumps(model)).outputs == model.outputs


def test_a_model_prints_in_three_lines() -> None:
    model = netsharp.train(SPEC, X, Y, epochs=2)
    lines = repr(model).splitlines()
    assert lines[:2] == [
        "Model: D [3] -> O [2], 38 parameters",
        "classification, 2 classes: 0, 1; 2 epochs of adam",
    ]
    assert lines[2].startswith("training, 40 rows: accuracy 0.")
    assert len(lines) == 3


def test_files_of_the_version_before_are_read(tmp_path: Path) -> None:
    model, path = netsharp.train(SPEC, X, Y, epochs=2), tmp_path / "m.safetensors"
    netsharp.save(model, path)
    assert "labels" in read_file(str(path))[0]
    rewritten(path, version="1", labels=None)
    loaded = netsharp.load(path)
    assert loaded.compute(X).tobytes() == model.compute(X).tobytes()
    assert set(netsharp.predict(loaded, X)) <= {"0", "1"}


@pytest.mark.parametrize(
    "labels",
    [
        '{"kind": "int64", "values": [0]}',
        '{"kind": "int8", "values": [0, 700]}',
        '{"kind": "O", "values": [0, 1]}',
        '{"kind": "int64", "values": [0, 0]}',
        '{"kind": "int64", "values": [[0], 1]}',
        '{"kind": "bool", "values": [0, 2]}',
        "[]",
    ],
)
def test_labels_that_are_not_those_of_the_classes(labels: str, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    netsharp.save(netsharp.train(SPEC, X, Y, epochs=1), path)
    rewritten(path, labels=labels)
    with pytest.raises(netsharp.ModelError, match="is damaged"):
        netsharp.load(path)


def test_what_holds_no_model_is_not_saved(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: extra netsharp[sklearn]")
    estimator: Any = netsharp.NetSharpClassifier()
    with pytest.raises(ValueError, match=r"NetSharpClassifier holds no trained model .* Call fit"):
        netsharp.save(estimator, tmp_path / "m.safetensors")
    nothing: Any = 3
    with pytest.raises(ValueError, match="int holds no trained model"):
        netsharp.save(nothing, tmp_path / "m.safetensors")
