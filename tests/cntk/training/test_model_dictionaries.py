"""Models of the second format as another writer makes them: read as written, and evaluated.

What a sensible person would read otherwise has a test of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.dictionaries.functions import OPERATIONS
from netsharp_engine.cntk.stored.opening import open_model
from netsharp_engine.cntk.stored.values import StoredModel, StoredNode
from tests.cli.command_line import netsharp
from tests.cntk.training.model_writing import BATCH, STEPS, Axis, Second, Shape, field, large
from tests.cntk.training.test_opened_models import answers
from tests.conftest import SEED


def node(model: StoredModel, name: str) -> StoredNode:
    found = model.found(name)
    assert found is not None
    return found


def op(name: str) -> int:
    return OPERATIONS.index(name)


def dense(out: Second, uid: str, source: str, weights: Any, *, block: str = "") -> str:
    """A layer as the layer library makes it: a block with a placeholder inside."""
    out.parameter(f"{uid}.W", weights, name="W")
    out.variable(f"{uid}.in", 4, weights.shape[:1])
    product = out.function(
        op("Times"), f"{uid}.Times", [f"{uid}.W", f"{uid}.in"], attributes={"outputRank": 1}
    )
    out.function(op("Tanh"), f"{uid}.Tanh", [product])
    return out.function(
        op("Block"),
        uid,
        [f"{uid}.W", source],
        name=block,
        block_function_op_name="Dense",
        block_function_composite={"type": "CompositeFunction", "root": f"{uid}.Tanh"},
        block_function_composite_arguments_map_keys=[f"{uid}.in"],
        block_function_composite_arguments_map_values=[source],
    )


def layered(count: int, seed: int = SEED) -> tuple[Second, list[Any], str]:
    """Layers on top of one another, their weights [in, out], and the last one's name."""
    random = np.random.default_rng(seed)
    out, source, weights = Second(), "Input1", []
    out.variable("Input1", 0, (3,), name="features")
    sizes = [3, *random.integers(1, 5, count)]
    for number in range(count):
        array = random.normal(size=(sizes[number], sizes[number + 1])).astype(np.float32)
        weights.append(array)
        source = dense(out, f"Block{number}", source, array, block=f"layer{number}")
    return out, weights, f"Block{count - 1}"


@pytest.mark.parametrize("count", [1, 2, 5])
def test_blocks_are_opened_and_computed(count: int) -> None:
    out, weights, root = layered(count)
    model = open_model(out.data(root))
    assert [one.function for one in model.blocks] == ["Dense"] * count
    assert node(model, "layer0/W").name == node(model, "Block0.W").name
    found = node(model, "layer0/W")
    assert found.values is not None
    assert found.values.tobytes() == weights[0].tobytes()
    data = out.data(root)
    assert data[found.at : found.at + weights[0].nbytes] == weights[0].tobytes()
    wanted = np.array([[0.5, -1, 2]])
    for one in weights:
        wanted = np.tanh(wanted @ one.astype(np.float64))
    reported = answers(model, root, lambda size: np.array([0.5, -1, 2]))
    assert reported.reshape(-1).tolist() == pytest.approx(wanted.reshape(-1).tolist(), rel=1e-12)


def test_entries_in_any_order_give_the_same() -> None:
    out, _, root = layered(2)
    values = out.values(root)
    turned = {key: values[key] for key in reversed(values)}
    from tests.cntk.training.model_writing import dictionary

    one, other = open_model(dictionary(values)), open_model(dictionary(turned))
    assert [(a.name, a.inputs) for a in one.nodes] == [(a.name, a.inputs) for a in other.nodes]


