"""Models that CNTK itself wrote: the facts that are known of them, and what they answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.stored.dictionaries.wire import WireArray
from netsharp_engine.cntk.stored.model_file import raw_model, rewritten_model
from netsharp_engine.cntk.stored.opening import TrainerState, open_model, open_stored
from netsharp_engine.cntk.stored.values import StoredModel
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, Packed
from netsharp_engine.tensor_backend import TensorProgram
from netsharp_lsp.cntk.networks.stored import network_in
from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cli.command_line import netsharp

HANDED = Path(__file__).parents[4] / "shared" / "peer" / "models"
pytestmark = pytest.mark.skipif(not HANDED.exists(), reason="shared/peer is not beside us")


def opened(name: str) -> StoredModel:
    return open_model((HANDED / name).read_bytes())


def numbers(model: StoredModel, *, trained: bool) -> tuple[int, int]:
    """How many parameters are trained or are not, and how many numbers they have."""
    found = [
        one.values.size
        for one in model.nodes
        if one.operation == "LearnableParameter"
        and one.values is not None
        and bool(one.attributes["learningRateMultiplier"]) == trained
    ]
    return len(found), sum(found)


def answers(model: StoredModel, name: str, inputs: Any, steps: int = 0) -> Any:
    """What a node gives in float64; ``inputs`` makes the samples of an input of a size."""
    network = network_in(model, "")
    assert not network.troubles
    asked = model.found(name)
    assert asked is not None
    node = network.nodes[asked.name]
    graph = lowered(network, [node])
    graph.output = next(one for one in graph.nodes if one.name == node.name)
    program = TensorProgram(Job(graph, max(steps, 1), "float64"))
    values = model.numbers()
    program.load({one.name: values[one.name].reshape(one.shape) for one in graph.parameters})
    given: dict[str, Any] = {}
    for one in graph.inputs:
        array = inputs(one.size).reshape(-1, *one.shape)
        given[one.name] = Packed(array, packed(np.array([steps]))) if steps else array
    program.feed(Batch(given))
    program.forward()
    return program.read(graph.output)


def pattern(size: int, step: int = 0) -> Any:
    return ((37 * np.arange(size) + 11 * step + 5) % 101 / 101).astype(np.float32)


def test_an_image_network_of_version_10() -> None:
    model = opened("cifar10.ResNet.cmf")
    assert (model.format, model.version, model.dtype) == ("v1", 10, "float32")
    message = (
        "BatchNormalization 21, Convolution 19, CrossEntropyWithSoftmax 1, ErrorPrediction 1, "
    )
    message += "InputValue 2, LearnableParameter 107, Plus 10, Pooling 3, RectifiedLinear 19, "
    message += "RowStack 2, Times 1, TransposeDimensions 6"
    assert ", ".join(f"{name} {count}" for name, count in sorted(model.types.items())) == message
    assert (len(model.nodes), model.outputs) == (192, ("z",))
    assert numbers(model, trained=True) == (63, 269_914)
    assert numbers(model, trained=False)[1] == 1616
    shapes = {one.name: one.shape for one in model.nodes if one.operation == "InputValue"}
    assert shapes == {"features": (32, 32, 3), "labels": (10,)}
    assert model.groups["feature"] == ("features", "labels")
    assert "inverse deviations" in model.warnings[0]


def test_a_tagger_of_version_14() -> None:
    model = opened("slu.forward.backward.cmf")
    assert (model.format, model.version, len(model.nodes)) == ("v1", 14, 65)
    assert numbers(model, trained=True) == (13, 542_379)
    assert numbers(model, trained=False)[1] == 900
    assert model.types["Slice"] == 8
    assert model.types["FutureValue"] == 2


def test_an_image_network_of_the_second_format() -> None:
    model = opened("mnist_conv.cmf")
    assert model.format == "v2"
    assert model.versions == {"dictionary": 2, "composite": 3, "primitive": 15}
    message = "Block 5, Convolution 2, Plus 3, Pooling 2, ReLU 2, Softmax 1, Times 1"
    assert ", ".join(f"{name} {count}" for name, count in sorted(model.types.items())) == message
    kinds = sorted(one.function for one in model.blocks)
    assert kinds == ["Convolution", "Convolution", "Dense", "MaxPooling", "MaxPooling"]
    assert numbers(model, trained=True) == (6, 5994)
    assert numbers(model, trained=False) == (0, 0)
    assert model.groups["output"] == ("Softmax2014",)
    by_uid = model.found("Input1019")
    assert by_uid is not None
    assert by_uid is model.found("input")
    assert by_uid.shape == (28, 28, 1)


def test_losses_of_the_second_format_are_means_over_what_they_compare(tmp_path: Path) -> None:
    """One number for a sequence: the mean over sequences, and not over their steps."""
    data = tmp_path / "s.ctf"
    lines = (
        "0 |x 0.1 |y 0.5",
        "0 |x 0.2",
        "0 |x 0.3",
        "1 |x 0.3 |y 0.1",
        "1 |x 0.4",
        "2 |x 1 |y 1",
    )
    data.write_text("\n".join(lines) + "\n")
    flags = "--stream", "Input3=x", "--stream", "Input937=y", "--data", str(data)
    model = str(HANDED / "solar.dnn")
    output = netsharp("predict", model, *flags, cwd=tmp_path).out.splitlines()[1:]
    values = [float(line.split(",")[2]) for line in output]
    assert len(values) == 3
    mean = sum((one - wanted) ** 2 for one, wanted in zip(values, (0.5, 0.1, 1), strict=True)) / 3
    done = netsharp("evaluate", model, *flags, "--format", "json", cwd=tmp_path)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["samples"] == 3
    assert found["criteria"] == pytest.approx(dict.fromkeys(found["criteria"], mean), rel=1e-5)


def test_a_recurrent_network_of_the_second_format() -> None:
    model = opened("solar.dnn")
    assert model.versions == {"dictionary": 2, "composite": 3, "primitive": 24}
    message = "Block 5, Combine 2, ElementTimes 5, FutureValue 1, GatherPacked 1, Minus 2, "
    message += "PackedIndex 1, PastValue 2, Plus 4, ReconcileDynamicAxis 1, ReduceElements 4, "
    message += "Slice 4, StableSigmoid 3, Tanh 2, Times 3, Where 1"
    assert ", ".join(f"{name} {count}" for name, count in sorted(model.types.items())) == message
    assert sum(model.types.values()) == 41
    kinds = sorted(one.function for one in model.blocks)
    assert kinds == ["Dense", "LSTM", "Sequence::Slice", "SquaredError", "SquaredError"]
    assert numbers(model, trained=True) == (5, 1036)
    assert numbers(model, trained=False)[1] == 3
    assert model.outputs == ("Block872",)
    assert model.groups["label"] == ("Input937",)


def test_a_checkpoint_of_the_second_format() -> None:
    state = open_stored((HANDED / "solar.dnn.ckp").read_bytes())
    assert isinstance(state, TrainerState)
    assert state.values["Version"] == 1
    (learner,) = state.values["Learners"]
    assert (learner["version"], learner["sample_count"]) == (3, 124_340)
    assert (learner["minibatchCount"], learner["sweepCount"]) == (6826, 13)
    moments = learner["smoothed_gradients"]
    assert all(isinstance(one, WireArray) for one in moments)
    assert [one.shape for one in moments] == [(1, 30), (1, 2), (60, 2), (60, 2), (60, 30)]


@pytest.mark.parametrize("name", ["cifar10.ResNet.cmf", "slu.forward.backward.cmf"])
def test_a_file_is_written_as_it_was(name: str) -> None:
    data = (HANDED / name).read_bytes()
    assert rewritten_model(raw_model(data)) == data


#: Recorded of each model: its node, the inputs made for a size, steps, values.
RECORDED = {
    "cifar10.ResNet.cmf": (
        "z",
        lambda size: pattern(size) * np.float32(255),
        0,
        "1.749009 11.05954 4.662219 -0.2014417 -5.709054 -7.654743 5.346413 -6.540181 -2.34887"
        " -0.3467192",
    ),
    "mnist_conv.cmf": (
        "output",
        pattern,
        0,
        "0.0527291 0.2780985 0.2976203 0.0694389 0.04626862 0.03391379 0.05213706 0.02805184"
        " 0.0520231 0.08971877",
    ),
    "solar.dnn": (
        "Block872",
        lambda size: np.array([pattern(size, step) for step in range(6)]),
        6,
        "0.6353268",
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_model_answers_as_recorded(name: str) -> None:
    node, inputs, steps, reported = RECORDED[name]
    wanted = np.array([float(one) for one in reported.split()])
    found = answers(opened(name), node, inputs, steps).reshape(-1)
    assert np.abs(found - wanted).max() <= 1e-6 * np.abs(wanted).max()


def test_the_tagger_labels_as_recorded() -> None:
    words = [178, 770, 429, 444, 272, 851, 789, 564, 654, 601, 179]
    found = answers(
        opened("slu.forward.backward.cmf"), "z", lambda size: np.eye(size)[words], len(words)
    )
    assert found.argmax(1).tolist() == [128, 128, 128, 128, 48, 128, 78, 125, 128, 26, 128]
    largest = 1e-6 * np.abs(found).max()
    assert np.abs(found[4, [0, 48, 128]] - [0.4314146, 25.40861, -0.834043]).max() <= largest
    last = [-3.469237, 0.970907, -1.308161, -1.449348, -5.579846, 1.389093]
    assert np.abs(found[-1, :6] - last).max() <= largest
