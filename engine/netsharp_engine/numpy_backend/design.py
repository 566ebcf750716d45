"""What a plan will be, decided without any array: order, layouts, who shares memory, and how much.

It asks the back end's table; buffers and calls are the business of ``build``.
"""

from __future__ import annotations

from collections import Counter

from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.limits import KERNEL_CELLS, KERNEL_DIMENSIONS
from netsharp_engine.numpy_backend.kernels import KERNELS
from netsharp_engine.numpy_backend.kernels.site import Draft
from netsharp_engine.numpy_backend.layouts import choose_layouts
from netsharp_engine.numpy_backend.losses import LOSSES

WIDTHS = {"float32": 4, "float64": 8}
INDEX_BYTES = 8
#: What a view of an array takes, and the more for each of its dimensions.
VIEW_BYTES = 200
VIEW_BYTES_PER_DIMENSION = 16
#: What calls and views of a node take, whatever its size.
NODE_BYTES = 4000


class Design:
    """The decisions of one compilation, for batches of up to ``batch`` samples.

    ``values`` and ``gradients`` tell on which node's array a node's own lie; a node whose gradient
    nobody needs is not among the latter.  GraphError where the graph cannot be planned.
    """

    def __init__(
        self,
        graph: Graph,
        batch: int = 32,
        loss: str | None = None,
        dtype: str = "float32",
        training: bool = True,
    ) -> None:
        if graph.output is None:
            raise GraphError("the graph has no output")
        if loss is not None and loss not in LOSSES:
            raise GraphError(f"there is no loss '{loss}'; known are {', '.join(LOSSES)}")
        self.graph, self.output, self.batch = graph, graph.output, batch
        self.loss, self.dtype = loss, dtype
        self.training = training and loss is not None
        self.nodes = _reached(graph, self.output)
        _check_kernels(self.nodes)
        self.uses = Counter(source for node in self.nodes for source in node.inputs)
        self.users = _users(self.nodes)
        self.layouts = choose_layouts(self.nodes, self.output, self.users)
        self.learning = self._learning()
        self.fused = self._fused()
        self.values = self._values()
        self.gradients = self._gradients() if self.training else {}

    def _learning(self) -> set[Node]:
        """Nodes whose gradient is needed: a parameter lies at or above them."""
        found: set[Node] = set()
        for node in self.nodes:
            if node.parameters or found.intersection(node.inputs):
                found.add(node)
        if self.training and self.output not in found:
            raise GraphError("the network has no weights to train")
        return found if self.training else set()

    def _fused(self) -> bool:
        if self.loss is None or self.output.op != "activation":
            return False
        return bool(self.output.attributes["function"] == LOSSES[self.loss].fuses)

    def _values(self) -> dict[Node, Node]:
        values: dict[Node, Node] = {}
        for node in self.nodes:
            values[node] = values[node.inputs[0]] if self._overwrites(node) else node
        return values

    def is_rows(self, node: Node) -> bool:
        """Whether the samples of an input may stay rows: a matrix product reads both ways."""
        return node.op == "input" and all(user.op == "full" for user in self.users[node])

    def _overwrites(self, node: Node) -> bool:
        """Whether an elementwise node may write over its first source's values."""
        if node.op == "input" or not KERNELS[node.op].in_place:
            return False
        source = node.inputs[0]
        if self.uses[source] > 1 or source.op == "input" or (self.fused and node is self.output):
            return False
        if node.op == "activation" and not KERNELS[node.op].keeps_output(node):
            return False
        return not (self.training and KERNELS[source.op].keeps_output(source))

    def _gradients(self) -> dict[Node, Node]:
        """A gradient for each learning node; elementwise ones pass theirs on in place."""
        gradients: dict[Node, Node] = {}
        for node in reversed(self.nodes):
            if node not in self.learning:
                continue
            mine = gradients.setdefault(node, node)
            if not KERNELS[node.op].in_place:
                continue
            alone = [s for s in node.inputs if self.uses[s] == 1 and s in self.learning]
            for source in alone:
                if len(node.inputs) == 1 or not KERNELS[source.op].in_place:
                    gradients[source] = mine
        return gradients

    def needs(self) -> Counter[str]:
        """The bytes that the plan will take, by what they are for: mostly a layer."""
        width, found = WIDTHS[self.dtype], Counter[str]()
        layers = self._layers()
        for node in self.nodes:
            found[f"layer '{layers[node]}'"] += self._node_bytes(node, width)
        uses = Counter(parameter for node in self.nodes for parameter in node.parameters)
        owners = {parameter: node for node in self.nodes for parameter in node.parameters}
        for parameter in self.graph.parameters:
            owner = owners.get(parameter)
            layer = parameter.name.partition("/")[0] if owner is None else layers[owner]
            copies = 1 + max(uses[parameter], 1) if self.training else 1
            orders = INDEX_BYTES if self._reorders(owner) else 0
            found[f"layer '{layer}'"] += parameter.size * (width * copies + orders)
        if self.loss is not None:
            found[f"layer '{layers[self.output]}'"] += self._loss_bytes(width)
        return found

    def _reorders(self, owner: Node | None) -> bool:
        if owner is None:
            return False
        return KERNELS[owner.op].reorders(owner, self.layouts[owner.inputs[0]], self.layouts[owner])

    def _layers(self) -> dict[Node, str]:
        """The layer of each node: the next name on the way to the output."""
        layers: dict[Node, str] = {}
        for node in reversed(self.nodes):
            users = self.users[node]
            layers[node] = node.name or (layers[users[0]] if users else "")
        return layers

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


def _reached(graph: Graph, output: Node) -> list[Node]:
    """The nodes that the output depends on, in topological order."""
    wanted = {output}
    for node in reversed(graph.nodes):
        if node in wanted:
            wanted.update(node.inputs)
    return [node for node in graph.nodes if node in wanted]


def _users(nodes: list[Node]) -> dict[Node, list[Node]]:
    """The nodes that read each one, each once, in order."""
    users: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for source in dict.fromkeys(node.inputs):
            users[source].append(node)
    return users


def _check_kernels(nodes: list[Node]) -> None:
    """Refuse what would take numpy more dimensions or calls than it has or anybody waits for."""
    for node in nodes:
        axes = node.attributes.get("axes", ())
        source = node.inputs[0].name if node.inputs else ""
        if len(axes) > KERNEL_DIMENSIONS.most:
            raise GraphError(
                f"A kernel over '{source}' has {len(axes):,} dimensions; at most "
                f"{KERNEL_DIMENSIONS} can be computed. Leave out those of size 1, or join some."
            )
        cells = KERNELS[node.op].cells(node) if node.op != "input" else 0
        if cells > KERNEL_CELLS.most:
            raise GraphError(
                f"A kernel over '{source}' has {cells:,} cells; at most {KERNEL_CELLS} can be "
                "computed. Make it smaller, or go there in two steps."
            )
