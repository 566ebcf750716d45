"""Facts of a graph for a plan, for both families of operations: order, learning, criteria.

Those of Net# have a criterion of the output; CNTK's compare two nodes, one of which is fed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.ops.tensors import HELD, SUMS
from netsharp_engine.phases import reaching
from netsharp_engine.program import Job

#: What CNTK's criteria are in the words of the templates, and whether with the softmax.
CRITERIA = {
    "CrossEntropyWithSoftmax": ("cross entropy", True),
    "SquareError": ("squared error", False),
}
#: What is reported beside the criterion: right answers, or wrong ones.
COUNTED = {"right answers": True, "ClassificationError": False}


class CriterionFacts(NamedTuple):
    """What is made smaller: a criterion by a template's name, of ``source``, whose error it gives.

    ``shown`` receives the values of an activation that is computed together with it, None: of one
    that is not a node.  ``label`` is the input that is compared with, None: the graph's target.
    ``counts`` say whether right or wrong answers are reported with it.
    """

    criterion: str
    fused: bool
    source: Node
    shown: Node | None
    label: Node | None
    counts: tuple[bool, ...]


class GraphFacts(Protocol):
    """The facts of either family; see ``Analysis``."""

    graph: Graph
    output: Node
    nodes: list[Node]
    uses: Counter[Node]
    users: dict[Node, list[Node]]
    learning: set[Node]


class TensorFacts:
    """The facts of a graph of CNTK's operations without sequences."""

    def __init__(self, graph: Graph, training: bool) -> None:
        self.graph = graph
        self.label: Node | None = None
        self.output = self._compared() if graph.criteria else _last(graph)
        wanted = reaching(self.output)
        self.nodes = [node for node in graph.nodes if node in wanted]
        self.uses = Counter(source for node in self.nodes for source in node.inputs)
        self.users: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for source in dict.fromkeys(node.inputs):
                self.users[source].append(node)
        self.learning: set[Node] = set()
        for node in self.nodes if training else ():
            trained = node.op in HELD and node.parameters[0].trained
            if trained or self.learning.intersection(node.inputs):
                self.learning.add(node)

    def _compared(self) -> Node:
        """Return the node that is compared with the label."""
        first, second = self.graph.criteria[0].inputs[:2]
        values, label = (second, first) if first.op == "input" else (first, second)
        if label.op == "input":
            self.label = label
        return values


def facts_of(job: Job) -> GraphFacts:
    """Return the facts of a job's graph; GraphError without an output or without weights."""
    graph = job.graph
    tensors = any(node.op in HELD for node in graph.nodes)
    if tensors or any(criterion.op in SUMS for criterion in graph.criteria):
        return TensorFacts(graph, job.rule is not None)
    return Analysis(graph, job.rule is not None)


def criterion_facts(facts: GraphFacts, criteria: Sequence[Node]) -> CriterionFacts | None:
    """Return the criterion and its source, None without one; unknown ones are skipped."""
    if not criteria:
        return None
    first, *others = criteria
    counts = tuple(COUNTED[each.op] for each in others)
    output = facts.output
    if isinstance(facts, Analysis):
        fused = first in facts.fused
        source = output.inputs[0] if fused else output
        return CriterionFacts(first.op, fused, source, output, None, counts)
    assert isinstance(facts, TensorFacts)
    criterion, fused = CRITERIA[first.op]
    return CriterionFacts(criterion, fused, output, None, facts.label, counts)


def _last(graph: Graph) -> Node:
    if graph.output is not None:
        return graph.output
    if not graph.nodes:
        raise GraphError("the graph has no output")
    return graph.nodes[-1]