def test_an_output_as_a_placeholder_is_no_input() -> None:
    """A delay's loop, and a second consumer of an output, name it as variables of kind 4."""
    out = Second()
    out.variable("Input1", 0, (2,), axes=[STEPS, BATCH])
    out.parameter("Constant1", np.array(0.5, np.float32), 3)
    out.variable("Plus1_Output_0", 4, (2,), axes=[STEPS, BATCH])
    past = {"attributes": {"offset": 1}}
    delayed = out.function(op("PastValue"), "Past1", ["Plus1_Output_0", "Constant1"], **past)
    out.function(op("Plus"), "Plus1", ["Input1", delayed])
    model = open_model(out.data("Plus1"))
    assert [one.name for one in model.nodes if one.operation == "InputValue"] == ["Input1"]
    assert node(model, "Past1").inputs == ("Plus1",)
    assert node(model, "Past1").attributes["defaultHiddenActivation"] == 0.5
    reported = answers(model, "Plus1", lambda size: np.ones((4, size)), 4)
    assert reported[:, 0].tolist() == [1.5, 2.5, 3.5, 4.5]


def test_pooling_is_counted_otherwise_than_in_the_first_format() -> None:
    for kind, wanted in ((0, 4.0), (1, 2.5)):
        out = Second()
        out.variable("Input1", 0, (2, 2, 1))
        attributes = {
            "poolingType": kind,
            "poolingWindowShape": Shape((2, 2)),
            "strides": Shape((2, 2)),
        }
        attributes |= {"autoPadding": [False, False]}
        out.function(op("Pooling"), "Pooling1", ["Input1"], attributes=attributes)
        model = open_model(out.data("Pooling1"))
        reported = answers(model, "Pooling1", lambda size: np.array([1.0, 2, 3, 4]))
        assert reported.reshape(-1).tolist() == [wanted]


@pytest.mark.parametrize(
    ("name", "count", "order"),
    [
        ("CrossEntropyWithSoftmax", 2, (1, 0)),
        ("ClassificationError", 2, (1, 0)),
        ("Logistic", 2, (1, 0)),
        ("GatherPacked", 2, (1, 0)),
        ("ScatterPacked", 3, (2, 1, 0)),
        ("Clip", 3, (1, 2, 0)),
        ("OptimizedRNNStack", 2, (1, 0)),
        ("Minus", 2, (0, 1)),
    ],
)
def test_inputs_stand_in_the_order_of_the_first_format(
    name: str, count: int, order: tuple[int, ...]
) -> None:
    out = Second()
    names = [out.variable(f"Input{at}", 0, (2,)) for at in range(count)]
    out.function(op(name), "Function1", names)
    assert node(open_model(out.data("Function1")), "Function1").inputs == tuple(
        names[at] for at in order
    )


def test_axes_count_from_0_and_from_the_end() -> None:
    out = Second()
    out.variable("Input1", 0, (2, 3))
    for place, axis in ((0, 1), (1, 2), (-1, -1)):
        attributes = {"axis": Axis((place, f"staticAxisIdx={place}")), "reductionOpName": "Sum"}
        out.function(op("ReduceElements"), f"Reduce{axis}", ["Input1"], attributes=attributes)
    every = {"axis": Axis((2147483646, "AllStaticAxes")), "reductionOpName": "Sum"}
    out.function(op("ReduceElements"), "Reduce0", ["Input1"], attributes=every)
    samples = {"axis": Axis((2147483643, "AllAxes")), "reductionOpName": "Sum"}
    out.function(op("ReduceElements"), "Samples", ["Input1"], attributes=samples)
    model = open_model(out.data("Reduce0"))
    for axis in (1, 2, -1, 0):
        assert node(model, f"Reduce{axis}").attributes["axis"] == axis
    assert node(model, "Samples").operation == "SumElements"
    numbers = np.arange(6.0)
    rows = numbers.reshape(3, 2)
    for axis, wanted in ((1, rows.sum(1)), (2, rows.sum(0)), (-1, rows.sum(0)), (0, rows.sum())):
        reported = answers(model, f"Reduce{axis}", lambda size: numbers)
        assert reported.reshape(-1).tolist() == np.ravel(wanted).tolist()


