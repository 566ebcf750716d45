"""Every function that models of the second format have: its value in double precision against
PyTorch's or numpy's, and in onnxruntime what the export says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.stored.dictionaries.functions import OPERATIONS
from netsharp_engine.cntk.stored.opening import open_model
from netsharp_engine.cntk.stored.values import StoredModel
from netsharp_engine.exporting.portable import Portable
from netsharp_lsp.cntk.networks.stored import network_in
from netsharp_lsp.cntk.training.networks.left_out import _TYPES, why_not
from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cntk.training.model_trials import (
    SAMPLES,
    TRIALS,
    Trial,
    op,
)
from tests.cntk.training.model_writing import BATCH, STEPS, Second, Shape
from tests.cntk.training.test_opened_models import answers
from tests.conftest import SEED
from tests.peers import peer

torch = peer("torch")

Array = Any


def written(trial: Trial) -> tuple[StoredModel, str, dict[str, Array], list[Array]]:
    """A model of one function, the name of its value, what is fed, and all inputs."""
    random = np.random.default_rng(SEED)
    out, names, fed, given = Second(), [], {}, []
    count = len(trial.shapes)
    is_held = [
        number < trial.held or (trial.held < 0 and number >= count + trial.held)
        for number in range(count)
    ]
    if trial.name == "Gather":
        is_held = [False, True]
    for number, (shape, held) in enumerate(zip(trial.shapes, is_held, strict=True)):
        array = trial.drawn(random, (1 if held else SAMPLES, *shape)).astype(np.float64)
        name = f"Input{number}"
        if held:
            out.parameter(name, array[0].astype(np.float64), data_type=2)
        else:
            out.variable(name, 0, shape[::-1])
            fed[name] = array
        names.append(name)
        given.append(array)
    out.function(op(trial.name), "Function1", names, attributes=trial.attributes)
    value = "Function1"
    if trial.output:
        out.function(op("Pass"), "Function2", [f"Function1_Output_{trial.output}"])
        value = "Function2"
    return open_model(out.data(value)), value, fed, given


def evaluated(model: StoredModel, name: str, fed: dict[str, Array]) -> Array:
    """Its value as [samples, *shape], row-major."""
    waiting = [fed[one.name] for one in model.nodes if one.name in fed]
    asked = model.found(name)
    assert asked is not None
    shape = network_in(model, "").nodes[asked.name].shape
    assert shape is not None
    found = answers(model, name, lambda size: waiting.pop(0), 0)
    return found.reshape(-1, *reversed(shape))


IDS = [f"{number}-{one.name}" for number, one in enumerate(TRIALS)]


@pytest.mark.parametrize("trial", TRIALS, ids=IDS)
def test_a_function_against_another_library(trial: Trial) -> None:
    model, name, fed, given = written(trial)
    assert not model.warnings
    wanted = trial.wanted(*map(torch.tensor, given)).numpy()
    found = evaluated(model, name, fed)
    if fed:
        assert found.shape == wanted.shape
    np.testing.assert_allclose(found, np.broadcast_to(wanted, found.shape), rtol=1e-10, atol=1e-12)


def portable_of(model: StoredModel, name: str) -> Portable:
    """The network of a model, as far as one of its nodes needs it."""
    asked = model.found(name)
    assert asked is not None
    network = network_in(model, "")
    graph = lowered(network, [network.nodes[asked.name]])
    output = next(one for one in graph.nodes if one.name == asked.name)
    values = model.numbers()
    tensors = {one.name: values[one.name].reshape(one.shape) for one in graph.parameters}
    return Portable(graph, tensors, "float32", (output,))


@pytest.mark.parametrize("trial", TRIALS, ids=IDS)
def test_a_function_in_its_export(trial: Trial) -> None:
    peer("onnxruntime")
    from netsharp_engine.exporting.onnx.checking import Runtime, require_valid
    from netsharp_engine.exporting.onnx.exported import OnnxForm, exported

    model, name, fed, _ = written(trial)
    made = exported(portable_of(model, name), OnnxForm())
    require_valid(made)
    runtime = Runtime(made.SerializeToString())
    names = {one.name for one in made.graph.input}
    inputs = {key: one.astype(np.float32) for key, one in fed.items() if key in names}
    (found,) = runtime(inputs, [made.graph.output[0].name])
    wanted = evaluated(model, name, fed)
    np.testing.assert_allclose(np.broadcast_to(found, wanted.shape), wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("trial", TRIALS, ids=IDS)
def test_a_function_in_its_module(trial: Trial) -> None:
    peer("torch")
    from netsharp_engine.exporting.torch.comparing import Running
    from netsharp_engine.exporting.torch.exported import TorchForm, exported
    from netsharp_engine.exporting.torch.written import stored

    model, name, fed, _ = written(trial)
    made = exported(portable_of(model, name), TorchForm())
    (found,) = Running(made, stored(made))(
        [fed[one.origin].astype(np.float32) for one in made.inputs]
    )
    wanted = evaluated(model, name, fed)
    np.testing.assert_allclose(np.broadcast_to(found, wanted.shape), wanted, rtol=2e-5, atol=2e-6)


#: Functions that are tested elsewhere, over sequences or as criteria or as blocks.
ELSEWHERE = {
    *("Where", "PackedIndex", "GatherPacked", "ScatterPacked", "ReconcileDynamicAxis"),
    *("PastValue", "FutureValue", "OptimizedRNNStack", "Block", "Combine", "SumAll", "Assign"),
    *("SquaredError", "CrossEntropyWithSoftmax", "ClassificationError", "Logistic"),
    *("LambdaRank", "NDCG", "CosDistanceWithNegativeSamples", "Crop", "Unpooling"),
    *("RandomSample", "RandomSampleInclusionFrequency"),
}


def test_every_function_is_computed_or_refused_with_its_reason() -> None:
    tried = {one.name for one in TRIALS}
    assert not tried & ELSEWHERE
    assert set(OPERATIONS) - tried - ELSEWHERE == set(_TYPES) & set(OPERATIONS)


REFUSED = sorted(set(_TYPES) & set(OPERATIONS))


@pytest.mark.parametrize("name", REFUSED)
def test_a_function_that_is_not_computed_explains_why(name: str) -> None:
    out = Second()
    out.variable("Input1", 0, (4,), axes=[STEPS, BATCH])
    out.variable("Input2", 0, (4,), axes=[STEPS, BATCH])
    count = {"LatticeSequenceWithSoftmax": 4, "ForwardBackward": 2, "EditDistanceError": 2}
    inputs = ["Input1", "Input2"] * 2
    out.function(op(name), "Function1", inputs[: count.get(name, 1)])
    model = open_model(out.data("Function1"))
    network = network_in(model, "")
    asked = model.found("Function1")
    assert asked is not None
    reason = why_not(network.nodes[asked.name])
    assert name in reason
    assert _TYPES[name] in reason


@pytest.mark.parametrize(
    ("name", "attributes", "word"),
    [
        ("Times", {"outputRank": 1, "inferInputRankToMap": -2}, "along the steps"),
        ("ReduceElements", {"axis": STEPS, "reductionOpName": "Sum"}, "not an axis of a sample"),
        ("ROIPooling", {"roiOutputShape": Shape((1, 1)), "poolingType": 1}, "by means"),
    ],
)
def test_a_use_that_is_not_computed_explains_why(
    name: str, attributes: dict[str, Any], word: str
) -> None:
    out = Second()
    out.variable("Input1", 0, (4,))
    out.variable("Input2", 0, (4,))
    inputs = ["Input1", "Input2"][: 1 if name == "ReduceElements" else 2]
    out.function(op(name), "Function1", inputs, attributes=attributes)
    (warning,) = open_model(out.data("Function1")).warnings
    assert "'Function1'" in warning
    assert word in warning
