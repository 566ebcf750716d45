"""What a device cannot compute of a graph, each with a sentence: nothing is computed elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import Node
from netsharp_engine.program import Unsupported, UpdateRule
from netsharp_engine.wgpu_backend.planning.operations import OPERATIONS
from netsharp_engine.wgpu_backend.templates.losses import PLAIN
from netsharp_engine.wgpu_backend.templates.updates import RULES

#: Criteria that are told beside the one that is made smaller.
COUNTED = ("right answers",)


def unsupported(facts: Analysis, rule: UpdateRule | None) -> Iterator[Unsupported]:
    """The nodes without a row in the table, criteria without kernels, rules without formulas."""
    for node in facts.nodes:
        if node.op == "input":
            continue
        if node.op not in OPERATIONS or (node.op == "Dropout" and "layer" not in node.attributes):
            yield Unsupported(node, _refused(node, f"'{node.op}'"))
    for number, criterion in enumerate(facts.graph.criteria):
        known = COUNTED if number else PLAIN
        if criterion.op not in known or criterion.inputs[0] is not facts.output:
            yield Unsupported(criterion, _refused(criterion, f"the criterion '{criterion.op}'"))
    if rule is not None and rule.kind not in RULES:
        yield Unsupported(facts.output, _refused(facts.output, f"the update rule '{rule.kind}'"))


def _refused(node: Node, what: str) -> str:
    return (
        f"{node.name or node.op}: a graphics device does not compute {what}. Train on the "
        "processor: --device cpu."
    )