def test_a_criterion_is_checked_by_its_block_and_its_argument_is_offered() -> None:
    out, _, root = layered(1)
    shape = (int(out.variables[1]["shape"][0]),)
    out.variable("Input2", 0, shape, name="labels")
    out.variable("p", 4, shape)
    out.variable("l", 4, shape)
    inner = out.function(op("Minus"), "Minus1", ["p", "l"])
    out.function(op("ElementTimes"), "Times2", [inner, inner])
    checked = out.function(
        op("Block"),
        "Block9",
        [f"{root}_Output_0", "Input2"],
        block_function_op_name="SquaredError",
        block_function_composite={"root": "Times2"},
        block_function_composite_arguments_map_keys=["p", "l"],
        block_function_composite_arguments_map_values=[f"{root}_Output_0", "Input2"],
    )
    out.function(op("Combine"), "Combine1", [checked])
    model = open_model(out.data("Combine1"))
    assert model.groups["criterion"] == ("Block9",)
    assert (model.groups["label"], model.groups["feature"]) == (("labels",), ("features",))
    assert model.groups["output"] == (root,)
    assert node(model, "Block9").operation == "SquareError"


def test_the_form_above_2_gb_is_read_in_the_order_of_the_variables() -> None:
    out, weights, root = layered(3)
    model = open_model(large(out.values(root)))
    for number, array in enumerate(weights):
        found = node(model, f"Block{number}.W").values
        assert found is not None
        assert found.tobytes() == array.tobytes()
    values = out.values(root)
    values["state"] = {"a": np.ones(2, np.float32), "b": np.ones(3, np.float32)}
    with pytest.raises(
        ModelFault, match="the order of the numbers of its 5 arrays is not in the file"
    ):
        open_model(large(values))
    with pytest.raises(ModelFault, match=r"byte [\d,]+: .* bytes of numbers are expected"):
        open_model(large(out.values(root))[:-1])


def test_negative_whole_numbers_take_ten_bytes() -> None:
    out = Second()
    out.variable("Input1", 0, (4,))
    attributes = {"axis": Axis((0, "staticAxisIdx=0")), "beginIndex": -2, "endIndex": 0}
    out.function(op("Slice"), "Slice1", ["Input1"], attributes=attributes)
    model = open_model(out.data("Slice1"))
    assert node(model, "Slice1").attributes == {"axis": 1, "beginIndex": -2, "endIndex": 0}
    reported = answers(model, "Slice1", lambda size: np.arange(4.0))
    assert reported.reshape(-1).tolist() == [2, 3]


def test_a_function_of_no_one_is_described_and_not_computed() -> None:
    out = Second()
    out.variable("Input1", 0, (4,))
    out.function(200, "Strange1", ["Input1"])
    model = open_model(out.data("Strange1"))
    assert "Strange1" in model.warnings[0]
    assert node(model, "Strange1").operation == "v2:function 200"


def test_values_that_lie_too_deep_are_refused() -> None:
    deep = b""
    for _ in range(300):
        deep = field(1, field(2, 9) + field(11, deep))
    entry = field(2, field(1, b"type") + field(2, field(2, 9) + field(11, deep)))
    with pytest.raises(ModelFault, match=r"byte \d+: values lie deeper than 100"):
        open_model(field(1, 2) + entry)


def test_no_length_reaches_beyond_its_message() -> None:
    data = field(1, 2) + b"\x12" + b"\xff\xff\xff\xff\x0f" + b"abc"
    with pytest.raises(ModelFault, match=r"byte 2: 4,294,967,295 bytes are expected, and 3"):
        open_model(data)


def test_truncated_files_say_where_and_give_what_precedes() -> None:
    out, _, root = layered(3)
    data = out.data(root)
    for end in range(4, len(data), 97):
        with pytest.raises(ModelFault, match="byte "):
            open_model(data[:end])
    found = open_model(data[:-30], partial=True)
    assert found.faults
    assert len(found.nodes) > 3


@pytest.mark.parametrize("command", [("predict", "--data", "rows.csv"), ("export", "--to", "onnx")])
def test_a_function_that_is_not_computed_is_named(command: tuple[str, ...], tmp_path: Path) -> None:
    out = Second()
    out.variable("Input1", 0, (3,), name="features")
    out.function(op("UnpackBatch"), "Unpack1", ["Input1"])
    (tmp_path / "model.dnn").write_bytes(out.data("Unpack1"))
    (tmp_path / "rows.csv").write_text("1,2,3\n")
    name, *flags = command
    answer = netsharp(name, "model.dnn", *flags, cwd=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert "'Unpack1' is of type UnpackBatch, which makes an axis of all samples" in answer.err
