"""The walk forward through the nodes of a graph, and of gradients back to its parameters.

Values are [columns, *shape], those that all samples share [1, *shape]. Gaps between sequences hold
0 in every value and every gradient, set and not multiplied: no earlier value reaches a sum. It must
not know update rules or figures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.graph import Graph, Node
from netsharp_engine.ops.tensors import ACROSS, ENVIRONMENT, HELD, JOINING
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_engine.packing import Indices, Packing
from netsharp_engine.phases import Phase
from netsharp_engine.program import Batch, Job, Packed, Sparse
from netsharp_engine.tensor_backend.feeding import common_packing, fed, joined_columns
from netsharp_engine.tensor_backend.kernels import sequences, sparse
from netsharp_engine.tensor_backend.kernels.acting import Acting
from netsharp_engine.tensor_backend.kernels.elements import reduced
from netsharp_engine.tensor_backend.kernels.rows import Array, Backward, total
from netsharp_engine.tensor_backend.kernels.sequences import without_gaps
from netsharp_engine.tensor_backend.kernels.table import TABLE, backward_of
from netsharp_engine.tensor_backend.loops import Loop, scheduled
from netsharp_engine.tensor_backend.scan import Scan
from netsharp_engine.tensor_backend.together import Affine, Together, together

if TYPE_CHECKING:
    from netsharp_engine.program import Tensors
    from netsharp_engine.tensor_backend.kernels.sparse import Gradient


#: What is computed at once.
Part = Node | Loop | Together


class GraphWalk:
    """The values of a graph's nodes for what was fed; ``values`` are those of its parameters.

    ``found`` has the value of each node that was needed, ``packings`` where its sequences stand
    (None: all samples share it), ``fed`` is the number of samples along the axis of the network.
    """

    def __init__(self, job: Job, values: Tensors) -> None:
        self.found: dict[Node, Array] = {}
        self.packings: dict[Node, Packing | None] = {}
        self.fed = 0
        self._graph, self.values = job.graph, values
        self._type: Any = np.dtype(job.dtype).type
        self._schedule = scheduled(job.graph)
        self._learning = learning(job.graph) if job.rule is not None else set()
        self._scans = {
            part: Scan(part, self._learning, read_outside(job.graph, part), self._type)
            for part in self._schedule
            if isinstance(part, Loop)
        }
        self._parts, self._hidden = self._joined()
        #: What was computed node by node, this time.
        self._apart: set[Together] = set()
        self._sparse: dict[Node, sparse.Entries] = {}
        self._factor = 1.0
        self._acting = Acting(job.graph, values, training=job.rule is not None)
        self._delays = [node for node in job.graph.nodes if node.op in DELAYS]
        #: Of delays the last steps of what they read, where sequences are cut into pieces.
        #: What pieces of sequences take over, by the part of a minibatch and by delays.
        self._carried: dict[int, dict[Node, Array]] = {}
        self._part, self._taken_over = 0, dict[Node, Array]()
        self._held = [
            (part, part.parameters[0].name)
            for part in self._parts
            if isinstance(part, Node) and part.op in HELD
        ]
        #: The calls of a pass forward, and those of one back with their parts.
        self._calls = [one for one in map(self._call, self._parts) if one is not None]
        self._returns = [(_returning(part), part) for part in reversed(self._parts)]

    @property
    def parts(self) -> list[Part]:
        """Return what a pass forward computes at once, in its order."""
        return self._parts

    @property
    def cells(self) -> set[Part]:
        """Return the loops that are computed as the cells of a recurrent layer."""
        return {loop for loop, scan in self._scans.items() if scan.is_cell}

    def _call(self, part: Part) -> Callable[[], None] | None:
        """Return the function that computes a part; None for inputs and parameters."""
        if isinstance(part, Together):
            return partial(self._at_once, part)
        if isinstance(part, Loop):
            return partial(self._run, self._scans[part])
        if part.op == "input" or part.op in HELD:
            return None
        return partial(self._set_environment if part.op == ENVIRONMENT else self._compute, part)

    def _joined(self) -> tuple[list[Part], dict[Node, Together]]:
        """Return the schedule, nodes computed together as one, and the nodes that this hides."""
        plain = [part for part in self._schedule if isinstance(part, Node)]
        found = together(self._graph, plain, self._learning)
        by = {one.shown: one for one in found}
        hidden = {node: one for one in found for node in one.hidden}
        kept = (part for part in self._schedule if part not in hidden)
        parts = [by.get(part, part) if isinstance(part, Node) else part for part in kept]
        for scan in self._scans.values():
            sums = None if scan.takes is None else by.get(scan.takes)
            readers = [node for node in self._graph.nodes if scan.takes in node.inputs]
            ends = {self._graph.output, *self._graph.criteria}
            if isinstance(sums, Affine) and len(readers) == 1 and sums.shown not in ends:
                sums.deferred = True
                scan.take(sums)
                hidden[sums.shown] = sums
        return parts, hidden

    def begin(self, phase: Phase) -> None:
        """Take an epoch's settings; no sequence continues from the epoch before."""
        self._acting.begin(phase)
        self._carried = {}

    def feed(self, batch: Batch) -> None:
        """Take the values of every input; GraphError for others, SamplesError for lengths that
        differ.
        """
        self.found, self._sparse = {}, {}
        self._part, self._taken_over = batch.part, self._carried.get(batch.part, {})
        self.packings, self.fed, self._factor = fed(self._graph, batch)
        for node in (*self._graph.inputs, *self._graph.targets):
            self._take(node, batch.inputs[node.name])

    def _take(self, node: Node, given: Array | Sparse | Packed) -> None:
        values, packing = given.values if isinstance(given, Packed) else given, self.packings[node]
        if isinstance(values, Sparse):
            self._sparse[node] = sparse.entries(values, self._type)
            return
        array = np.asarray(values, self._type).reshape(-1, *node.shape)
        if packing is not None and len(packing.gaps):
            array = array.copy()
        self.found[node] = without_gaps(array, packing)

    def forward(self) -> None:
        """Compute all nodes. Raises SamplesError where samples do not fit the network, as by
        sequences of other lengths, and GraphError for a source without a dynamic axis.
        """
        self._apart = set()
        with np.errstate(all="ignore"):
            for node, name in self._held:
                self.found[node], self.packings[node] = self.values[name][None], None
            for call in self._calls:
                call()
        kept = {}
        for delay in self._delays:
            packing = self.packings.get(delay)  # A hidden value is not carried over.
            if packing is not None and packing.before is not None:
                values = self.dense(delay.inputs[0])
                kept[delay] = sequences.carried_on(delay, values, packing)
        self._carried[self._part] = kept

    def _at_once(self, part: Together) -> None:
        if not part.forward(self):
            self._apart.add(part)
            for node in (*part.hidden, part.shown):
                self._compute(node)

    def _run(self, scan: Scan) -> None:
        for source in scan.read:
            self.dense(source)
        scan.forward(self.found, self.packings, self._type, self._taken_over, self._acting)

    def _set_environment(self, node: Node) -> None:
        self.found[node] = np.full((1, 1), self._acting.training, self._type)
        self.packings[node] = None

    def _compute(self, node: Node) -> None:
        packings = [self.packings[source] for source in node.inputs]
        if node.op in COLUMNS:
            sources = list(map(self.dense, node.inputs))
            self.found[node], self.packings[node] = sequences.moved(node, sources, packings)
            return
        packing = common_packing(node, packings)
        self.packings[node] = None if node.op in JOINING else packing
        if node.op in DELAYS:
            source, *initial = map(self.dense, node.inputs)
            assert packing is not None
            first = initial[0] if initial else None
            value = sequences.delayed(node, source, first, packing, self._taken_over)
        elif self._is_sparse(node):
            left, right = node.inputs
            entries = sparse.vectors(node, self._sparse[right])
            value = sparse.times(self.found[left], entries, sparse.inner(node))
            value = value.reshape(-1, *node.shape)
        elif node in self._acting.kernels:
            self._acting.packing = packing
            value = self._acting.kernels[node].forward(node, self._sources(node, packing))
        else:
            value = TABLE[node.op].forward(node, self._sources(node, packing))
            if node.op in ACROSS:
                value = _put(value, joined_columns(node, packing), packing)
        self.found[node] = without_gaps(value, self.packings[node])

    def _sources(self, node: Node, packing: Packing | None) -> list[Array]:
        """Return the sources of a node; where it joins samples, without columns that are gaps."""
        found, samples = list(map(self.dense, node.inputs)), joined_columns(node, packing)
        if samples is not None:
            found = [
                array if self.packings[source] is None else array[samples]
                for array, source in zip(found, node.inputs, strict=True)
            ]
        return found

    def back_of(self, node: Node) -> tuple[Backward | None, ...]:
        """Return the functions for the gradients of a node by each source."""
        acting = self._acting.kernels.get(node)
        return backward_of(node) if acting is None else acting.backward

    def entries(self, node: Node) -> sparse.Entries | None:
        """Return the value of an input that is sparse."""
        return self._sparse.get(node)

    def dense(self, node: Node) -> Array:
        """Return the value [columns, *shape] of a node, also where others did not need it. Raises
        SamplesError where sequences of other lengths are joined, and GraphError for a source
        without a dynamic axis.
        """
        if node in self.found:
            return self.found[node]
        if node in self._sparse:
            self.found[node] = sparse.dense(self._sparse[node], node.shape)
        elif node in self._hidden:
            with np.errstate(all="ignore"):
                part = self._hidden[node]
                for one in (*part.hidden, part.shown):
                    if one not in self.found:
                        self._compute(one)
        else:  # It is in a loop that was computed as one.
            scan = next(self._scans[loop] for loop in self._scans if node in loop.nodes)
            for source in scan.sources:
                self.dense(source)
            with np.errstate(all="ignore"):
                scan.unfold(self.found, self.packings)
        return self.found[node]

    def _is_sparse(self, node: Node) -> bool:
        """Return whether a node is a product with samples that stay sparse."""
        return sparse.stays_sparse(node, self._sparse, self.packings)

    def sums(self) -> list[Any]:
        """Return the criteria, each summed over samples."""
        return [total(self.found[one]).reshape(-1)[0] for one in self._graph.criteria]

    def read(self, node: Node) -> Array:
        """Return the values [samples, nodes] of a node, sequence after sequence without gaps; one
        row of a value that all samples share. Raises the errors of ``forward``, SamplesError and
        GraphError, where it has to be computed.
        """
        found, packing = self.dense(node), self.packings[node]
        if packing is not None and packing.steps != 1:
            found = found[packing.places]
        return found.reshape(len(found), -1)

    def packing_of(self, node: Node) -> Packing | None:
        """Return the packing of a node's sequences; None where it has none. Raises the errors of
        ``forward``, SamplesError and GraphError, where it has to be computed.
        """
        if node not in self.packings:
            self.dense(node)
        return self.packings[node]

    @property
    def samples(self) -> int:
        """Return the number that sums of criteria are divided by: the samples that were fed, or
        those of the first criterion where that has a dynamic axis itself.
        """
        packing = self.packings[self._graph.criteria[0]] if self._graph.criteria else None
        return self.fed if packing is None else packing.samples

    def backward(self) -> dict[str, Gradient]:
        """Return the gradient of the first criterion by every trained parameter."""
        with np.errstate(all="ignore"):
            return _Return(self).gradients()

    def first_fault(self) -> Node | None:
        """Return the first node with a value that is not finite."""
        for node in self._graph.nodes:
            if node in self.found and not np.isfinite(self.found[node]).all():
                return node
        return None


