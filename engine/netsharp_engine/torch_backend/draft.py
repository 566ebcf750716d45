"""What torch is asked to compute before anything is made: what it cannot do, and what it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import torch

from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import GraphError
from netsharp_engine.limits import KERNEL_DIMENSIONS
from netsharp_engine.planned import Planned
from netsharp_engine.program import REMEMBERS, Job, Program, Unsupported
from netsharp_engine.torch_backend.kernels import KERNELS
from netsharp_engine.torch_backend.kernels.criteria import COUNTS, CRITERIA
from netsharp_engine.torch_backend.kernels.elements import FUNCTIONS
from netsharp_engine.torch_backend.network import bytes_of
from netsharp_engine.torch_backend.numbers import TorchNumbers, stored_bytes
from netsharp_engine.torch_backend.plan_description import describe_plan
from netsharp_engine.torch_backend.program import Setting, TorchProgram
from netsharp_engine.torch_backend.updates import RULES

WIDTHS = {"float32": 4, "float64": 8}


class TorchDraft:
    """The facts of a job for one device."""

    def __init__(self, job: Job, device: str, *, halved: bool = False) -> None:
        self.job, self.device, self.halved = job, device, halved
        self.facts = Analysis(job.graph, job.rule is not None)

    def unsupported(self) -> Sequence[Unsupported]:
        """Return the nodes and criteria that the tables do not support."""
        return [*self._nodes(), *self._criteria()]

    def _nodes(self) -> Iterator[Unsupported]:
        for node in self.facts.nodes:
            if node.op == "input":
                continue
            label = node.name or node.op
            if node.op not in KERNELS or (node.op == "Dropout" and "layer" not in node.attributes):
                yield Unsupported(node, f"{label}: torch does not compute '{node.op}' here.")
            elif node.attributes.get("function", "linear") not in FUNCTIONS:
                function = node.attributes["function"]
                yield Unsupported(node, f"{label}: torch does not compute '{function}' here.")
            elif len(node.attributes.get("axes", ())) > KERNEL_DIMENSIONS.most:
                yield Unsupported(
                    node,
                    f"{label}: a kernel has more than {KERNEL_DIMENSIONS} dimensions, the most "
                    "that torch computes here. Leave out those of size 1, or join some.",
                )

    def _criteria(self) -> Iterator[Unsupported]:
        for number, criterion in enumerate(self.job.graph.criteria):
            wanted = COUNTS if number else CRITERIA
            if criterion.op not in wanted or criterion.inputs[0] is not self.facts.output:
                yield Unsupported(
                    criterion,
                    f"{criterion.name}: torch computes one loss of the output here and, beside it, "
                    f"{', '.join(COUNTS)}.",
                )
        rule = self.job.rule
        if rule is not None and rule.kind not in RULES:
            yield Unsupported(self.facts.output, f"torch has no update rule '{rule.kind}' here.")

    def needs(self, *, shares: bool = False, threads: int = 1) -> Counter[str]:
        """Return the host's bytes: parameters, the rule's state, values if they are there."""
        width, rule = WIDTHS[self.job.dtype], self.job.rule
        copies = 0 if shares else 1
        copies += 0 if rule is None else 3 + len(REMEMBERS[rule.kind])
        graph = self.job.graph
        found = stored_bytes(graph.parameters, graph.nodes, width * copies)
        if self.device == "cpu":
            layer = ""
            for node, size in bytes_of(self.facts, self.job.rows, width).items():
                layer = node.name or layer
                found[f"layer '{layer}'"] += size
        return found

    def planned(self) -> Planned:
        """Return the calls of a step; the device need not be present."""
        return describe_plan(self.facts, self.job, self.device, WIDTHS[self.job.dtype])

    def program(self, threads: int = 1, beside: Program | None = None) -> TorchProgram:
        """Make the program, with the numbers of ``beside``; ``threads`` multiply on a processor.

        Raises GraphError where ``beside`` is of another back end.
        """
        if beside is not None and not isinstance(beside, TorchProgram):
            raise GraphError("torch shares weights with a program of its own alone")
        device, dtype = torch.device(self.device), getattr(torch, self.job.dtype)
        given = None if beside is None else beside.numbers
        graph = self.job.graph
        numbers = given or TorchNumbers(graph.parameters, graph.nodes, device, dtype)
        return TorchProgram(self.job, self.facts, numbers, Setting(threads, self.halved))
