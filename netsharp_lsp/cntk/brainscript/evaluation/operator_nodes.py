"""The nodes that operators build, and the constants that numbers next to nodes become.

The node type of each operator is in `operators`.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.evaluation import operators
from netsharp_lsp.cntk.brainscript.evaluation.calls import call_of_operator
from netsharp_lsp.cntk.brainscript.evaluation.values import a_kind
from netsharp_lsp.cntk.networks.node import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Evaluator
    from netsharp_lsp.cntk.brainscript.evaluation.values import Site, Value


def on_nodes(run: Evaluator, sign: str, operands: list[Value], under: tuple[str, Site]) -> Value:
    """Return the node that an operator builds."""
    try:
        built = operators.on_nodes(sign, operands)
    except operators.Inapplicable as reason:
        kinds = " and ".join(a_kind(one) for one in operands)
        message = str(reason) or f"'{sign}' cannot be applied to {kinds}."
        run.fail("node-operator", message, under[1].place)
    if isinstance(built, tuple) and isinstance(built[0], str) and isinstance(built[1], list):
        return run_node(run, built[0], built[1], under)
    return operands[0]


def run_node(
    run: Evaluator, operation: str, operands: list[Value], under: tuple[str, Site]
) -> Node:
    """Return the node of an operator; numbers and booleans become constants."""
    inputs = tuple(one if isinstance(one, Node) else constant(run, one, under) for one in operands)
    node = Node(operation, run.next_number(), under[0])
    node.inputs = inputs
    node.where = run.origin(under[1])
    node.call = call_of_operator(under[1], run.library)
    if operation == "Times":
        node.attributes = {"outputRank": 1, "inferInputRankToMap": -1}
    return node


def constant(run: Evaluator, value: Value, under: tuple[str, Site]) -> Node:
    """Return a number or a boolean as a parameter of one element that is not trained."""
    node = Node("LearnableParameter", run.next_number(), under[0])
    node.shape = (1,)
    node.where = run.origin(under[1])
    node.attributes = {
        "shape": (1,),
        "init": "fromValue",
        "initValue": float(value) if isinstance(value, float | bool) else 0.0,
        "learningRateMultiplier": 0.0,
    }
    return node
