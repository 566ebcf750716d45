"""A graph with its numbers as a module of PyTorch: what its outputs need, and nothing else.

Samples are the first axis; where the graph looks along sequences, steps are the first and
sequences the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.exporting.following import Following, part_that_is_needed, simplified
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.exporting.torch import steps
from netsharp_engine.exporting.torch.module import ModuleText, Port, module_text
from netsharp_engine.exporting.torch.operators.table import BIASED, ROWS, why_not
from netsharp_engine.exporting.torch.operators.windows import takes_bias
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import STEPWISE, Array, ExportedValue
from netsharp_engine.geometry import product
from netsharp_engine.ops.tensors import HELD

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from netsharp_engine.exporting.choosing import ChosenSteps
    from netsharp_engine.exporting.portable import Portable
    from netsharp_engine.graph import Graph
    from netsharp_engine.nodes import Node
    from netsharp_engine.tensor_backend.loops import Loop


class TorchForm(NamedTuple):
    """The form of a module: whether tensors of sequences are [sequences, steps, ...] as its inputs
    and outputs.
    """

    sequences_first: bool = False


class TorchModule(NamedTuple):
    """A module: its text, its numbers by PyTorch's names, and how many axes its outputs have
    before those of a sample.
    """

    text: str
    state: Mapping[str, Array]
    origins: Mapping[str, str]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


def exported(portable: Portable, form: TorchForm) -> TorchModule:
    """Return a network as a module; ExportError names the node that PyTorch cannot hold."""
    plain = simplified(portable)
    return TorchExport(plain, part_that_is_needed(plain), form).module()


class TorchExport(Following[TorchWriting]):
    """One export; subclasses give a network other inputs and outputs."""

    def __init__(self, portable: Portable, part: Graph, form: TorchForm) -> None:
        super().__init__(portable, part)
        self.form = form
        self.out = TorchWriting(portable.dtype, portable.tensors)
        #: Products whose layer adds what the next node does.
        self._joined = self._with_bias()
        self._products = set(self._joined.values())
        self._given: dict[Node, Sequence[ExportedValue]] = {}

    def module(self) -> TorchModule:
        """Write all of it."""
        inputs = self.inputs()
        self.follow()
        outputs = self.outputs()
        about = self.portable.about.get("source", "")
        text = module_text(ModuleText(self.out, inputs, outputs, about, *self.surroundings()))
        origins = {one.attribute: one.origin for one in self.out.layers}
        return TorchModule(text, self.out.state, origins, inputs, outputs)

    def surroundings(self) -> tuple[list[str], list[str]]:
        """Return the lines before and after the class."""
        return [], []

    def inputs(self) -> tuple[Port, ...]:
        """Begin the inputs of the network."""
        return tuple(map(self._input, self.part.inputs))

    def outputs(self) -> tuple[Port, ...]:
        """End with the requested nodes."""
        return tuple(map(self._output, self.portable.outputs))

    def _input(self, node: Node) -> Port:
        self.out.begin(node.name)
        name = self.out.names.fresh(node.name)
        value = ExportedValue(name, self.lead, node.shape)
        self.values[node] = value._replace(name=self.out.let(self._turned(value)))
        return self._port(name, node, value)

    def _output(self, node: Node) -> Port:
        value = self.values[node]
        self.out.begin(node.name)
        name = self.out.let(self._turned(value._replace(name=self.out.read(value))))
        return self._port(name, node, value)

    def _port(self, name: str, node: Node, value: ExportedValue) -> Port:
        return Port(name, node.name, value.lead, node.shape, self._is_turned(value))

    def _is_turned(self, value: ExportedValue) -> bool:
        return self.form.sequences_first and value.lead == STEPWISE

    def _turned(self, value: ExportedValue) -> str:
        """Return a tensor of sequences with the order of axes of inputs and outputs."""
        return f"{value.name}.transpose(0, 1)" if self._is_turned(value) else value.name

    def _with_bias(self) -> dict[Node, Node]:
        """Return nodes that add a bias to the product before them, with that."""
        shared, outputs = self._shared(), set(self.portable.outputs)
        found: dict[Node, Node] = {}
        for node in self.part.nodes:
            for source in node.inputs if node.op in ("Plus", "bias") else ():
                alone = self.readers.get(source) == [node] and source not in outputs
                if alone and source.op in BIASED and _fits(node, source, shared):
                    found[node] = source
        return found

    def _shared(self) -> set[Node]:
        """Return the nodes that are computed from parameters alone."""
        found: set[Node] = set()
        for node in self.part.nodes:
            if node.op in HELD or (node.inputs and found.issuperset(node.inputs)):
                found.add(node)
        return found

    def top(self) -> TorchWriting:
        """Return the module."""
        return self.out

    def begin(self, out: TorchWriting, node: Node) -> None:
        """Name what follows after a node."""
        out.begin(node.name)

    def held(self, out: TorchWriting, node: Node, numbers: Array) -> ExportedValue:
        """Keep numbers, which are written where they are read. ``numbers`` have as many elements as
        the node.
        """
        values = np.ascontiguousarray(numbers.reshape(node.shape), self.portable.dtype)
        return ExportedValue(node.name, 0, node.shape, values)

    def row(
        self, out: TorchWriting, node: Node, sources: Sequence[ExportedValue], lead: int
    ) -> ExportedValue:
        """Add what computes a node. Raises ExportError for a node that nothing is written for."""
        if node.op not in ROWS:
            raise refused(node, why_not(node.op))
        if node in self._products:
            self._given[node] = sources
            return ExportedValue("", lead, node.shape)
        joined = self._joined.get(node)
        if joined is None:
            return ExportedValue(out.let(ROWS[node.op](out, node, sources)), lead, node.shape)
        bias = self._numbers(node) if node.parameters else None
        for one in sources:
            bias = one.constant if one.constant is not None else bias
        found = BIASED[joined.op](out, joined, self._given[joined], bias)
        return ExportedValue(out.let(found), lead, node.shape)

    def delayed(
        self, out: TorchWriting, node: Node, values: Mapping[Node, ExportedValue]
    ) -> ExportedValue:
        """Add a delay outside of loops. Raises ExportError where its first values change with the
        samples.
        """
        return ExportedValue(steps.delayed(out, node, values), STEPWISE, node.shape)

    def chosen(
        self, out: TorchWriting, node: Node, source: ExportedValue, steps: ChosenSteps
    ) -> ExportedValue:
        """Add some steps of sequences."""
        if steps.is_one:
            return ExportedValue(out.let(f"{source.name}[{steps.start}]"), 1, node.shape)
        index = f"{steps.start or ''}:{'' if steps.stop is None else steps.stop}"
        return ExportedValue(out.let(f"{source.name}[{index}]"), STEPWISE, node.shape)

    def looped(self, loop: Loop, shown: Collection[Node]) -> None:
        """Add a layer for recurrences, or a loop over time. Raises ExportError for a loop that
        reads nothing along a sequence.
        """
        steps.looped(self.out, loop, shown, self.values, self.emitted)

    def why_not(self, operation: str) -> str:
        """Return why PyTorch has no such operation."""
        return why_not(operation)


def _fits(node: Node, source: Node, shared: set[Node]) -> bool:
    """Return whether the layer of a product can add the other source of a node to it."""
    if source.op in ("full", "filtered"):
        return node.op == "bias"
    others = [one for one in node.inputs if one is not source]
    if node.op != "Plus" or len(others) != 1 or node.shape != source.shape:
        return False
    bias, (weights, read) = others[0], source.inputs
    if bias not in shared or weights not in shared or read in shared:
        return False
    if source.op == "Convolution":
        maps = source.shape[0]
        return takes_bias(source) and bias.shape == (maps, *(1,) * (len(source.shape) - 1))
    rank = int(source.attributes.get("outputRank", 1))
    return bias.size == source.size and source.size == product(weights.shape[-rank:])
