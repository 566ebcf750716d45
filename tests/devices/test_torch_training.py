"""Two hundred steps of every example on torch beside numpy, and runs that go on elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netsharp_engine.graph import GraphError
from netsharp_engine.model import ModelError, load_model, save_model
from netsharp_engine.program import Job
from netsharp_engine.train import TrainingError, prepare, read_settings, resume, train
from tests.engine.test_programs import NAMES, ROWS, example, numbers
from tests.engine_training.small_networks import layered
from tests.engine_training.tables import blobs
from tests.peers import REASONS

pytest.importorskip("torch", reason=REASONS["torch"])

from netsharp_engine.torch_backend import TorchBackend

STEPS, BATCH = 200, 8
#: How far losses and weights may be apart after `STEPS` steps.
CLOSE = {"float64": 1e-9, "float32": 1e-5}


def both(graph, data, settings):
    """All numbers of a run on the processor and of one on torch."""
    found = []
    for device in ("cpu", "torch:cpu"):
        reported = []
        chosen = replace(settings, device=device)
        result = train(graph, data, chosen, on_event=reported.append)
        assert result.status == "finished"
        found.append(numbers(result, reported))
    return found


@pytest.mark.costly
@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("name", NAMES)
def test_every_example_takes_the_same_course(name, dtype, tmp_path):
    graph, data, settings = example(name, tmp_path)
    settings = replace(settings, epochs=-(-STEPS * BATCH // ROWS), dtype=dtype)
    ours, theirs = both(graph, data, settings)
    assert ours.keys() == theirs.keys()
    for key, expected in ours.items():
        # The losses are what a training reports; weights may differ by ten times as much.
        close = CLOSE[dtype] * (1 if key.startswith("epoch") else 10)
        np.testing.assert_allclose(theirs[key], expected, rtol=close, atol=close, err_msg=key)


DEVICES = ("cpu", "torch:cpu")
RULES = (
    {"optimizer": "sgd", "momentum": 0.9, "nesterov": True},
    {"optimizer": "adadelta"},
    {"optimizer": "adam", "dropout": 0.3},
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["optimizer"])
@pytest.mark.parametrize("first", DEVICES)
def test_a_run_that_is_stopped_continues_on_the_other_device(first, rule, tmp_path):
    """Weights, what the rule remembers, masks and order of rows cross: one run, two devices."""
    flags = {"epochs": 4, "batch_size": 8, "dtype": "float64", "normalizer": "none", **rule}
    settings = read_settings({}, {**flags, "device": first})
    data = prepare(blobs(24), settings)
    asked = iter(range(100))
    part = train(layered(3, 3), data, settings, should_stop=lambda: next(asked) == 4)
    assert part.status == "interrupted"
    save_model(part.model, str(tmp_path / "part.safetensors"))
    model = load_model(str(tmp_path / "part.safetensors"))
    model.bind(layered(3, 3))
    other = DEVICES[1 - DEVICES.index(first)]
    reported = []
    ended = resume(model, data, read_settings({}, {"device": other}), on_event=reported.append)
    assert ended.model.settings.device == other
    assert ("device" in reported[0]) == (other != "cpu")
    whole = train(layered(3, 3), data, replace(settings, device="cpu"))
    for name, expected in whole.model.tensors.items():
        np.testing.assert_allclose(ended.model.tensors[name], expected, rtol=1e-9, atol=1e-9)


def test_a_model_answers_alike_on_every_device():
    settings = read_settings({}, {"epochs": 3, "device": "torch:cpu"})
    data = prepare(blobs(40), settings)
    model = train(layered(3, 3), data, settings).model
    rows = np.random.default_rng(1).normal(size=(70, 3))
    theirs = model.predict(rows)
    assert model.compute_on("cpu") == "cpu computes (numpy): requested."
    ours = model.predict(rows)
    assert list(theirs.predicted) == list(ours.predicted)
    np.testing.assert_allclose(theirs.probabilities, ours.probabilities, rtol=1e-5, atol=1e-6)
    with pytest.raises(ModelError, match=r"device gpu: There is no device 'gpu'\. Name auto"):
        model.compute_on("gpu")


def test_products_of_bf16_learn_as_well_and_keep_weights_in_float32():
    flags = {"epochs": 20, "batch_size": 8, "device": "torch:cpu"}
    data = prepare(blobs(200), read_settings({}, flags))
    results = {}
    for precision in ("float32", "bf16"):
        settings = read_settings({}, {**flags, "precision": precision})
        results[precision] = train(layered(3, 3), data, settings)
    whole, halved = (results[name].report for name in ("float32", "bf16"))
    assert {array.dtype for array in results["bf16"].model.tensors.values()} == {np.dtype("f4")}
    assert whole.loss != halved.loss
    assert halved.loss == pytest.approx(whole.loss, abs=0.02)
    assert halved.metrics["accuracy"] >= whole.metrics["accuracy"] - 0.02


def test_precision_goes_with_the_type_of_numbers():
    assert read_settings({}, {"precision": "float64"}).dtype == "float64"
    (fault,) = read_settings({}, {"precision": "bf16", "dtype": "float64"})
    assert fault == (
        "precision = bf16 goes with dtype = float32, and dtype = float64 is set. Change one."
    )
    settings = read_settings({}, {"precision": "bf16"})
    with pytest.raises(TrainingError, match=r"^device = cpu: cpu has no products of bf16\."):
        train(layered(3, 3), prepare(blobs(24), settings), settings)
    settings = read_settings({}, {"epochs": 1})
    data = prepare(blobs(24), settings)
    model = train(layered(3, 3), data, settings).model
    asked = read_settings({}, {"epochs": 2, "precision": "bf16", "device": "torch:cpu"})
    assert resume(model, data, asked).model.settings.precision == "bf16"


def test_a_device_without_float64_refuses_it():
    graph = layered(3, 3)
    with pytest.raises(GraphError, match=r"^torch:mps has no numbers of float64\."):
        TorchBackend("mps")(Job(graph, 4, "float64"))
    assert TorchBackend("mps")(Job(graph, 4, "float32")).unsupported() == []
