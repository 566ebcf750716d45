"""Random networks in files of both formats: read as they were written, and answered as onnxruntime
and PyTorch answer what is exported; protobuf's own library reads the second format as ours does.
"""

from __future__ import annotations

from typing import Any

import pytest

from netsharp_engine.cntk.stored.dictionaries.wire import WireArray, WireAxis
from netsharp_engine.cntk.stored.model_file import raw_model, rewritten_model
from netsharp_engine.cntk.stored.opening import open_model
from netsharp_engine.cntk.stored.values import StoredModel
from netsharp_engine.exporting.portable import Portable
from netsharp_lsp.cntk.networks.stored import network_in
from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cntk.training import random_models
from tests.cntk.training.model_writing import dictionary
from tests.cntk.training.random_models import Grown, first, second
from tests.conftest import SEED
from tests.peers import peer

#: Networks of each format; versions from that on which has axes of stacked and sliced values.
NETWORKS, VERSIONS = 110, range(5, 28)
#: Of the largest value of an output.
BOUND = 1e-5


def grown(form: str, number: int) -> tuple[Grown, StoredModel]:
    seed = SEED + number
    print(f"seed {seed}")
    network = Grown(seed, form, VERSIONS[number % len(VERSIONS)] if form == "v1" else 27)
    if form == "v2":
        return network, open_model(dictionary(second(network)))
    data = first(network)
    assert rewritten_model(raw_model(data)) == data
    return network, open_model(data)


def as_written(network: Grown, model: StoredModel, known: dict[str, int]) -> None:
    """Every node is read with its type, inputs, attributes, shape and numbers."""
    inferred = network_in(model, "")
    assert not inferred.troubles
    assert not [one for one in model.warnings if "inverse deviations" not in one]
    # Before version 13 these are inverse deviations, which become variances.
    converted = {
        one.inputs[4]
        for one in network.nodes
        if one.operation == "BatchNormalization" and network.version < 13
    }
    for one in network.nodes:
        found = model.found(one.name)
        assert found is not None
        assert (found.operation, found.inputs) == (one.operation, one.inputs), one.name
        assert inferred.nodes[one.name].shape == one.shape, one
        for key, value in one.attributes.items():
            if known.get(key, 0) <= network.version:
                reported = found.attributes.get(key, _QUIET.get(key))
                assert reported == value, (one, key)
        if one.values is not None and one.name not in converted:
            assert found.values is not None
            assert found.values.tobytes() == one.values.tobytes()


#: What a node does not mention where it is as usual.
_QUIET: dict[str, Any] = {"alongAxis": 1, "pool": "max"}
#: From which version on the first format has an attribute.
_FIRST = {"inferInputRankToMap": 12, "ceilOut": 21, "poolIncludePad": 23}


def portable_of(model: StoredModel, output: str) -> Portable:
    """The network of a model, as far as one of its nodes needs it."""
    network = network_in(model, "")
    graph = lowered(network, [network.nodes[output]])
    node = next(one for one in graph.nodes if one.name == output)
    values = model.numbers()
    tensors = {one.name: values[one.name].reshape(one.shape) for one in graph.parameters}
    return Portable(graph, tensors, "float32", (node,))


def agrees(model: StoredModel, output: str, version: int) -> None:
    """Our answers and those of the exported model."""
    peer("onnxruntime")
    from netsharp_engine.exporting.onnx.checking import require_valid
    from netsharp_engine.exporting.onnx.comparing import compared
    from netsharp_engine.exporting.onnx.exported import OnnxForm, exported
    from netsharp_engine.exporting.sampling import random_samples

    portable = portable_of(model, output)
    made = exported(portable, OnnxForm())
    require_valid(made)
    for one in compared(portable, made, [random_samples(portable, SEED)]):
        assert one.relative <= BOUND, one


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(NETWORKS))
def test_a_network_of_the_first_format(number: int) -> None:
    network, model = grown("v1", number)
    as_written(network, model, _FIRST)
    agrees(model, network.output, network.version)


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(NETWORKS))
def test_a_network_of_the_second_format(number: int) -> None:
    network, model = grown("v2", number)
    as_written(network, model, {})
    agrees(model, network.output, network.version)


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(NETWORKS))
@pytest.mark.parametrize("form", ["v1", "v2"])
def test_a_network_as_a_module(form: str, number: int) -> None:
    peer("torch")
    from tests.exporting.modules import agree

    network, model = grown(form, number)
    portable = portable_of(model, network.output)
    agree(portable.graph, portable.tensors, portable.outputs, dtype=portable.dtype, bound=BOUND)


