"""From what is fed forward through the nodes of a graph in torch, and gradients by its autograd.

Values are [columns, *shape], of what all samples share [1, *shape].  Gaps between sequences hold 0
in every value, and so in every gradient.  It knows neither update rules nor what is counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from netsharp_engine.graph import Node
from netsharp_engine.ops.tensors import ACROSS, ENVIRONMENT, HELD, JOINING
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_engine.packing import Indices, Packing
from netsharp_engine.phases import Phase
from netsharp_engine.program import Batch, Job, Packed, Sparse
from netsharp_engine.tensor_backend.feeding import common_packing, fed, joined_columns
from netsharp_engine.tensor_backend.kernels import sparse
from netsharp_engine.tensor_backend.loops import Loop, scheduled
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.flowing import row_users
from netsharp_engine.torch_backend.tensors.kernels.acting import TorchActing
from netsharp_engine.torch_backend.tensors.kernels.sequences import (
    carried_on,
    delayed,
    moved,
    on_device,
    without_gaps,
)
from netsharp_engine.torch_backend.tensors.kernels.table import TABLE
from netsharp_engine.torch_backend.tensors.scan import TorchScan


class TorchRows(NamedTuple):
    """A gradient [rows, columns] that is 0 except for the rows at ``places``, in order."""

    places: Indices
    values: Tensor


#: The gradient by a parameter.
Gradient = Any


class TorchWalk:
    """The values of a graph's nodes for what was fed; ``values`` are those of its parameters.

    ``found`` has the value of each node, ``packings`` where its sequences stand (None: all samples
    share it).
    """

    def __init__(self, job: Job, values: dict[str, Tensor], device: torch.device) -> None:
        self.found: dict[Node, Tensor] = {}
        self.packings: dict[Node, Packing | None] = {}
        self.fed = 0
        self._graph, self.values, self._device = job.graph, values, device
        self._training = job.rule is not None
        self._type: Any = np.dtype(job.dtype).type
        self._dtype = getattr(torch, job.dtype)
        self._schedule = scheduled(job.graph)
        self._scans = {part: TorchScan(part) for part in self._schedule if isinstance(part, Loop)}
        self._sparse: dict[Node, sparse.Entries] = {}
        self._factor = 1.0
        self._acting = TorchActing(job.graph, values, self._training, self._type)
        self._delays = [node for node in job.graph.nodes if node.op in DELAYS]
        self._carried: dict[int, dict[Node, Tensor]] = {}
        self._part, self._taken_over = 0, dict[Node, Tensor]()
        self._trained = [one for one in job.graph.parameters if one.trained]
        self._row_users = row_users(job.graph) if self._training else {}
        #: The tensors by which gradients are computed: parameters, or rows of those that are read
        #: by rows.
        self._leaves: dict[str, Tensor] = {}
        self._rows: dict[str, Indices] = {}

    def begin(self, phase: Phase) -> None:
        """Take the settings of an epoch; no sequence continues from the one before."""
        self._acting.begin(phase)
        self._carried = {}

    def feed(self, batch: Batch) -> None:
        """Take the values of every input; GraphError for others."""
        self.found, self._sparse = {}, {}
        self._part, self._taken_over = batch.part, self._carried.get(batch.part, {})
        self.packings, self.fed, self._factor = fed(self._graph, batch)
        for node in (*self._graph.inputs, *self._graph.targets):
            given = batch.inputs[node.name]
            values = given.values if isinstance(given, Packed) else given
            if isinstance(values, Sparse):
                self._sparse[node] = sparse.entries(values, self._type)
            else:
                array = np.asarray(values, self._type).reshape(-1, *node.shape)
                self.found[node] = without_gaps(self._sent(array), self.packings[node])

    def _sent(self, array: Any) -> Tensor:
        """Numbers of the host on the device."""
        if not array.flags.writeable:
            array = array.copy()
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)

    def forward(self, *, learns: bool = False) -> None:
        """Compute all nodes; where it ``learns``, so that a gradient can be asked for."""
        with torch.set_grad_enabled(learns):
            self._hold(learns)
            for part in self._schedule:
                if isinstance(part, Loop):
                    self._run(self._scans[part])
                elif part.op != "input" and part.op not in HELD:
                    self._compute(part)
        self._carry()

    def _hold(self, learns: bool) -> None:
        """Make the values of parameters leaves of the computation."""
        self._leaves, self._rows = {}, {}
        held: dict[str, Tensor] = {}
        for parameter in self._trained if learns else ():
            name = parameter.name
            rows = self._touched(name)
            value = self.values[name].detach()
            if rows is not None:
                self._rows[name], inner = rows
                value = value.reshape(inner, -1).index_select(0, on_device(self._rows[name], value))
            leaf = self._leaves[name] = value.requires_grad_()
            if rows is None:
                held[name] = leaf
        for node in self._graph.nodes:
            if node.op in HELD:
                name = node.parameters[0].name
                value = held.get(name)
                if value is None:
                    value = self.values[name]
                self.found[node] = value[None].to(self._device)
                self.packings[node] = None

    def _touched(self, name: str) -> tuple[Indices, int] | None:
        """Return the rows [rows] of a parameter that only sparse samples read."""
        users = self._row_users.get(name)
        if not users or any(user.inputs[1] not in self._sparse for user in users):
            return None
        inners = {sparse.inner(user) for user in users}
        if len(inners) > 1:
            return None
        places = [sparse.vectors(one, self._sparse[one.inputs[1]]).places for one in users]
        return np.unique(np.concatenate(places)), inners.pop()

    def _run(self, scan: TorchScan) -> None:
        for source in scan.sources:
            self.dense(source)
        scan.run(self.found, self.packings, self._taken_over, self._acting)

    def _compute(self, node: Node) -> None:
        packings = [self.packings[source] for source in node.inputs]
        if node.op in COLUMNS:
            value, self.packings[node] = moved(node, self._read(node), packings)
        elif node.op == ENVIRONMENT:
            self.packings[node] = None
            value = torch.full((1, 1), float(self._training), dtype=self._dtype)
            value = value.to(self._device)
        else:
            packing = common_packing(node, packings)
            self.packings[node] = None if node.op in JOINING else packing
            value = self._made(node, packing)
        self.found[node] = without_gaps(value, self.packings[node])

    def _made(self, node: Node, packing: Packing | None) -> Tensor:
        if self._is_sparse(node):
            return self._product_of_rows(node)
        if node.op in DELAYS:
            source, *initial = self._read(node)
            first = initial[0] if initial else None
            assert packing is not None
            return delayed(node, source, first, packing, self._taken_over)
        sources, columns = self._read(node), joined_columns(node, packing)
        if columns is not None:
            chosen = on_device(columns, sources[0])
            sources = [
                one if self.packings[source] is None else one.index_select(0, chosen)
                for one, source in zip(sources, node.inputs, strict=True)
            ]
        if node in self._acting.rows:
            return self._acting.rows[node](sources, packing)
        value = TABLE[node.op](node, sources)
        if columns is None or packing is None or node.op not in ACROSS:
            return value
        whole = value.new_zeros(packing.columns, *value.shape[1:])
        return whole.index_copy(0, on_device(columns, value), value)

    def _read(self, node: Node) -> list[Tensor]:
        return [self.dense(source) for source in node.inputs]

    def _is_sparse(self, node: Node) -> bool:
        """Return whether a node is a product with samples that stay sparse."""
        return sparse.stays_sparse(node, self._sparse, self.packings)

    def _product_of_rows(self, node: Node) -> Tensor:
        """Return the product of a shared matrix with sparse samples."""
        left, right = node.inputs
        entries = sparse.vectors(node, self._sparse[right])
        name = left.parameters[0].name if left.op in HELD else ""
        places = entries.places
        if name in self._rows and node in self._row_users[name]:
            rows = self._leaves[name]
            places = np.searchsorted(self._rows[name], places)
        else:
            rows = self.found[left].reshape(sparse.inner(node), -1)
        values = self._sent(entries.values)
        parts = rows.index_select(0, on_device(places, rows)) * values[:, None]
        count = len(entries.counts)
        if entries.single and len(parts) == count:
            found = parts
        else:
            found = parts.new_zeros(count, parts.shape[1])
            found = found.index_add(0, on_device(entries.samples, parts), parts)
        return found.reshape(-1, *node.shape)

    def dense(self, node: Node) -> Tensor:
        """Return the value of a node, also of an input that is sparse."""
        if node not in self.found:
            entries = self._sparse[node]
            full = self._sent(sparse.dense(entries, node.shape))
            self.found[node] = without_gaps(full, self.packings[node])
        return self.found[node]

    def packing_of(self, node: Node) -> Packing | None:
        """Return the packing of a node's sequences; None where it has none."""
        self.dense(node)
        return self.packings[node]

    def _carry(self) -> None:
        """Keep the state that the next pieces of sequences need."""
        kept = {}
        for delay in self._delays:
            packing = self.packings[delay]
            if packing is not None and packing.before is not None:
                kept[delay] = carried_on(delay, self.dense(delay.inputs[0]), packing)
        self._carried[self._part] = kept

    def sums(self) -> list[float]:
        """Return the criteria, each summed over samples: one look at the device."""
        criteria = [self.found[one].detach() for one in self._graph.criteria]
        if not criteria:
            return []
        found: list[float] = torch.stack([one.sum() for one in criteria]).tolist()
        return found

    def gradients(self) -> dict[str, Gradient]:
        """Return the gradient of the first criterion by every parameter that is trained."""
        first = self._graph.criteria[0]
        value = self.found[first]
        given: list[Tensor | None] = [None] * len(self._leaves)
        if value.requires_grad and self._leaves:
            seed = without_gaps(torch.full_like(value, self._factor), self.packings[first])
            given = list(
                torch.autograd.grad(value, list(self._leaves.values()), seed, allow_unused=True)
            )
        found: dict[str, Gradient] = {}
        for (name, leaf), gradient in zip(self._leaves.items(), given, strict=True):
            gradient = torch.zeros_like(leaf, requires_grad=False) if gradient is None else gradient
            rows = self._rows.get(name)
            found[name] = gradient if rows is None else TorchRows(rows, gradient)
        return found

    def read(self, node: Node) -> Any:
        """Return the values [samples, nodes] of a node, sequence after sequence without gaps."""
        found, packing = self.dense(node).detach(), self.packings[node]
        if packing is not None and packing.steps != 1:
            found = found.index_select(0, on_device(packing.places, found))
        return found.reshape(found.shape[0], -1).cpu().numpy()

    @property
    def samples(self) -> int:
        """Return the divisor of criteria's sums: the first criterion's samples, or those fed."""
        packing = self.packings[self._graph.criteria[0]] if self._graph.criteria else None
        return self.fed if packing is None else packing.samples

    def first_fault(self) -> Node | None:
        """Return the first node with a value that is not finite."""
        for node in self._graph.nodes:
            if node in self.found and not bool(self.found[node].isfinite().all()):
                return node
        return None
