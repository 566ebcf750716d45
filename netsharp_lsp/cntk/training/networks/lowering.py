"""Lowering of a network of CNTK to the engine's graph, and the starts of its parameters."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.computing import not_computed
from netsharp_engine.cntk.starts import RANDOM, VALUE, Start
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.ops.tensors import COUNTING, DRAWING, HELD, STATISTICS
from netsharp_engine.ops.tensors.shaping import DELAYS
from netsharp_lsp.cntk.networks.inference import in_order
from netsharp_lsp.cntk.networks.node import PARAMETER, Network, reached
from netsharp_lsp.cntk.networks.node_types import INPUTS
from netsharp_lsp.cntk.training.networks import windows
from netsharp_lsp.cntk.training.networks.cropping import CROP, offsets
from netsharp_lsp.cntk.training.networks.left_out import TRACE, why_not
from netsharp_lsp.cntk.training.networks.recurrent_stacks import STACK, taken_apart
from netsharp_lsp.cntk.training.networks.simpler import PARTS, in_parts
from netsharp_lsp.cntk.training.networks.written import written_start
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal

if TYPE_CHECKING:
    from typing import Any

    from netsharp_engine import nodes as engine
    from netsharp_lsp.cntk.networks.node import Node, Where
    from netsharp_lsp.cntk.run.files import RunFiles

#: The builder whose seeds nothing is added to.
BRAINSCRIPT = "brainscript"
#: Ways to begin with one number, by what nodes call them.
_CONSTANT = {"fromValue": "initValue", "fixedValue": "initValue", "zero": ""}


class Declared(NamedTuple):
    """The origin of an engine's node: the CNTK node that it was made from, and its place."""

    name: str
    where: Where

    def __str__(self) -> str:
        return f"'{self.name}' in {self.where[0]}"


def lowered(network: Network, roots: Sequence[Node], criteria: Sequence[Node] = ()) -> Graph:
    """Return the graph of what some nodes depend on; `criteria`, which are among them, are summed,
    and the first of them may be trained.

    Refused, with every node that is not supported yet.
    """
    nodes = _reached(network, roots)
    refusals = list(_not_computed(nodes))
    if refusals:
        raise Refused(*refusals)
    graph = Graph()
    made: dict[str, engine.Node] = {}
    learnt = reached(criteria[:1])
    for node in nodes:
        try:
            made[node.name] = _lower(graph, node, made, node.trainable and node in learnt)
        except GraphError as error:
            raise Refused(RunRefusal(f"{error}.", node.where)) from None
    for node in nodes:
        if node.operation in DELAYS:
            try:
                graph.connect(made[node.name], made[node.inputs[0].name])
            except GraphError as error:
                raise Refused(RunRefusal(f"{error}.", node.where)) from None
    try:
        left = not_computed(graph)
    except GraphError as error:
        raise Refused(RunRefusal(f"{error}.", roots[0].where)) from None
    if left:
        raise Refused(*(RunRefusal(reason, _declared(node).where) for node, reason in left))
    graph.criteria = [made[node.name] for node in criteria]
    return graph


def _declared(node: engine.Node) -> Declared:
    assert isinstance(node.origin, Declared)
    return node.origin


def statistics(network: Network) -> list[Node]:
    """Return the nodes that are computed from the data before training, in order of their names."""
    found = (node for node in network.nodes.values() if node.operation in STATISTICS)
    return sorted(found, key=lambda node: node.name)


def held(network: Network) -> list[Node]:
    """Return the nodes whose numbers a model file has, in order of their names."""
    found = (node for node in network.nodes.values() if node.operation in HELD)
    return sorted(found, key=lambda node: node.name)


def trained(network: Network, criterion: Node) -> list[Node]:
    """Return the parameters that training changes: those that the criterion depends on, in order of
    their names.
    """
    wanted = reached([criterion])
    return [node for node in held(network) if node.trainable and node in wanted]


def multipliers(network: Network) -> dict[str, float]:
    """Return the factor of each trained parameter's learning rate, where it is not 1."""
    nodes = (one for one in held(network) if one.trainable)
    found = {one.name: _real(one, "learningRateMultiplier", 1.0) for one in nodes}
    return {name: _single(value) for name, value in found.items() if value != 1.0}


