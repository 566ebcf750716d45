"""Rules on the shapes of an evaluated network, whoever built it: what does not fit, and how the
shapes came about.
"""

from __future__ import annotations

from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.cntk.networks.node import PARAMETER, written
from netsharp_lsp.cntk.networks.node_types import INPUTS, family
from netsharp_lsp.cntk.rules import NETWORK, emitted, rule
from netsharp_lsp.cntk.rules.findings import Finding, Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.networks.node import Node, Trouble
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment

#: The code of each kind of trouble, and why shapes have to fit there.
KINDS = {
    "elementwise": ("BS050", "Element by element, each dimension has to be equal, or 1 in one."),
    "products": (
        "BS051",
        "The columns of the first factor have to be the rows of the second.",
    ),
    "images": ("BS052", ""),
    "criteria": ("BS053", "A criterion compares element by element."),
    "sequences": ("BS054", ""),
    "reshaping": ("BS055", ""),
    "size": ("BS056", "Give it a number, or use it where its size follows from others."),
    "dynamic-axis": ("BS057", "An axis is a node of its own: 'axis = DynamicAxis ()'."),
    "axis": (
        "BS061",
        "Inputs run along a dynamic axis; parameters, constants and what is computed of them alone"
        " do not.",
    ),
    "leaves": ("BS056", ""),
    "file": ("BS079", ""),
}
for _code in sorted({code for code, _ in KINDS.values()} - {"BS050"}):
    emitted(_code, "error", language="brainscript")
#: Families whose reason is that of shapes that differ.
COMPARING = frozenset(("elementwise", "products", "criteria"))
#: Nodes that are followed on the way to where a shape comes from.
FARTHEST = 60
#: Inputs of which it is told.
SHOWN = 4


@rule("BS050", "error", on=NETWORK, language="brainscript")
def troubles(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Everything in a network that does not fit, each under the code of its cause."""
    if built.network is None:
        return
    told: set[tuple[str, Place]] = set()
    for trouble in built.network.troubles:
        code, why = KINDS[trouble.kind]
        key = (code, Place(*trouble.node.where))
        if key in told:
            continue
        told.add(key)
        if trouble.kind in COMPARING and not _compares(trouble):
            why = ""
        message = f"'{trouble.node.name}': {trouble.message} {why}".rstrip()
        yield Finding(code, Place(*trouble.node.where), message, list(_ways(trouble.node)))


def _compares(trouble: Trouble) -> bool:
    """Whether it is shapes that do not fit, as the reason of the family says it."""
    if trouble.kind == "products" and trouble.node.operation != "Times":
        return False
    return trouble.differ


def _ways(node: Node) -> Iterator[Note]:
    """Where the shape of each input comes from."""
    told: set[Place] = {Place(*node.where)}
    for one in list(dict.fromkeys(node.inputs))[:SHOWN]:
        source = origin(one)
        place = Place(*source.where)
        if place.source and place not in told and not place.source.startswith("library:"):
            told.add(place)
            yield Note(_said(one, source), place)


def _said(one: Node, source: Node) -> str:
    shape = f"[{written(source.shape)}]"
    what = {PARAMETER: "is declared"}.get(source.operation, f"comes from {source.operation}")
    if source.operation in INPUTS:
        what = "is an input"
    if source is one:
        return f"'{one.name}' is {shape}: it {what} here."
    through = f"'{source.name}', which {what} here"
    return f"'{one.name}' is [{written(one.shape)}] because of {through}."


def origin(node: Node) -> Node:
    """The node that gives another its shape: through all that keep the shape of an input."""
    for _ in range(FARTHEST):
        if not node.inputs or family(node.operation) not in ("elementwise", "sequences"):
            return node
        same = [one for one in node.inputs if one.shape == node.shape]
        if not same:
            return node
        node = same[0]
    return node
