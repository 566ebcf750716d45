"""A network of CNTK on one device with its update rule, as training knows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from netsharp_engine.ops.tensors import COUNTING
from netsharp_engine.program import Fault, Job, UpdateRule
from netsharp_engine.tensor_backend.counting import CountingProgram
from netsharp_engine.tensor_backend.kernels.rows import Array
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.updates import (
    TorchBefore,
    TorchChange,
    changed,
    joined,
    shorten,
)
from netsharp_engine.torch_backend.tensors.walk import Gradient, TorchRows, TorchWalk

if TYPE_CHECKING:
    from netsharp_engine.graph import Node, Parameter


class TorchTensorProgram(CountingProgram):
    """The values of a graph's nodes for the samples that were fed, and of its parameters."""

    _touched = TorchRows

    def __init__(
        self,
        job: Job,
        device: torch.device,
        *,
        threads: int = 1,
        halved: bool = False,
        values: dict[str, Tensor] | None = None,
    ) -> None:
        own: dict[str, Tensor] = {} if values is None else values
        self._device, self._halved = device, halved
        self._threads = threads if device.type == "cpu" else 0
        #: What counts samples is read in each step, and stays on the host.
        self._counters = {
            one.name for node in job.graph.nodes if node.op in COUNTING for one in node.parameters
        }
        super().__init__(job, TorchWalk(job, own, device), own)

    def _compute(self, *, learns: bool) -> None:
        if self._threads and torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        kind = self._device.type
        with torch.autocast(kind, torch.bfloat16) if self._halved else nullcontext():
            self._walk.forward(learns=learns)

    def _differentiated(self) -> dict[str, Gradient]:
        found: dict[str, Gradient] = self._walk.gradients()
        return found

    def _joined(self, first: Gradient, second: Gradient, name: str) -> Gradient:
        return joined(first, second, self.values[name])

    def _placed(self, name: str, array: Array) -> Tensor:
        tensor = torch.from_numpy(array)
        return tensor if name in self._counters else tensor.to(self._device)

    def _host(self, value: Any) -> Array:
        found: Array = value if isinstance(value, np.ndarray) else value.detach().cpu().numpy()
        return found.copy()

    def read(self, node: Node) -> Array:
        """Return the values [rows, nodes] of a node; one row of a value that all samples share."""
        return super().read(node).astype(self._type, copy=False)

    def update(self, rule: UpdateRule) -> bool:
        """Change the parameters as the rule says; none where a number is not finite."""
        if self._fault is not None:
            return False
        with torch.no_grad():
            if rule.shaping.total < math.inf:
                shorten(rule.shaping.total, self._gradients)
            found = {one: self._changed(rule, one) for one in self._trained}
            wrong = _first_infinite(found)
            if wrong is not None:
                self._fault = Fault("weight", wrong)
                return False
            for parameter, change in found.items():
                change.put(parameter.name, self.values, self._memory)
        self._updates += 1
        return True

    def _changed(self, rule: UpdateRule, parameter: Parameter) -> TorchChange:
        name = parameter.name
        known = {kind: found[name] for kind, found in self._memory.items()}
        gradient, values = self._gradients[name], self.values[name]
        before = TorchBefore(values, values, rule.rate, known, not self._updates)
        return changed(rule, before, gradient, name)


def _first_infinite(found: Mapping[Parameter, TorchChange]) -> Parameter | None:
    """Return the first parameter with a number that is not finite; one look at the device."""
    if not found:
        return None
    sums = torch.stack([change.values.sum() for change in found.values()])
    if bool(sums.isfinite().all()):
        return None
    for parameter, change in found.items():
        if not bool(change.values.isfinite().all()):
            return parameter
    return None
