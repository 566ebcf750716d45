"""What a plan will be, decided without any array: order, layouts, who shares memory, and how much.

It asks the table of kernels; buffers and calls are the business of ``build``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import Node
from netsharp_engine.limits import KERNEL_CELLS, KERNEL_DIMENSIONS
from netsharp_engine.numpy_backend.kernels import KERNELS
from netsharp_engine.numpy_backend.kernels.site import Draft
from netsharp_engine.numpy_backend.layouts import choose_layouts
from netsharp_engine.numpy_backend.losses import COUNTS, LOSSES
from netsharp_engine.program import Unsupported

WIDTHS = {"float32": 4, "float64": 8}
INDEX_BYTES = 8
#: What a view of an array takes, and the more for each of its dimensions.
VIEW_BYTES = 200
VIEW_BYTES_PER_DIMENSION = 16
#: What calls and views of a node take, whatever its size.
NODE_BYTES = 4000


class Design:
    """The decisions of one compilation, for batches of up to ``batch`` samples.

    ``values`` and ``gradients`` map a node to the one whose array has its own; the latter only
    nodes whose gradient is needed.  ``fused``: loss and output are computed together.
    """

    def __init__(self, analysis: Analysis, batch: int, dtype: str = "float32") -> None:
        self.graph, self.output = analysis.graph, analysis.output
        self.batch, self.dtype = batch, dtype
        self.facts, self.nodes, self.training = analysis, analysis.nodes, analysis.training
        self.loss = next(iter(self.graph.criteria), None)
        self.uses, self.users = analysis.uses, analysis.users
        self.layouts = choose_layouts(self.nodes, self.output, self.users)
        self.fused = self.loss in analysis.fused
        self.values = self._values()
        self.gradients = self._gradients() if self.training else {}

    def _values(self) -> dict[Node, Node]:
        values: dict[Node, Node] = {}
        for node in self.nodes:
            values[node] = values[node.inputs[0]] if self._overwrites(node) else node
        return values

    def is_rows(self, node: Node) -> bool:
        """Return whether an input's samples may stay rows: a matrix product reads both ways."""
        return node.op == "input" and all(user.op == "full" for user in self.users[node])

    def _overwrites(self, node: Node) -> bool:
        """Return whether an elementwise node may write over its first source's values."""
        if node.op == "input" or not KERNELS[node.op].in_place:
            return False
        source = node.inputs[0]
        if not self.facts.ends(source, node) or source.op == "input":
            return False
        if self.fused and node is self.output:
            return False
        if KERNELS[node.op].passes(node):
            return True
        if KERNELS[node.op].keeps_source(node):
            return False
        return not (self.training and KERNELS[source.op].keeps_output(source))

    def _gradients(self) -> dict[Node, Node]:
        """Return a gradient for each learning node; elementwise ones pass theirs on in place."""
        gradients: dict[Node, Node] = {}
        for node in reversed(self.nodes):
            if node not in self.facts.learning:
                continue
            mine = gradients.setdefault(node, node)
            if not KERNELS[node.op].in_place:
                continue
            alone = [s for s in node.inputs if self.uses[s] == 1 and s in self.facts.learning]
            for source in alone:
                if len(node.inputs) == 1 or not KERNELS[source.op].in_place:
                    gradients[source] = mine
        return gradients

    def needs(self, *, shares: bool = False) -> Counter[str]:
        """Return the bytes that the plan will take, by what they are for: mostly a layer.

        ``shares``: the weights are another plan's.
        """
        width, found = WIDTHS[self.dtype], Counter[str]()
        layers = self.facts.layers()
        for node in self.nodes:
            found[f"layer '{layers[node]}'"] += self._node_bytes(node, width)
        uses = Counter(parameter for node in self.nodes for parameter in node.parameters)
        owners = {parameter: node for node in self.nodes for parameter in node.parameters}
        for parameter in self.graph.parameters:
            owner = owners.get(parameter)
            layer = parameter.name.partition("/")[0] if owner is None else layers[owner]
            copies = (not shares) + (max(uses[parameter], 1) if self.training else 0)
            orders = INDEX_BYTES if self._reorders(owner) else 0
            found[f"layer '{layer}'"] += parameter.size * (width * copies + orders)
        if self.loss is not None:
            found[f"layer '{layers[self.output]}'"] += self._loss_bytes(width)
        return found

    def _reorders(self, owner: Node | None) -> bool:
        if owner is None:
            return False
        return KERNELS[owner.op].reorders(owner, self.layouts[owner.inputs[0]], self.layouts[owner])

    def _node_bytes(self, node: Node, width: int) -> int:
        numbers = node.size * self.batch
        count = numbers if self.values[node] is node else 0
        count += numbers if self.gradients.get(node) is node else 0
        if node in self.gradients:
            count += numbers * (max(self.uses[node], 1) - 1)
        needed = count * width + NODE_BYTES
        if node.op == "input":
            return needed
        kernel, source = KERNELS[node.op], node.inputs[0]
        draft = Draft(
            node,
            self.layouts[source],
            self.layouts[node],
            self.batch,
            node in self.gradients,
            source in self.gradients,
            width,
        )
        rank = len(node.attributes.get("axes", ()))
        views = kernel.cells(node) * kernel.views[draft.learns]
        needed += views * (VIEW_BYTES + VIEW_BYTES_PER_DIMENSION * rank)
        return needed + kernel.bytes(draft)

    def _loss_bytes(self, width: int) -> int:
        outputs = self.output.size
        count = outputs * self.batch * (2 if self.fused else 3) + 3 * self.batch
        return count * width + (outputs + self.batch) * INDEX_BYTES


def unsupported(analysis: Analysis) -> Iterator[Unsupported]:
    """Yield the nodes outside the tables, and those beyond numpy's dimensions or calls."""
    for node in analysis.nodes:
        if node.op == "input":
            continue
        # Dropout without a layer takes its masks from generators that numpy's programs have not.
        if node.op not in KERNELS or (node.op == "Dropout" and "layer" not in node.attributes):
            yield Unsupported(node, f"{node.name or node.op}: numpy does not compute '{node.op}'.")
            continue
        axes = node.attributes.get("axes", ())
        source = node.inputs[0].name
        if len(axes) > KERNEL_DIMENSIONS.most:
            yield Unsupported(
                node,
                f"A kernel over '{source}' has {len(axes):,} dimensions; at most "
                f"{KERNEL_DIMENSIONS} can be computed. Leave out those of size 1, or join some.",
            )
            continue
        cells = KERNELS[node.op].cells(node)
        if cells > KERNEL_CELLS.most:
            yield Unsupported(
                node,
                f"A kernel over '{source}' has {cells:,} cells; at most {KERNEL_CELLS} can be "
                "computed. Make it smaller, or go there in two steps.",
            )
    for number, criterion in enumerate(analysis.graph.criteria):
        wanted = COUNTS if number else LOSSES
        if criterion.op not in wanted or criterion.inputs[0] is not analysis.output:
            yield Unsupported(
                criterion,
                f"{criterion.name}: numpy computes one loss of the output and, beside it, "
                f"{', '.join(COUNTS)}.",
            )