class _Return:
    """One way back."""

    def __init__(self, walk: GraphWalk) -> None:
        self._walk = walk
        self._by: dict[Node, Gradient] = {}
        self._found: dict[str, Gradient] = {}

    def gradients(self) -> dict[str, Gradient]:
        """Return the gradients of all trained parameters."""
        walk = self._walk
        first = walk._graph.criteria[0]
        seed = np.full(walk.found[first].shape, walk._factor, walk._type)
        self._by = {first: without_gaps(seed, walk.packings[first])}
        self._found = {}
        for give, part in walk._returns:
            give(self, part)
        for one in walk._graph.parameters:
            if one.trained and one.name not in self._found:
                self._found[one.name] = np.zeros(one.shape, walk._type)
        return self._found

    def nothing(self, part: Any) -> None:
        """Do nothing: inputs have no gradient."""

    def loop(self, part: Any) -> None:
        """Give the sources of a loop their gradients."""
        walk = self._walk
        given: Any = {one: self._by.pop(one) for one in part.nodes if one in self._by}
        for source, new in walk._scans[part].backward(given, walk.found, walk.packings):
            self._add(source, new)

    def held(self, part: Any) -> None:
        """Keep the gradient of a parameter."""
        gradient = self._by.pop(part, None)
        if gradient is None:
            return
        name, shape = part.parameters[0].name, part.parameters[0].shape
        own = gradient if isinstance(gradient, sparse.TouchedRows) else gradient[0]
        known = self._found.get(name)
        self._found[name] = own if known is None else sparse.joined(known, own, shape)

    def node(self, part: Any) -> None:
        """Give the sources of a node their gradients."""
        gradient = self._by.pop(part, None)
        if gradient is not None:
            self._share(part, gradient)

    def together(self, part: Any) -> None:
        """Give the sources of nodes that were computed together their gradients."""
        if part not in self._walk._apart:
            gradient = self._by.pop(part.shown, None)
            if gradient is not None:
                assert not isinstance(gradient, sparse.TouchedRows)
                for source, new in part.backward(self._walk, gradient):
                    self._add(source, new)
            return
        for node in (part.shown, *reversed(part.hidden)):
            if node in self._by:
                self._share(node, self._by.pop(node))

    def _share(self, node: Node, gradient: Any) -> None:
        """Give the sources of a node their gradients."""
        walk = self._walk
        packings = [walk.packings[source] for source in node.inputs]
        packing = next((one for one in packings if one is not None), None)
        wanted = [
            (number, source)
            for number, source in enumerate(node.inputs)
            if source in walk._learning
        ]
        if not wanted:
            return
        if walk._is_sparse(node) and wanted[0][0] == 0:
            left, right = node.inputs
            entries = sparse.vectors(node, walk._sparse[right])
            touched: Gradient = sparse.times_back(entries, gradient)
            if left.op not in HELD:
                assert isinstance(touched, sparse.TouchedRows)
                touched = touched.dense((sparse.inner(node), left.size // sparse.inner(node)))
                touched = touched.reshape(1, *left.shape)
            self._add(left, touched)
            return
        if node.op == "ReconcileDynamicAxis" and packings[0] and wanted[0][0] == 0:
            self._add(node.inputs[0], without_gaps(gradient, packings[0]))
            return
        if node.op in COLUMNS:
            self._move_back(node, wanted, gradient)
            return
        if node.op in DELAYS:
            assert packing is not None
            for number, source in wanted:
                delay_back = sequences.border_back if number else sequences.delayed_back
                self._add(source, self._fitted(source, delay_back(node, gradient, packing)))
            return
        sources, samples, value = (
            walk._sources(node, packing),
            joined_columns(node, packing),
            walk.found[node],
        )
        if samples is not None and node.op in ACROSS:
            value, gradient = value[samples], gradient[samples]
        for (number, source), back in ((one, walk.back_of(node)[one[0]]) for one in wanted):
            if back is None:
                continue
            new = back(node, sources, value, gradient)
            if packings[number]:
                new = _put(new, samples, packing)
            self._add(source, self._fitted(source, new, packing))

    def _move_back(self, node: Node, wanted: list[tuple[int, Node]], gradient: Array) -> None:
        walk = self._walk
        sources = list(map(walk.dense, node.inputs))
        packings = [walk.packings[one] for one in node.inputs]
        for number, source in wanted:
            new = sequences.moved_back(node, number, sources, packings, gradient)  # type: ignore[arg-type]
            if new is not None:
                self._add(source, self._fitted(source, new))

    def _fitted(self, source: Node, new: Array, packing: Packing | None = None) -> Array:
        """Return a gradient in the shape of its source, without gaps."""
        walk = self._walk
        own = walk.packings[source]
        return reduced(without_gaps(new, own or packing), walk.dense(source).shape)

    def _add(self, source: Node, new: Gradient) -> None:
        known = self._by.get(source)
        if known is None:
            self._by[source] = new
        elif isinstance(known, sparse.TouchedRows) or isinstance(new, sparse.TouchedRows):
            shape = source.parameters[0].shape
            one, other = (
                each if isinstance(each, sparse.TouchedRows) else each[0] for each in (known, new)
            )
            found = sparse.joined(one, other, shape)
            self._by[source] = found if isinstance(found, sparse.TouchedRows) else found[None]
        else:
            self._by[source] = known + new


def _returning(part: Part) -> Callable[[_Return, Any], None]:
    """Return the function that computes the gradients of a part."""
    if isinstance(part, Together):
        return _Return.together
    if isinstance(part, Loop):
        return _Return.loop
    if part.op == "input":
        return _Return.nothing
    return _Return.held if part.op in HELD else _Return.node


def _put(values: Array, samples: Indices | None, packing: Packing | None) -> Array:
    """Return values of samples alone, put into their columns."""
    if samples is None or packing is None:
        return values
    found = np.zeros((packing.columns, *values.shape[1:]), values.dtype)
    found[samples] = values
    return found


def read_outside(graph: Graph, loop: Loop) -> set[Node]:
    """Return the nodes of a loop that others read, or that are requested."""
    inside = set(loop.nodes)
    others = (one for node in graph.nodes if node not in inside for one in node.inputs)
    ends = () if graph.output is None else (graph.output,)
    return inside.intersection((*others, *graph.criteria, *ends))


def learning(graph: Graph) -> set[Node]:
    """Return the nodes whose gradient is needed: at or above trained parameters, even in loops."""
    users: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        for source in node.inputs:
            users.setdefault(source, []).append(node)
    waiting = [one for one in graph.nodes if one.op in HELD and one.parameters[0].trained]
    found = set(waiting)
    while waiting:
        fresh = [
            one for one in users.get(waiting.pop(), ()) if one not in found and one.op not in HELD
        ]
        found.update(fresh)
        waiting += fresh
    return found
