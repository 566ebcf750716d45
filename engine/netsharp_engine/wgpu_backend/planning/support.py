"""What a device cannot compute of a graph, each with a sentence: nothing is computed elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from netsharp_engine.graph import Node
from netsharp_engine.program import Unsupported, UpdateRule
from netsharp_engine.wgpu_backend.planning.describing import TABLE
from netsharp_engine.wgpu_backend.planning.facts import COUNTED, CRITERIA, GraphFacts, TensorFacts
from netsharp_engine.wgpu_backend.planning.tensors import refusals
from netsharp_engine.wgpu_backend.templates.elementwise import FUNCTIONS
from netsharp_engine.wgpu_backend.templates.losses import PLAIN
from netsharp_engine.wgpu_backend.templates.updates import LEFT_OUT, RULES, options_of


def unsupported(facts: GraphFacts, rule: UpdateRule | None) -> Iterator[Unsupported]:
    """Yield nodes without a row in the table, criteria without kernels, rules without formulas."""
    for node in facts.nodes:
        if node.op == "input":
            if "axis" in node.attributes:
                yield Unsupported(node, _refused(node, "sequences"))
            continue
        if node.op not in TABLE or (node.op == "Dropout" and "layer" not in node.attributes):
            yield Unsupported(node, _refused(node, f"'{node.op}'"))
            continue
        function = (
            node.attributes.get("function", "linear") if node.op == "activation" else "linear"
        )
        if function not in (*FUNCTIONS, "linear", "softmax"):
            yield Unsupported(node, _refused(node, f"the activation '{function}'"))
        for reason in refusals(node):
            yield Unsupported(node, _refused(node, reason))
    yield from _criteria(facts)
    if rule is not None and rule.kind not in RULES:
        yield Unsupported(facts.output, _refused(facts.output, f"the update rule '{rule.kind}'"))
    for word in sorted(LEFT_OUT & options_of(rule)) if rule is not None else ():
        yield Unsupported(facts.output, _refused(facts.output, word))


def _criteria(facts: GraphFacts) -> Iterator[Unsupported]:
    tensors = isinstance(facts, TensorFacts)
    for number, criterion in enumerate(facts.graph.criteria):
        known = COUNTED if number else CRITERIA if tensors else PLAIN
        compared = criterion.inputs[:2]
        odd = len(criterion.inputs) > 2 or facts.output not in compared
        if isinstance(facts, TensorFacts):
            odd = odd or facts.label not in compared
        if criterion.op not in known or odd:
            yield Unsupported(criterion, _refused(criterion, f"the criterion '{criterion.op}'"))


def _refused(node: Node, what: str) -> str:
    return (
        f"{node.name or node.op}: a graphics device does not compute {what}. Train on the "
        "processor: --device cpu."
    )
