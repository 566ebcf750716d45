"""Rules on the shapes of an evaluated network, whichever builder made it: shapes that do not match,
and where they come from.
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
    "elementwise": ("BS050", "Element-wise, each dimension has to be equal, or 1 in one of them."),
    "products": (
        "BS051",
        "The columns of the first factor have to be the rows of the second.",
    ),
    "images": ("BS052", ""),
    "criteria": ("BS053", "A criterion compares element by element."),
    "sequences": ("BS054", ""),
    "reshaping": ("BS055", ""),
    "size": ("BS056", "Give it a number, or use it where its size can be inferred."),
    "dynamic-axis": ("BS057", "An axis is a node of its own: 'axis = DynamicAxis ()'."),
    "axis": (
        "BS061",
        "Inputs have a dynamic axis; parameters, constants and nodes computed from them alone"
        " do not.",
    ),
    "leaves": ("BS056", ""),
    "file": ("BS079", ""),
}
for _code in sorted({code for code, _ in KINDS.values()} - {"BS050"}):
    emitted(_code, "error", language="brainscript")
#: Families whose reason is about shapes that differ.
COMPARING = frozenset(("elementwise", "products", "criteria"))
#: At most this many nodes are followed to the origin of a shape.
FARTHEST = 60
#: At most this many inputs have a note.
SHOWN = 4


@rule("BS050", "error", on=NETWORK, language="brainscript")
def troubles(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Report each mismatch in a network under the code of its cause."""
    if built.network is None:
        return
    seen: set[tuple[str, Place]] = set()
    for trouble in built.network.troubles:
        code, why = KINDS[trouble.kind]
        key = (code, Place(*trouble.node.where))
        if key in seen:
            continue
        seen.add(key)
        if trouble.kind in COMPARING and not _compares(trouble):
            why = ""
        message = f"'{trouble.node.name}': {trouble.message} {why}".rstrip()
        yield Finding(code, Place(*trouble.node.where), message, list(_ways(trouble.node)))


def _compares(trouble: Trouble) -> bool:
    """Return whether the fault is about differing shapes, as the reason of the family explains."""
    if trouble.kind == "products" and trouble.node.operation != "Times":
        return False
    return trouble.differ


def _ways(node: Node) -> Iterator[Note]:
    """Yield a note on the origin of each input's shape."""
    seen: set[Place] = {Place(*node.where)}
    for one in list(dict.fromkeys(node.inputs))[:SHOWN]:
        source = origin(one)
        place = Place(*source.where)
        if place.source and place not in seen and not place.source.startswith("library:"):
            seen.add(place)
            yield Note(_origin(one, source), place)


def _origin(one: Node, source: Node) -> str:
    shape = f"[{written(source.shape)}]"
    what = {PARAMETER: "is declared"}.get(source.operation, f"comes from {source.operation}")
    if source.operation in INPUTS:
        what = "is an input"
    if source is one:
        return f"'{one.name}' is {shape}: it {what} here."
    through = f"'{source.name}', which {what} here"
    return f"'{one.name}' is [{written(one.shape)}] because of {through}."


def origin(node: Node) -> Node:
    """Return the node that a shape comes from, past all nodes that keep the shape of an input."""
    for _ in range(FARTHEST):
        if not node.inputs or family(node.operation) not in ("elementwise", "sequences"):
            return node
        same = [one for one in node.inputs if one.shape == node.shape]
        if not same:
            return node
        node = same[0]
    return node
