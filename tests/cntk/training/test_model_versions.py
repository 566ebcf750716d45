"""Models of the first format in every version, as another writer makes them: read as written.

What a sensible person would read otherwise has a test of its own.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.model_file import (
    raw_model,
    read_model,
    rewritten_model,
    written_model,
)
from netsharp_engine.cntk.stored.opening import kind_of, open_stored
from netsharp_engine.cntk.stored.values import StoredModel, StoredNode
from netsharp_lsp.cntk.networks.stored import network_in
from tests.cntk.training.model_writing import First, dimensions, matrix, size, sparse, text
from tests.conftest import SEED

VERSIONS = range(1, 28)


def node(model: StoredModel, name: str) -> StoredNode:
    return next(one for one in model.nodes if one.name == name)


def truths(*values: bool) -> bytes:
    return size(len(values)) + struct.pack(f"<{len(values)}?", *values)


def windows(version: int, kernel: tuple[int, ...], kind: int, further: bytes = b"") -> bytes:
    """Windows as versions from 5 on have them; ``further`` is what convolutions have besides."""
    out = dimensions(kernel) + dimensions((4,)) + dimensions((2, 1, 1))
    out += truths(True) + truths(True, False, False) + dimensions((0,)) + dimensions((0,))
    out += struct.pack("<iiQ", kind, 1, 0)
    out += b"\0" if version >= 9 else b""
    out += dimensions((0,)) if version >= 20 else b""
    out += b"\1" if version >= 21 else b""
    out += b"\1" if version >= 23 else b""
    return out + further


def slices(version: int, *ranges: tuple[int, int, int, int]) -> bytes:
    out = struct.pack("<i", len(ranges)) if version >= 22 else b""
    for begin, end, axis, stride in ranges:
        out += struct.pack("<qq", begin, end - begin)
        out += struct.pack("<i", axis) if version >= 3 else b""
        out += struct.pack("<i", stride) if version >= 27 else b""
    return out


def normalization(version: int) -> bytes:
    if version < 6:
        return struct.pack("<ii??diQd?", 0x10003, 0x10001, False, True, 5000.0, 1, 7, 0.001, True)
    out = struct.pack("<?ddi", True, 5000.0, 0.25, 1)
    out += struct.pack("<?", False) if version == 19 else size(7)
    return out + struct.pack("<d?", 0.001, True)


def everything(version: int, dtype: str) -> tuple[First, dict[str, dict[str, Any]], Any]:
    """A file with a node of each type whose attributes changed, and what they are."""
    random = np.random.default_rng(SEED + version)
    out, own = First(version, dtype), {"float32": "f", "float64": "d", "float16": "e"}[dtype]
    weights = out.parameter("W", random.normal(size=(3, 2)), 0.5 if version >= 3 else 1.0)
    out.input("x", (3, 2))
    wanted: dict[str, dict[str, Any]] = {}

    def add(operation: str, name: str, body: bytes, **options: Any) -> None:
        out.add(operation, name, body, "x")
        wanted[name] = options

    product = size(2) if version >= 3 else b""
    product += struct.pack("<i", 1) if version >= 12 else b""
    options = {"outputRank": 2} if version >= 3 else {}
    add("Times", "t", product, **options, **({"inferInputRankToMap": 1} if version >= 12 else {}))
    shape = dimensions((3, 2)) if version > 3 else size(6) + size(0)
    initial = struct.pack(f"<{own}", 0.5) if version >= 2 else b""
    options = {"defaultHiddenActivation": 0.5} if version >= 2 else {}
    delayed = {"timeStep": 2, "shape": (3, 2) if version > 3 else (6,)}
    add("PastValue", "p", struct.pack("<i", 2) + shape + initial, **delayed, **options)
    options = {"beginIndex": 1, "endIndex": 3, "axis": 2 if version >= 3 else 1}
    if version >= 27:
        options["stride"] = 2
    add("Slice", "s", slices(version, (1, 3, 2, 2)), **options)
    axes = struct.pack("<ii", 1, 2) if version >= 3 else b""
    add("TransposeDimensions", "d", axes, axis1=1, axis2=2)
    stacked = struct.pack("<i", 2) if version >= 3 else b""
    add("RowStack", "k", stacked, **({"alongAxis": 2} if version >= 3 else {}))
    reduced = (struct.pack("<i", 1) if version >= 27 else b"") + struct.pack("<i", 2)
    reduced += text("Max") + (b"\0" if version >= 24 else b"")
    kept = {"keepDimensions": False} if version >= 24 else {}
    add("ReduceElements", "r", reduced, axis=2, reductionOp="Max", **kept)
    if version >= 5:
        options = {"kernelShape": (3, 3, 1), "strideShape": (2, 1, 1), "pool": "max"}
        options |= {"ceilOut": True} if version >= 21 else {}
        options |= {"poolIncludePad": True} if version >= 23 else {}
        add("Pooling", "o", windows(version, (3, 3, 1), 1), **options)
        further = b"\1" + (dimensions((2, 2, 1)) if version >= 18 else b"")
        options = {**options, "pool": "none", "form": "2D"}
        options |= {"dimDilation": (2, 2, 1)} if version >= 18 else {}
        add("Convolution", "c", windows(version, (3, 3, 1), 0, further), **options)
    else:
        body = struct.pack("<QQQQII?Q", 3, 4, 2, 1, 8, 1, True, 0)
        options = {"kernelShape": (3, 4, 1), "strideShape": (2, 1, 1), "mapCount": (8,)}
        add("Convolution", "c", body, **options, form="2D", dimPadding=(True,), imageLayout="CHW")
    options = {"spatial": True, "normalizationTimeConstant": 5000.0, "epsilon": 0.001}
    options["blendTimeConstant"] = 0.25 if version >= 6 else 0.0
    add("BatchNormalization", "b", normalization(version), **options)
    seeds = struct.pack("<QQ", 5, 6) if version >= 16 else b""
    add("Dropout", "u", seeds)
    add("RandomSample", "v", struct.pack("<?Q", True, 9) + seeds, sizeOfSampledSet=9)
    add("Where", "w", text("here") if version >= 11 else b"")
    recurrent = size(1) + size(2) + size(4) + text("lstm" if version >= 14 else "LSTM")
    recurrent += struct.pack("<i", -1) if version >= 14 else b""
    options = {"bidirectional": True, "numLayers": 2, "hiddenDims": 4, "recurrentOp": "lstm"}
    add("OptimizedRNNStack", "n", recurrent, **options)
    regions = dimensions((2, 2)) + (struct.pack("<id", 1, 0.5) if version >= 26 else b"")
    add("ROIPooling", "i", regions, roiOutputShape=(2, 2))
    return out, wanted, weights


#: Numbers of 16 bits came with the names of precisions.
CASES = [
    (version, dtype)
    for version in VERSIONS
    for dtype in ("float32", "float64", "float16")
    if dtype != "float16" or version >= 7
]


@pytest.mark.parametrize(("version", "dtype"), CASES)
def test_every_version_is_read_as_it_was_written(version: int, dtype: str) -> None:
    out, wanted, weights = everything(version, dtype)
    data = out.data([("FeatureNodes", ["x"]), ("OutputNodes", ["t", "s"])])
    model = read_model(data)
    assert (model.version, model.format) == (version, "v1")
    assert model.groups == {"feature": ("x",), "output": ("t", "s")}
    found = node(model, "W")
    assert found.shape == (2, 3)
    assert found.values is not None
    assert found.values.dtype == dtype
    assert found.values.tobytes() == weights.tobytes()
    assert data[found.at : found.at + weights.nbytes] == weights.tobytes()
    # Nothing is copied: what is opened takes the memory of its file.
    assert np.shares_memory(found.values, np.frombuffer(data, np.uint8))
    assert found.attributes["learningRateMultiplier"] == (0.5 if version >= 3 else 1.0)
    for name, reported in wanted.items():
        attributes = node(model, name).attributes
        assert {key: attributes.get(key) for key in reported} == reported, name
    assert node(model, "n").inputs == ("x",)
    assert rewritten_model(raw_model(data)) == data


def test_a_file_without_a_version_is_of_version_1() -> None:
    out = First(1, versioned=False)
    out.parameter("W", np.ones((2, 3)))
    data = out.data()
    assert read_model(data).version == 1
    assert rewritten_model(raw_model(data)) == data


def test_double_numbers_before_version_7_are_known_by_the_first_matrix() -> None:
    out = First(6, "float64")
    out.parameter("W", np.ones((2, 3)))
    out.add("PastValue", "p", struct.pack("<i", 1) + dimensions((3,)) + struct.pack("<d", 0.5), "W")
    model = read_model(out.data())
    assert model.dtype == "float64"
    assert node(model, "p").attributes["defaultHiddenActivation"] == 0.5


def test_columns_of_a_sparse_matrix_stand_before_its_rows() -> None:
    dense = np.zeros((2, 5), np.float32)
    dense[1, 3], dense[0, 0], dense[1, 0] = 7, 2, 5
    for form in (6, 7):
        out = First(14)
        body = sparse(dense, form)
        out.parameter("W", dense.T, body=body)
        data = out.data()
        values = node(read_model(data), "W").values
        assert values is not None
        assert values.reshape(5, 2).T.tolist() == dense.tolist()
        assert rewritten_model(raw_model(data)) == data


def test_a_sparse_matrix_does_not_grow_beyond_its_file() -> None:
    dense = np.zeros((1, 1), np.float32)
    body = sparse(dense, 6).replace(size(1) + size(1), size(1 << 14) + size(1 << 14))
    out = First(14)
    head = struct.pack("<f", 1) + dimensions((1 << 14, 1 << 14))
    out.add("LearnableParameter", "W", head + body)
    with pytest.raises(ModelFault, match=r"byte .*'W' is a sparse matrix of 268,435,456 numbers"):
        read_model(out.data())


def test_rows_and_columns_of_a_matrix_are_not_its_shape() -> None:
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    out = First(10)
    out.parameter("W", values, body=matrix(values, 24))
    data = out.data()
    found = node(read_model(data), "W")
    assert found.shape == (4, 3, 2)
    assert found.values is not None
    assert found.values.tobytes() == values.tobytes()
    assert rewritten_model(raw_model(data)) == data


@pytest.mark.parametrize("version", [10, 12, 13])
def test_inverse_deviations_become_variances_with_epsilon_added(version: int) -> None:
    """Before version 13: the variance is 1/x² + ε."""
    inverse, epsilon = np.array([0.5, 2.0], np.float32), 0.001
    out = First(version)
    out.input("x", (2,))
    for name, values in (("s", [1, 1]), ("o", [0, 0]), ("m", [0, 0]), ("v", inverse)):
        out.parameter(name, np.array(values, np.float32), 0)
    out.add("BatchNormalization", "b", normalization(version), "x", "s", "o", "m", "v")
    model = read_model(out.data())
    found = node(model, "v").values
    wanted = 1 / inverse**2 + epsilon if version < 13 else inverse
    assert found is not None
    assert found.tolist() == pytest.approx(wanted.tolist(), rel=1e-7)
    assert bool(model.warnings) == (version < 13)


def test_inputs_are_what_an_output_needs_and_not_the_feature_group() -> None:
    out = First(14)
    out.input("x", (2,))
    out.input("labels", (2,))
    out.add("Sigmoid", "z", b"", "x")
    out.add("SquareError", "ce", b"", "labels", "z")
    groups = [("FeatureNodes", ["x", "labels"]), ("LabelNodes", ["labels"])]
    model = read_model(out.data([*groups, ("CriterionNodes", ["ce"])]))
    assert model.outputs == ("z",)
    assert model.groups["feature"] == ("x", "labels")


def test_an_answer_asks_for_no_labels(tmp_path: Path) -> None:
    """What a file lists as features are often labels, too."""
    out = First(14)
    out.input("x", (2,))
    out.input("labels", (2,))
    out.parameter("W", [[1, 0.5], [2, 0]])
    out.add("Times", "z", size(1) + struct.pack("<i", -1), "W", "x")
    out.add("CrossEntropyWithSoftmax", "ce", b"", "labels", "z")
    groups = [("FeatureNodes", ["x", "labels"]), ("LabelNodes", ["labels"])]
    path = tmp_path / "net.dnn"
    path.write_bytes(out.data([*groups, ("CriterionNodes", ["ce"]), ("OutputNodes", ["z"])]))
    model = netsharp.load(str(path))
    assert model.inputs == {"x": (2,)}
    reported = model.predict({"x": [[1, 3]]}, outputs=["z"]).values["z"]
    assert reported.tolist() == [[7.0, 0.5]]


def test_old_words_and_groups_are_todays() -> None:
    out = First(2)
    out.input("x", (2,))
    out.add("Scale", "a", b"", "x", "x")
    out.add("ErrorPrediction", "e", b"", "x", "a")
    skipped = ("NodesReqMultiSeqHandling", ["a"])
    data = out.data([("CriteriaNodes", ["e"]), skipped, ("PairNodes", [])])
    model = read_model(data)
    assert [node(model, name).operation for name in ("a", "e")] == [
        "ElementTimes",
        "ClassificationError",
    ]
    assert (node(model, "e").function, model.types["ErrorPrediction"]) == ("ErrorPrediction", 1)
    assert model.groups == {"criterion": ("e",)}
    assert rewritten_model(raw_model(data)) == data


def test_the_inputs_of_an_older_stack_are_turned() -> None:
    for version in (13, 14):
        out = First(version)
        out.input("x", (2,))
        out.parameter("W", np.ones(4, np.float32))
        body = size(0) + size(1) + size(1) + text("RNN_TANH" if version < 14 else "rnnTanh")
        body += struct.pack("<i", -1) if version >= 14 else b""
        out.add("RNN", "r", body, *(("x", "W") if version < 14 else ("W", "x")))
        model = read_model(out.data())
        assert node(model, "r").inputs == ("W", "x")
        assert node(model, "r").attributes["recurrentOp"] == "rnnTanh"


@pytest.mark.parametrize("form", ["Q", "I"])
def test_seeds_of_version_16_have_the_width_of_the_machine(form: str) -> None:
    out = First(16)
    out.input("x", (2,))
    out.add("Dropout", "d", struct.pack(f"<{form}Q", 77, 3), "x")
    out.add("Sigmoid", "s", b"", "d")
    data = out.data()
    model = read_model(data)
    assert rewritten_model(raw_model(data)) == data
    assert node(model, "d").kept[".rngSeed"] == 77
    assert node(model, "s").inputs == ("d",)


@pytest.mark.parametrize("image", [(0, 0, 0), (3, 2, 1)])
def test_a_change_of_shape_to_no_image_is_none_of_width_3(image: tuple[int, int, int]) -> None:
    """[0 x 0 x 0] begins with the bytes of an older image that is 3 wide."""
    sides = dict(zip(("imageWidth", "imageHeight", "imageChannels"), image, strict=True))
    nodes = [
        StoredNode("InputValue", "v", (6,)),
        StoredNode("LegacyReshape", "x", (), ("v",), {"numRows": 6, **sides}),
        StoredNode("Tanh", "y", (), ("x",)),
    ]
    data = written_model(StoredModel(nodes, {"output": ["y"]}, "float32"))
    found = read_model(data)
    assert [one.name for one in found.nodes] == ["v", "x", "y"]
    assert {name: found.nodes[1].attributes[name] for name in sides} == sides
    assert rewritten_model(raw_model(data)) == data


def test_several_ranges_become_one_after_the_other() -> None:
    out = First(27)
    out.input("x", (6, 4))
    out.add("Slice", "s", slices(27, (1, 3, 1, 1), (0, 2, 2, 1)), "x")
    model = read_model(out.data())
    last = node(model, "s")
    first = node(model, last.inputs[0])
    assert (first.inputs, first.attributes["axis"], last.attributes["axis"]) == (("x",), 1, 2)


def test_an_unknown_node_is_named_and_passed_over_where_that_is_asked_for() -> None:
    out = First(14)
    out.input("x", (2,))
    out.add("Telepathy", "t", b"\1\2\3\4\5", "x")
    out.add("Sigmoid", "s", b"", "x")
    data = out.data([("OutputNodes", ["s"])])
    with pytest.raises(ModelFault, match=r"byte \d+: 't' is of type Telepathy.*version 14"):
        read_model(data)
    model = read_model(data, partial=True)
    assert {one.name for one in model.nodes} == {"x", "s"}
    assert node(model, "s").inputs == ("x",)
    assert model.faults
    assert not model.outputs


@pytest.mark.parametrize(("operation", "body"), [("RowStack", struct.pack("<i", 1 << 30))])
def test_an_axis_of_a_file_asks_for_no_memory(operation: str, body: bytes) -> None:
    out = First(14)
    out.input("x", (2,))
    out.add(operation, "s", body, "x")
    (trouble,) = network_in(read_model(out.data()), "").troubles
    assert "no tensor has an axis" in trouble.message


def test_what_cannot_be_printed_is_no_part_of_a_sentence() -> None:
    out = First(14)
    out.add("Telepathy", "a\n\u202eb")
    with pytest.raises(ModelFault) as raised:
        read_model(out.data())
    assert str(raised.value).isprintable()


def test_the_end_is_reached_and_nothing_follows() -> None:
    out = First(14)
    out.input("x", (2,))
    with pytest.raises(ModelFault, match=r"byte \d+: the model ends, and the file does not"):
        read_model(out.data() + b"\0")


def test_files_are_known_by_their_bytes() -> None:
    assert kind_of(First(3).data()) == "v1"
    assert kind_of(text("BVersion")) == kind_of(text("BCKP")) == "v1 checkpoint"
    assert kind_of(b"\x08\x02\x12\x10") == kind_of(b"ktnc\0\0\0\0") == "v2"
    onnx = b"\x08\x03\x12\x04CNTK"
    assert kind_of(onnx) == "onnx"
    with pytest.raises(ModelFault, match="ONNX"):
        open_stored(onnx)
    with pytest.raises(ModelFault, match="not a model of CNTK"):
        open_stored(b"PK\x03\x04")


@pytest.mark.parametrize("version", [1, 14, 28, 1 << 40])
def test_a_newer_version_is_refused(version: int) -> None:
    data = First(version).data()
    if version <= 27:
        read_model(data)
    else:
        with pytest.raises(ModelFault, match=f"byte 8: a model of version {version:,}"):
            read_model(data)
