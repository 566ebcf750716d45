"""What torch is asked to compute of a network of CNTK before anything is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import torch

from netsharp_engine.graph import GraphError
from netsharp_engine.planned import Planned
from netsharp_engine.program import Job, Program, Unsupported
from netsharp_engine.tensor_backend import TensorDraft
from netsharp_engine.torch_backend.tensors.kernels.table import COMPUTED
from netsharp_engine.torch_backend.tensors.plan_description import describe_plan
from netsharp_engine.torch_backend.tensors.program import TorchTensorProgram
from netsharp_engine.torch_backend.tensors.updates import RULES


class TorchTensorDraft:
    """The facts of a job for one device."""

    def __init__(self, job: Job, device: str, *, halved: bool = False) -> None:
        self.job, self.device, self.halved = job, device, halved
        self._host = TensorDraft(job)

    def unsupported(self) -> Sequence[Unsupported]:
        """Return the nodes that the table does not support, and those that none can compute."""
        return [*self._lacking(), *self._host.unsupported()]

    def _lacking(self) -> Iterator[Unsupported]:
        nodes, rule = self.job.graph.nodes, self.job.rule
        for node in nodes:
            if node.op != "input" and node.op not in COMPUTED:
                label = node.name or node.op
                yield Unsupported(node, f"{label}: torch does not compute '{node.op}' here.")
        if rule is not None and rule.kind not in RULES:
            yield Unsupported(nodes[-1], f"torch has no update rule '{rule.kind}' here.")

    def needs(self, *, shares: bool = False, threads: int = 1) -> Counter[str]:
        """Return the bytes of the host: all of it on the processor, else what is on its way."""
        found = self._host.needs(shares=shares, threads=threads)
        if self.device == "cpu":
            return found
        kept = {f"node '{node.name}'" for node in (*self.job.graph.inputs, *self.job.graph.targets)}
        kept |= {f"node '{one.name}'" for one in self.job.graph.parameters}
        return Counter({name: size for name, size in found.items() if name in kept})

    def planned(self) -> Planned:
        """Return the calls of a step; the device need not be present."""
        return describe_plan(self.job, self.device)

    def program(self, threads: int = 1, beside: Program | None = None) -> TorchTensorProgram:
        """Make the program, with the parameters of ``beside``; ``threads`` multiply on a processor.

        Raises GraphError where ``beside`` is of another back end.
        """
        if beside is not None and not isinstance(beside, TorchTensorProgram):
            raise GraphError("torch shares weights with a program of its own alone")
        return TorchTensorProgram(
            self.job,
            torch.device(self.device),
            threads=threads,
            halved=self.halved,
            values=None if beside is None else beside.values,
        )
