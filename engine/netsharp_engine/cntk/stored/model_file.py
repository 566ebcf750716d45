"""CNTK's model files of its first format, in all their versions, as plain values
(ComputationNetworkLib/ComputationNetwork.cpp, SaveToFileImpl).

A node's fields are a row of `stored_nodes`; a type that it lacks is named. Networks that are
trained here are written in version 15.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from netsharp_engine.cntk.stored.binary import BinaryReading, BinaryWriting, Memory, ModelFault
from netsharp_engine.cntk.stored.conversions import converted, default_outputs
from netsharp_engine.cntk.stored.fields import REALS_IN_FILES
from netsharp_engine.cntk.stored.stored_nodes import RENAMED, TYPES, row_of
from netsharp_engine.cntk.stored.values import V1, StoredModel, StoredNode

VERSION = 15
#: The newest version that the table of attributes knows.
NEWEST = 27
_NAMES = {dtype: precision for precision, dtype in REALS_IN_FILES.items()}
#: From this version on each node names its precision.
_TYPED = 7
#: The groups of nodes by their marks, in the order of the file.
_GROUPS = {
    "feature": "FeatureNodes",
    "label": "LabelNodes",
    "criterion": "CriterionNodes",
    "evaluation": "EvalNodes",
    "output": "OutputNodes",
}
_MARKS = {mark: group for group, mark in _GROUPS.items()} | {"CriteriaNodes": "criterion"}
#: Groups that no network uses any more: one is ignored, the other has to be empty.
_SKIPPED, _PAIRS = "NodesReqMultiSeqHandling", "PairNodes"


def not_stored(operations: Sequence[str]) -> list[str]:
    """Return the types of nodes that cannot be written."""
    return [one for one in operations if one not in TYPES]


def written_model(model: StoredModel) -> bytes:
    """Return a model as the bytes of a file of the version that is written here."""
    nodes = sorted(model.nodes, key=lambda node: node.name)
    fresh = [one._replace(dtype=model.dtype, function="", kept={}) for one in nodes]
    groups = [(mark, tuple(model.groups.get(group, ()))) for group, mark in _GROUPS.items()]
    return _written(fresh, VERSION, groups, versioned=True)


def rewritten_model(model: StoredModel) -> bytes:
    """Return a model that `raw_model` read as the bytes of the file that it was read from."""
    groups = model.kept["groups"]
    return _written(model.nodes, model.version, groups, versioned=model.kept["versioned"])


def _written(
    nodes: Sequence[StoredNode],
    version: int,
    groups: Sequence[tuple[str, Sequence[str]]],
    *,
    versioned: bool,
) -> bytes:
    out = BinaryWriting()
    out.text("BCN")
    if versioned:
        write_version(out, version)
    out.size(len(nodes))
    out.text("BNodeList")
    for node in nodes:
        if version >= _TYPED:
            out.text(_NAMES[node.dtype])
        out.text(node.function or node.operation)
        out.text(node.name)
        TYPES[node.operation].write(out, node, version)
    out.text("ENodeList")
    out.text("BRelation")
    for node in nodes:
        out.text(node.name)
        _write_names(out, node.inputs)
    out.text("ERelation")
    out.text("BRootNodes")
    for mark, names in groups:
        out.text(f"B{mark}")
        _write_names(out, names)
        out.text(f"E{mark}")
    out.text("ERootNodes")
    out.text("ECN")
    return out.data


def read_model(data: Memory, *, partial: bool = False) -> StoredModel:
    """Return the model in the bytes of a file; ModelFault where there is none that can be used.

    ``partial``: what can be read around faults, which the model lists.
    """
    return converted(raw_model(data, partial=partial))


def raw_model(data: Memory, *, partial: bool = False) -> StoredModel:
    """Return the model as the file has it, unconverted; else as `read_model`."""
    return _Reading(data, partial).model()


class _Reading:
    """A model that is read from its first byte to its last."""

    def __init__(self, data: Memory, partial: bool) -> None:
        self._data, self._partial = data, partial
        self._given = BinaryReading(data)
        self._version = 1
        self._nodes: dict[str, StoredNode] = {}
        self._groups: list[tuple[str, tuple[str, ...]]] = []
        self._faults: list[str] = []

    def model(self) -> StoredModel:
        """Return the model; ModelFault where the bytes are not one."""
        given = self._given
        if not given.starts("BCN"):
            raise ModelFault("byte 0: this is not a model of CNTK in its first format")
        given.expect("BCN")
        at = given.at
        version = read_version(given)
        self._version = version or 1
        if not 1 <= self._version <= NEWEST:
            words = f"a model of version {self._version:,} is not read; 1 to {NEWEST} are"
            raise given.fault(words, at)
        for part in (self._read_nodes, self._read_relations, self._read_groups):
            if not self._done(part):
                break
        dtype = self._dtype()
        groups: dict[str, tuple[str, ...]] = {}
        for mark, names in self._groups:
            if mark in _MARKS:
                group = _MARKS[mark]
                known = tuple(name for name in names if name in self._nodes)
                groups[group] = groups.get(group, ()) + known
        nodes = list(self._nodes.values())
        return StoredModel(
            nodes,
            groups,
            dtype,
            format=V1,
            version=self._version,
            versions={"model": self._version},
            types=Counter(node.function or node.operation for node in nodes),
            outputs=() if self._faults else default_outputs(nodes, groups),
            faults=self._faults,
            kept={"versioned": version is not None, "groups": self._groups},
        )

    def _done(self, part: Callable[[], None]) -> bool:
        """Return whether a part was read; with ``partial`` its fault is kept for the end."""
        try:
            part()
        except ModelFault as fault:
            if not self._partial:
                raise
            self._faults.append(str(fault))
            return False
        return True

    def _dtype(self) -> str:
        """Return the precision of computation: float64 where a node has it, else float32."""
        found = {node.dtype for node in self._nodes.values()}
        return "float64" if "float64" in found else "float32"

    def _read_nodes(self) -> None:
        given = self._given
        count = given.size()
        given.expect("BNodeList")
        dtype = self._untyped()
        while len(self._nodes) < count and not given.starts("ENodeList"):
            at = given.at
            try:
                node = self._node(dtype)
            except ModelFault as fault:
                if not self._partial:
                    raise
                self._faults.append(str(fault))
                if not self._resume(max(given.at, at + 2)):
                    break
                continue
            if node.name in self._nodes:
                raise given.fault(f"there are two nodes '{node.name}'", at)
            self._nodes[node.name] = node
        if self._faults and (end := given.find("ENodeList", given.at)) >= 0:
            given.at = end
        given.expect("ENodeList")

    def _node(self, dtype: str) -> StoredNode:
        given, at = self._given, self._given.at
        if self._version >= _TYPED:
            precision = given.text()
            if precision not in REALS_IN_FILES:
                raise given.fault(f"numbers of precision '{precision[:40]}' are not read", at)
            dtype = REALS_IN_FILES[precision]
        operation, name = given.text(), given.text()
        row = row_of(operation)
        if row is None:
            raise given.fault(
                f"'{name[:200]}' is of type {operation[:80]}, which is not read from models of "
                f"version {self._version}",
                at,
            )
        today = RENAMED.get(operation, operation)
        function = operation if today != operation else ""
        node = StoredNode(today, name, (), dtype=dtype, function=function)
        return row.read(given, node, self._version)

    def _untyped(self) -> str:
        """Return the precision of nodes that name none: that of the first matrix."""
        at = self._given.find("BMAT", self._given.at) if self._version < _TYPED else -1
        width = self._data[at + 10 : at + 18] if at >= 0 else b""
        return "float64" if int.from_bytes(width, "little") == 8 else "float32"

    def _resume(self, at: int) -> bool:
        """Go to the next node after a fault: a precision and two texts; return whether there is
        one.
        """
        given = self._given
        while self._version >= _TYPED:
            places = [found for one in REALS_IN_FILES if (found := given.find(one, at)) >= 0]
            if not places:
                return False
            given.at = at = min(places)
            try:
                given.text()
                printable = all(
                    word and word.isprintable() for word in (given.text(), given.text())
                )
            except ModelFault:
                printable = False
            given.at = at
            if printable:
                return True
            at += 2
        return False

    def _read_relations(self) -> None:
        given = self._given
        given.expect("BRelation")
        while not given.starts("ERelation"):
            at = given.at
            name = given.text()
            inputs = _names(given)
            unknown = next((one for one in (name, *inputs) if one not in self._nodes), None)
            if unknown is None:
                self._nodes[name] = self._nodes[name]._replace(inputs=inputs)
            elif not self._faults:
                raise given.fault(f"there is no node '{unknown[:200]}'", at)
            elif name in self._nodes:
                known = tuple(one for one in inputs if one in self._nodes)
                self._nodes[name] = self._nodes[name]._replace(inputs=known)
        given.expect("ERelation")

    def _read_groups(self) -> None:
        given = self._given
        given.expect("BRootNodes")
        while not given.starts("ERootNodes"):
            at, mark = given.at, given.text()
            known = mark[:1] == "B" and mark[1:] in (*_MARKS, _SKIPPED, _PAIRS)
            if not known:
                raise given.fault(f"a group of nodes is expected, not '{mark[:40]}'", at)
            names = _names(given)
            if mark[1:] == _PAIRS and names:
                raise given.fault("it pairs nodes of two networks, which is not read", at)
            given.expect(f"E{mark[1:]}")
            self._groups.append((mark[1:], names))
        given.expect("ERootNodes")
        given.expect("ECN")
        if not given.ended:
            raise given.fault("the model ends, and the file does not")


def write_version(out: BinaryWriting, version: int) -> None:
    """Write the version of a model or a checkpoint."""
    out.text("BVersion")
    out.size(version)
    out.text("EVersion")


def read_version(given: BinaryReading) -> int | None:
    """Return the version of a model or a checkpoint, None where none is given."""
    if not given.starts("BVersion"):
        return None
    given.expect("BVersion")
    version = given.size()
    given.expect("EVersion")
    return version


def _write_names(out: BinaryWriting, names: Sequence[str]) -> None:
    out.size(len(names))
    for name in names:
        out.text(name)


def _names(given: BinaryReading) -> tuple[str, ...]:
    # It ends with the file, whatever the count says.
    return tuple(given.text() for _ in range(given.size()))