def normalizing(network: Network) -> list[str]:
    """Return the names of the scales and biases of batch normalisations."""
    nodes = (node for node in network.nodes.values() if node.operation in COUNTING)
    return [source.name for node in nodes for source in node.inputs[1:3]]


def counters(network: Network) -> list[str]:
    """Return the names of the nodes that count samples."""
    return [node.name for node in network.nodes.values() if node.operation in COUNTING]


def _single(value: float) -> float:
    """Return a number rounded to single precision."""
    (found,) = struct.unpack("f", struct.pack("f", value))
    return float(found)


def learning(network: Network, criterion: Node) -> int:
    """Return the number of nodes that have a gradient when a criterion is trained."""
    nodes = _reached(network, [criterion])
    users: dict[int, list[Node]] = {}
    for node in nodes:
        for source in node.inputs:
            users.setdefault(id(source), []).append(node)
    waiting = [node for node in nodes if node.trainable]
    found = {id(node) for node in waiting}
    while waiting:
        fresh = [one for one in users.get(id(waiting.pop()), ()) if id(one) not in found]
        found.update(map(id, fresh))
        waiting += fresh
    return len(found)


class Seeds:
    """Seeds of parameters that begin at random: each takes the next one in the order of creation.

    A simple network counts from 1; texts count through all networks of a run.
    """

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        #: Whether every parameter has seed 1, whatever it says itself.
        self.constant = False

    def copy(self) -> Seeds:
        """Return a copy with the same state."""
        twin = Seeds()
        twin.replace(self)
        twin.constant = self.constant
        return twin

    def replace(self, other: Seeds) -> None:
        """Continue from the state of another."""
        self._next = dict(other._next)

    def pass_over(self, network: Network, language: str) -> None:
        """Count a network that is not trained, since later ones are drawn as if it were."""
        drawn = (node for node in network.nodes.values() if node.operation == PARAMETER)
        count = sum(
            node.text("init") in RANDOM and node.integer("randomSeed", -1) < 0 for node in drawn
        )
        self._next[language] = self._first(language) + count

    def _first(self, language: str) -> int:
        return 1 if language == "simple" else self._next.get(language, 1)

    def starts(
        self, network: Network, language: str, files: RunFiles, offset: int = 0
    ) -> dict[str, Start]:
        """Return the start of every parameter of a network; ``offset`` is added to seeds, except
        those of BrainScript.

        Refused for ways that are not supported yet, and DataError where numbers in a file cannot be
        used. ComputationNetworkLib/ComputationNetwork.cpp, InitLearnableParameters;
        InputAndParamNodes.cpp, LazyInitParameters.
        """
        number = self._first(language)
        added = 0 if language == BRAINSCRIPT else offset
        found: dict[str, Start] = {}
        refusals = []
        for node in sorted(network.nodes.values(), key=lambda one: one.number):
            if node.operation != PARAMETER:
                continue
            kind = node.text("init")
            if kind in _CONSTANT:
                found[node.name] = Start(VALUE, _real(node, _CONSTANT[kind], 0.0))
            elif kind in RANDOM:
                given = node.integer("randomSeed", -1)
                seed = (given if given >= 0 else number) + added
                found[node.name] = _random(node, kind, 1 if self.constant else seed)
                number += given < 0
            elif (written := written_start(node, files)) is not None:
                found[node.name] = written
            else:
                reason = f"'{node.name}' is initialized by '{kind}', which is not supported yet."
                refusals.append(RunRefusal(reason, node.where))
        if refusals:
            raise Refused(*refusals)
        self._next[language] = number
        return found


def _random(node: Node, kind: str, seed: int) -> Start:
    return Start(
        kind,
        _real(node, "initValueScale", 1.0),
        seed,
        node.integer("initFilterRank"),
        node.integer("initOutputRank", 1),
    )


def _real(node: Node, attribute: str, otherwise: float) -> float:
    value = node.attributes.get(attribute, otherwise)
    return float(value) if isinstance(value, (int, float)) else otherwise


def _reached(network: Network, roots: Iterable[Node]) -> list[Node]:
    """Return the nodes that roots depend on, each after its inputs."""
    wanted = reached(roots)
    nodes = in_order(list(network.nodes.values()), _of_the_same_step)
    return [node for node in nodes if node in wanted]


def _of_the_same_step(node: Node) -> tuple[Node, ...]:
    """Return the inputs of a node in the same step; a delay's source is of another step."""
    return node.inputs[1:] if node.operation in DELAYS else node.inputs