def test_all_that_can_grow_grows() -> None:
    """Together the networks have every node that one of them may have."""
    for form in ("v1", "v2"):
        networks = [Grown(SEED + number, form) for number in range(NETWORKS)]
        found = {one.operation for network in networks for one in network.nodes}
        wanted = {*random_models.SMOOTH, *random_models.CALM, *random_models.ABOVE}
        wanted |= {*random_models.STEPPED, *random_models.PAIRS, *random_models.COMPARED}
        wanted |= {"If", "Clip", "Times", "TransposeTimes", "Slice", "RowStack", "Reshape"}
        wanted |= {"TransposeDimensions", "ReduceElements", "Convolution", "Pooling"}
        wanted |= {"BatchNormalization", "PastValue", "FutureValue"}
        wanted |= {"Pad", "TopK", "ConstantOp", "Gather"} if form == "v2" else set()
        assert wanted <= found


def messages() -> Any:
    """The messages of the second format for protobuf's own library, as the description has them."""
    pool = pytest.importorskip("google.protobuf.descriptor_pool", reason="protobuf is absent")
    from google.protobuf import descriptor_pb2, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="cntk.proto", package="c", syntax="proto3")
    number = descriptor_pb2.FieldDescriptorProto
    kinds = {
        "uint64": number.TYPE_UINT64,
        "int32": number.TYPE_INT32,
        "bool": number.TYPE_BOOL,
        "float": number.TYPE_FLOAT,
        "double": number.TYPE_DOUBLE,
        "bytes": number.TYPE_BYTES,
        "string": number.TYPE_STRING,
        "sint32": number.TYPE_SINT32,
    }
    shapes = {
        "Shape": "1 *uint64 sides",
        "Axis": "1 int32 place, 2 string name, 3 bool ordered",
        "Floats": "1 *float values",
        "Doubles": "1 *double values",
        "Vector": "1 *Value values",
        "Array": "1 uint64 dtype, 2 uint64 storage, 3 Shape shape, 4 Floats floats, "
        "5 Doubles doubles",
        "Entry": "1 string key, 2 Value value",
        "Value": "1 uint64 version, 2 uint64 type, 3 bool truth, 4 int32 whole, 5 uint64 size, "
        "6 float single, 7 double real, 8 string text, 9 Shape shape, 10 Axis axis, "
        "11 Vector vector, 12 Dictionary dictionary, 13 Array array",
        "Dictionary": "1 uint64 version, 2 *Entry data",
    }
    for name, fields in shapes.items():
        made = file.message_type.add(name=name)
        for one in fields.split(", "):
            place, kind, label = one.split()
            many = kind.startswith("*")
            added = made.field.add(name=label, number=int(place))
            added.label = number.LABEL_REPEATED if many else number.LABEL_OPTIONAL
            kind = kind.lstrip("*")
            if kind in kinds:
                added.type = kinds[kind]
            else:
                added.type, added.type_name = number.TYPE_MESSAGE, f".c.{kind}"
    known = pool.DescriptorPool()
    known.Add(file)
    return message_factory.GetMessageClass(known.FindMessageTypeByName("c.Dictionary"))


def plain(value: Any) -> Any:
    """A value that protobuf read, as plain as ours."""
    kind = value.type
    if kind == 9:
        return [plain(one) for one in value.vector.values]
    if kind == 10:
        return {one.key: plain(one.value) for one in value.dictionary.data}
    if kind == 7:
        return tuple(value.shape.sides)
    if kind == 8:
        return ("axis", value.axis.place, value.axis.name)
    if kind == 11:
        numbers = value.array.floats.values or value.array.doubles.values
        return ("array", tuple(value.array.shape.sides), list(numbers))
    return getattr(value, ("", "truth", "whole", "size", "single", "real", "text")[kind])


def ours(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: ours(one) for key, one in value.items()}
    if isinstance(value, list):
        return [ours(one) for one in value]
    if isinstance(value, WireAxis):
        return ("axis", value.place, value.name)
    if isinstance(value, WireArray):
        assert value.values is not None
        return ("array", value.shape, value.values.reshape(-1).tolist())
    return value


@pytest.mark.parametrize("number", range(5))
def test_protobuf_reads_the_same(number: int) -> None:
    from netsharp_engine.cntk.stored.dictionaries.wire import read_dictionary

    data = dictionary(second(Grown(SEED + number, "v2")))
    theirs = messages()()
    theirs.ParseFromString(data)
    read = {one.key: plain(one.value) for one in theirs.data}
    found, faults = read_dictionary(data)
    assert not faults
    assert ours(found) == read
    assert read["type"] == "CompositeFunction"
