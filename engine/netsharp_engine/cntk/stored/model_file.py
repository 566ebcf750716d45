"""The original's model files and checkpoints: networks with their numbers, as plain values.

Written are those of version 15.  What they hold of a node is a row of `stored_nodes`; a type that
it lacks is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.binary import BinaryReading, BinaryWriting, ModelFault
from netsharp_engine.cntk.stored.stored_nodes import TYPES, StoredNode

VERSION = 15
_PRECISIONS = {"float": "float32", "double": "float64"}
_NAMES = {dtype: precision for precision, dtype in _PRECISIONS.items()}
#: The groups of nodes by their marks, in the order of the file.
_GROUPS = {
    "feature": "FeatureNodes",
    "label": "LabelNodes",
    "criterion": "CriterionNodes",
    "evaluation": "EvalNodes",
    "output": "OutputNodes",
}


class StoredModel(NamedTuple):
    """A network: nodes, and the names of those of each group."""

    nodes: Sequence[StoredNode]
    groups: Mapping[str, Sequence[str]]
    dtype: str


class Checkpoint(NamedTuple):
    """What goes on from a model: samples so far, rate per sample, the criterion, samples of a
    minibatch, and what each trained parameter remembers and counts, in the order of their names.
    """

    samples: int
    rate: float
    loss: float
    minibatch: int
    smoothed: Sequence[Array]
    counts: Sequence[float] = ()


def not_stored(operations: Sequence[str]) -> list[str]:
    """The types of nodes that cannot be written."""
    return [one for one in operations if one not in TYPES]


def written_model(model: StoredModel) -> bytes:
    """A model as the bytes of a file."""
    out = BinaryWriting()
    nodes = sorted(model.nodes, key=lambda node: node.name)
    out.text("BCN")
    _write_version(out, VERSION)
    out.size(len(nodes))
    out.text("BNodeList")
    for node in (one._replace(dtype=model.dtype) for one in nodes):
        for text in (_NAMES[model.dtype], node.operation, node.name):
            out.text(text)
        TYPES[node.operation].write(out, node)
    out.text("ENodeList")
    out.text("BRelation")
    for node in nodes:
        out.text(node.name)
        out.size(len(node.inputs))
        for name in node.inputs:
            out.text(name)
    out.text("ERelation")
    out.text("BRootNodes")
    for group, mark in _GROUPS.items():
        names = model.groups.get(group, ())
        out.text(f"B{mark}")
        out.size(len(names))
        for name in names:
            out.text(name)
        out.text(f"E{mark}")
    out.text("ERootNodes")
    out.text("ECN")
    return out.data


def read_model(data: bytes) -> StoredModel:
    """The model in the bytes of a file; ModelFault where there is none that can be used."""
    given = BinaryReading(data)
    if not given.starts("BCN"):
        raise ModelFault("byte 0: this is no model of CNTK in its first format")
    given.expect("BCN")
    version = _read_version(given)
    if version is None or version < 13 or version > VERSION:
        raise given.fault(f"a model of version {version or 1} is not read yet; 13 to {VERSION} are")
    count = given.size()
    given.expect("BNodeList")
    nodes: dict[str, StoredNode] = {}
    dtype = "float32"
    for _ in range(count):
        at = given.at
        precision, operation, name = given.text(), given.text(), given.text()
        if precision not in _PRECISIONS:
            raise given.fault(f"numbers of precision '{precision}' are not read", at)
        dtype = _PRECISIONS[precision]
        if operation not in TYPES:
            raise given.fault(
                f"'{name}' is of type {operation}, which is not read yet from models of version "
                f"{version}",
                at,
            )
        nodes[name] = TYPES[operation].read(given, StoredNode(operation, name, (), dtype=dtype))
    given.expect("ENodeList")
    given.expect("BRelation")
    for _ in range(count):
        at = given.at
        name = given.text()
        inputs = _names(given)
        unknown = next((one for one in (name, *inputs) if one not in nodes), None)
        if unknown is not None:
            raise given.fault(f"there is no node '{unknown}'", at)
        nodes[name] = nodes[name]._replace(inputs=inputs)
    given.expect("ERelation")
    given.expect("BRootNodes")
    groups: dict[str, tuple[str, ...]] = {}
    for group, mark in _GROUPS.items():
        if given.starts(f"B{mark}"):
            given.expect(f"B{mark}")
            groups[group] = tuple(name for name in _names(given) if name in nodes)
            given.expect(f"E{mark}")
    given.expect("ERootNodes")
    given.expect("ECN")
    if not given.ended:
        raise given.fault("the model ends, and the file does not")
    return StoredModel(list(nodes.values()), groups, dtype)


def written_checkpoint(state: Checkpoint) -> bytes:
    """A checkpoint as the bytes of a file."""
    out = BinaryWriting()
    _write_version(out, 2)
    out.text("BCKP")
    out.text("BLearnRate")
    out.size(state.samples)
    out.pack("dd", state.rate, state.loss)
    out.text("ELearnRate")
    out.text("BMinibatchSize")
    out.size(state.minibatch)
    out.text("EMinibatchSize")
    out.text("BGradient")
    for values in state.smoothed:
        out.matrix(values, values.shape[-1])
    out.text("EGradient")
    out.text("BCount")
    out.pack(f"{len(state.smoothed)}d", *(state.counts or (0.0 for _ in state.smoothed)))
    out.text("ECount")
    out.text("ECKP")
    return out.data


def read_checkpoint(data: bytes, parameters: int) -> Checkpoint:
    """The checkpoint of so many parameters in the bytes of a file; ModelFault for others."""
    given = BinaryReading(data)
    _read_version(given)
    given.expect("BCKP")
    given.expect("BLearnRate")
    samples = given.size()
    rate, loss = given.take("dd")
    given.expect("ELearnRate")
    given.expect("BMinibatchSize")
    minibatch = given.size()
    given.expect("EMinibatchSize")
    given.expect("BGradient")
    smoothed = [given.matrix() for _ in range(parameters)]
    given.expect("EGradient")
    given.expect("BCount")
    counts = given.take(f"{parameters}d")
    given.expect("ECount")
    given.expect("ECKP")
    return Checkpoint(samples, rate, loss, minibatch, smoothed, counts)


def _write_version(out: BinaryWriting, version: int) -> None:
    out.text("BVersion")
    out.size(version)
    out.text("EVersion")


def _read_version(given: BinaryReading) -> int | None:
    if not given.starts("BVersion"):
        return None
    given.expect("BVersion")
    version = given.size()
    given.expect("EVersion")
    return version


def _names(given: BinaryReading) -> tuple[str, ...]:
    # It ends with the file, whatever the count says.
    return tuple(given.text() for _ in range(given.size()))