def _not_computed(nodes: Iterable[Node]) -> Iterator[RunRefusal]:
    for node in nodes:
        reason = why_not(node)
        if reason:
            yield RunRefusal(f"'{node.name}' {reason}", node.where)


def _lower(graph: Graph, node: Node, made: dict[str, engine.Node], learns: bool) -> engine.Node:
    shape, origin = tuple(reversed(node.shape or ())), Declared(node.name, node.where)
    if node.operation in INPUTS:
        return graph.input(node.name, shape, axis=node.text("dynamicAxis"), origin=origin)
    read = _of_the_same_step(node)
    if any(source.name not in made for source in read):
        raise GraphError(f"{node.name}: depends on itself in the same step")
    # The third and fourth input of a crop say where its image lies, and bring no values.
    sources = [made[source.name] for source in read[: 2 if node.operation == CROP else None]]
    if node.operation == STACK:
        return taken_apart(graph, node, origin, *sources)
    if node.operation in PARTS:
        return in_parts(graph, node, origin, *sources)
    if node.operation == TRACE:
        return graph.apply("Pass", *sources, name=node.name, origin=origin)
    if node.operation in DELAYS:
        steps, initial = node.integer("timeStep", 1), _real(node, "defaultHiddenActivation", 0.1)
        if steps < 1:
            raise GraphError(f"{node.name}: the timeStep {steps} is less than 1")
        return graph.delay(
            node.operation,
            shape,
            *sources,
            name=node.name,
            origin=origin,
            timeStep=steps,
            initial=initial,
        )
    parameters = []
    if node.operation in HELD:
        parameters = [graph.parameter(node.name, shape, trained=learns, origin=origin)]
    elif node.operation in COUNTING:
        parameters = [graph.parameter(node.name, (1,), trained=False, origin=origin)]
    found = _ATTRIBUTES.get(node.operation)
    attributes = {} if found is None else found(node)
    return graph.apply(
        node.operation, *sources, parameters=parameters, name=node.name, origin=origin, **attributes
    )


def _shape(node: Node) -> dict[str, Any]:
    return {"shape": tuple(reversed(node.shape or ()))}


def _given(*names: str) -> Callable[[Node], dict[str, Any]]:
    """Return a reader of integer attributes that have the same names."""
    return lambda node: {name: node.integer(name) for name in names}


def _sampled(node: Node) -> dict[str, Any]:
    return {
        "sizeOfSampledSet": node.integer("sizeOfSampledSet"),
        "allowDuplicates": node.truth("allowDuplicates"),
    }


#: The attributes of operations, in addition to their sources.
_ATTRIBUTES: dict[str, Callable[[Node], dict[str, Any]]] = {
    "Times": lambda node: {"outputRank": node.integer("outputRank", 1)},
    "Reshape": _shape,
    "LegacyReshape": _shape,
    "RowRepeat": _given("numRepeats"),
    CROP: lambda node: {"offsets": offsets(node)},
    **dict.fromkeys(DRAWING, _sampled),
    "CosDistanceWithNegativeSamples": lambda node: {"negatives": (node.shape or (1,))[0] - 1},
    "RowStack": lambda node: {"axis": node.integer("alongAxis", 1)},
    "OneHot": lambda node: {"axis": node.integer("axis", 1), "classes": node.integer("numClass")},
    "Pad": lambda node: {
        "head": node.dimensions("head"),
        "foot": node.dimensions("foot"),
        "mode": node.integer("mode"),
        "value": _real(node, "value", 0.0),
    },
    "TopK": lambda node: {
        "count": node.integer("numItems", 1),
        "places": node.integer("output") == 1,
    },
    "ConstantOp": lambda node: {"value": _real(node, "fillValue", 0.0)},
    "BatchNormalization": lambda node: {
        "spatial": node.truth("spatial"),
        "normalizationTimeConstant": _real(node, "normalizationTimeConstant", 0.0),
        "blendTimeConstant": _real(node, "blendTimeConstant", 0.0),
        "epsilon": _real(node, "epsilon", 1e-5),
    },
    "Convolution": windows.convolution,
    "Pooling": windows.pooling,
    "ROIPooling": windows.regions,
    "MaxUnpooling": windows.unpooling,
    "MaxPooling": windows.old_pooling,
    "AveragePooling": windows.old_pooling,
}
