"""A loop over time on torch: its nodes step by step for all sequences at once.

Autograd goes back the same way; values of sources are cut into their steps once, so that time and
memory stay linear in the steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from netsharp_engine.graph import GraphError, Node
from netsharp_engine.ops.tensors.shaping import DELAYS
from netsharp_engine.packing import Packing
from netsharp_engine.tensor_backend.kernels.acting import STEPWISE
from netsharp_engine.tensor_backend.kernels.sequences import offset
from netsharp_engine.tensor_backend.loops import Loop
from netsharp_engine.tensor_backend.scan import require_stepwise
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.acting import TorchActing
from netsharp_engine.torch_backend.tensors.kernels.sequences import border, carried_in, on_device
from netsharp_engine.torch_backend.tensors.kernels.table import TABLE

#: The values of a node at each step; None at those that are not computed yet.
Steps = list[Any]


class TorchScan:
    """One loop of a graph."""

    def __init__(self, loop: Loop) -> None:
        require_stepwise(loop)
        self._nodes, self._backwards = loop.nodes, loop.backwards
        inside = set(loop.nodes)
        #: What its nodes read that is outside.
        self.sources = list(
            dict.fromkeys(one for node in loop.nodes for one in node.inputs if one not in inside)
        )

    def packing(self, packings: Mapping[Node, Packing | None]) -> Packing:
        """Return the packing of the sequences of the loop; GraphError where it reads none."""
        known = (packings[one] for one in self.sources)
        packing = next((one for one in known if one is not None), None)
        if packing is None:
            name = self._nodes[0].name
            raise GraphError(f"the loop of '{name}' reads nothing along a dynamic axis")
        return packing

    def run(
        self,
        values: dict[Node, Tensor],
        packings: dict[Node, Packing | None],
        carried: Mapping[Node, Tensor],
        acting: TorchActing,
    ) -> None:
        """Compute all nodes at all steps; ``carried`` is what pieces of sequences take over."""
        packing = self.packing(packings)
        steps = _TorchSteps(packing, carried, values[self.sources[0]])
        for source in self.sources:
            steps.take(source, values[source], shared=packings[source] is None)
        masks = {}
        for node in self._nodes:
            packings[node] = packing
            steps.values[node] = [None] * packing.steps
            if node.op in STEPWISE:
                acting.host.draw_steps(node, packing, acting.kind, self._backwards)
                masks[node] = acting.step_masks(node, packing, values[self.sources[0]])
        order = range(packing.steps)
        for step in reversed(order) if self._backwards else order:
            for node in self._nodes:
                steps.compute(node, step, masks)
        for node in self._nodes:
            values[node] = torch.cat(steps.values[node])


class _TorchSteps:
    """The values of nodes at each step, while they are computed."""

    def __init__(self, packing: Packing, carried: Mapping[Node, Tensor], like: Tensor) -> None:
        self.values: dict[Node, Steps] = {}
        self._packing, self._carried, self._like = packing, carried, like
        bounds = np.searchsorted(packing.gaps, np.arange(packing.steps + 1) * packing.rows)
        self._gaps = [
            on_device(packing.gaps[begin:end] - step * packing.rows, like) if begin < end else None
            for step, (begin, end) in enumerate(pairwise(bounds))
        ]
        self._inside: dict[int, Sequence[Any]] = {}

    def take(self, source: Node, values: Tensor, *, shared: bool) -> None:
        """Cut the values of a source outside the loop into steps."""
        if shared:
            self.values[source] = [values] * self._packing.steps
        else:
            shape = (self._packing.steps, self._packing.rows, *values.shape[1:])
            self.values[source] = list(values.reshape(shape).unbind(0))

    def compute(self, node: Node, step: int, masks: Mapping[Node, Tensor | None]) -> None:
        """Compute a node at a step, with 0 in gaps."""
        if node.op in DELAYS:
            found = self._delayed(node, step)
        elif node.op in STEPWISE:
            (found,), mask = (self.values[one][step] for one in node.inputs), masks[node]
            if mask is not None:
                rows = self._packing.rows
                found = found * mask[step * rows : (step + 1) * rows]
        else:
            found = TABLE[node.op](node, [self.values[one][step] for one in node.inputs])
        if found.shape[0] != self._packing.rows:
            found = found.expand(self._packing.rows, *node.shape)
        gaps = self._gaps[step]
        self.values[node][step] = found if gaps is None else found.index_fill(0, gaps, 0)

    def _delayed(self, node: Node, step: int) -> Tensor:
        reach, packing = offset(node), self._packing
        inside = self._inside_of(reach)[step]
        source, *initial = node.inputs
        if inside is True:
            found: Tensor = self.values[source][step - reach]
        else:
            first = self.values[initial[0]][step] if initial else None
            found = border(node, first, self._like).expand(packing.rows, *node.shape)
            if inside is not False:
                there = inside.reshape(-1, *(1,) * len(node.shape))
                found = torch.where(there, self.values[source][step - reach], found)
        where, values = carried_in(node, step, packing, self._carried)
        return found if not len(where) else found.index_copy(0, on_device(where, found), values)

    def _inside_of(self, reach: int) -> Sequence[Any]:
        """Return for each step whether all or none of its rows have one so far before, or which."""
        if reach not in self._inside:
            packing = self._packing
            inside = (packing.earlier(reach) >= 0).reshape(packing.steps, -1)
            self._inside[reach] = [self._mask(one) for one in inside]
        return self._inside[reach]

    def _mask(self, inside: np.ndarray) -> Any:
        if inside.all() or not inside.any():
            return bool(inside.all())
        return torch.from_numpy(inside.copy()).to(self._like.device)
