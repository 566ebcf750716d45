"""Groups of boxes by the calls that they come from, open or closed; knows no language.

A closed group is a box like others, an open one a frame around its boxes. The key of a group is its
label and those of the groups around it, so that it is found again after an edit.
"""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Description = dict[str, Any]

#: The most boxes that are drawn where no depth is given, if folding can achieve that.
MOST_BOXES = 24
#: A call with all of the boxes except at most one in this many divides nothing.
NEARLY_ALL = 5
#: After each label in a key; no name of a node ends so.
MARK = "/"


class BoxGroup:
    """The boxes of one call: its own, and those of the groups in it."""

    __slots__ = ("boxes", "call", "depth", "key", "label", "parent")

    def __init__(self, call: int, calls: list[Description], parent: BoxGroup | None) -> None:
        function, variable = calls[call]["function"], calls[call]["variable"]
        self.call = call
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.label = f"{variable}: {function}" if variable and function else variable or function
        self.key = ""
        self.boxes: list[Description] = []


def folded(
    description: Description, depth: int | None = None, changed: Mapping[str, bool] | None = None
) -> Description:
    """Fold the boxes of `layers`; `depth` levels of groups are open, except those for which
    `changed` says otherwise by their keys. The frames are listed from the outside in.
    """
    layers = description["layers"]
    calls = description.get("calls", ())
    if not calls:
        return description
    tree = _Tree(layers, description["nodes"], calls)
    opened = tree.opened(depth, changed or {})
    places = {name: tree.closed_around(group, opened) for name, group in tree.homes.items()}
    stand = {name: name if group is None else group.key for name, group in places.items()}
    made: dict[str, Description] = {}
    for layer in layers:
        name = layer["name"]
        closed = places[name]
        if closed is None:
            made[name] = {
                **layer,
                "label": tree.labels[name],
                "within": _key(tree.homes[name]),
                "bundles": [
                    {**one, "source": stand.get(one["source"], one["source"])}
                    for one in layer["bundles"]
                ],
            }
        elif closed.key not in made:
            made[closed.key] = _closed(closed, tree, stand)
    frames = [
        {
            "key": group.key,
            "label": group.label,
            "within": _key(group.parent),
            "boxes": len(group.boxes),
            "call": group.call,
        }
        for group in tree.groups
        if group in opened and tree.closed_around(group.parent, opened) is None
    ]
    return {**description, "layers": list(made.values()), "frames": frames}


def folded_rows(description: Description, depth: int) -> list[Description]:
    """Return the nodes of a table with `depth` levels of groups open: a closed group is one row, at
    the place of its first node. A parameter is counted in the group that uses it.
    """
    layers, nodes = description["layers"], description["nodes"]
    tree = _Tree(layers, nodes, description.get("calls", ()))
    opened = tree.opened(depth, {})
    closed = {name: tree.closed_around(group, opened) for name, group in tree.homes.items()}
    users: dict[str, list[BoxGroup | None]] = {}
    for node in nodes:
        for name in node["inputs"]:
            users.setdefault(name, []).append(closed.get(node["name"]))
    for node in nodes:
        if node["name"] not in closed:
            around = users.get(node["name"], [None])
            closed[node["name"]] = around[0] if len(set(around)) == 1 else None
    rows: dict[object, Description] = {}
    for node in nodes:
        group = closed[node["name"]]
        if group is None:
            rows[node["name"]] = {**node, "inputs": _rows_of(node["inputs"], closed)}
        else:
            inside = rows.setdefault(group, _row(group, node))
            _joined(inside, node, group, closed)
    return list(rows.values())


def _row(group: BoxGroup, first: Description) -> Description:
    """Return the row of a closed group before any node is added."""
    name = group.key.removesuffix(MARK)
    found = {**first, "name": name, "inputs": [], "groups": [], "trainable": True}
    return {**found, "parameters": 0, "multiply_adds": 0, "inside": 0}


def _joined(
    row: Description, node: Description, group: BoxGroup, closed: Mapping[str, BoxGroup | None]
) -> None:
    """Add a node to the row of its group: counts are summed, and the last box gives the output."""
    row["inside"] += 1
    row["operation"] = f"{row['inside']} nodes"
    outer = [name for name in node["inputs"] if closed.get(name) is not group]
    row["inputs"] = list(dict.fromkeys([*row["inputs"], *_rows_of(outer, closed)]))
    row["groups"] = list(dict.fromkeys([*row["groups"], *node["groups"]]))
    learnt = node["parameters"] if node["trainable"] else 0
    for key, count in (("parameters", learnt), ("multiply_adds", node["multiply_adds"])):
        row[key] = None if row[key] is None or count is None else row[key] + count
    if node["name"] == group.boxes[-1]["name"]:
        row["shape"], row["axis"] = node["shape"], node["axis"]


def _rows_of(names: list[str], closed: Mapping[str, BoxGroup | None]) -> list[str]:
    """Return the rows of a table that represent nodes, each once where it is a group."""
    found = []
    for name in names:
        group = closed.get(name)
        shown = name if group is None else group.key.removesuffix(MARK)
        if group is None or shown not in found:
            found.append(shown)
    return found


class _Tree:
    """The groups of a network, each after the one around it."""

    def __init__(
        self, layers: list[Description], nodes: list[Description], calls: list[Description]
    ) -> None:
        self.order = _order(layers)
        chains = {node["name"]: _chain(node["call"], calls) for node in nodes}
        names = [layer["name"] for layer in layers]
        sizes = Counter(call for name in names for call in chains[name])
        inner = sum(layer["kind"] != "input" for layer in layers)
        self.groups: list[BoxGroup] = []
        #: The innermost group of each box, and what each box is called.
        self.homes: dict[str, BoxGroup | None] = {}
        self.labels: dict[str, str] = {}
        known: dict[int, BoxGroup] = {}
        for layer in sorted(layers, key=lambda layer: self.order[layer["name"]]):
            name = layer["name"]
            group: BoxGroup | None = None
            around = 0
            for call in chains[name]:
                size = sizes[call]
                if size > 1 and size != around and size * NEARLY_ALL < inner * (NEARLY_ALL - 1):
                    if call not in known:
                        known[call] = BoxGroup(call, calls, group)
                        self.groups.append(known[call])
                    group = known[call]
                    around = size
            self.homes[name] = group
            alone = [calls[call] for call in chains[name] if sizes[call] == 1]
            self.labels[name] = _label(layer, alone)
            while group is not None:
                group.boxes.append(layer)
                group = group.parent
        self._name()

    def _name(self) -> None:
        """Assign numbers to the groups of one label in one group, and to each its key."""
        several = Counter((group.parent, group.label) for group in self.groups)
        met: Counter[tuple[BoxGroup | None, str]] = Counter()
        for group in self.groups:
            same = group.parent, group.label
            if several[same] > 1:
                met[same] += 1
                group.label = f"{group.label} {met[same]}"
            group.key = f"{_key(group.parent)}{group.label}{MARK}"

    def opened(self, depth: int | None, changed: Mapping[str, bool]) -> set[BoxGroup]:
        """Return the groups that are open."""
        if depth is None:
            depth = self._readable()
        return {one for one in self.groups if changed.get(one.key, one.depth < depth)}

    def _readable(self) -> int:
        """Return the most levels that can be open with no more boxes than can be read."""
        deepest = 1 + max((group.depth for group in self.groups), default=-1)
        drawn: Counter[int] = Counter()
        for home in self.homes.values():
            drawn[0 if home is None else home.depth + 1] += 1
        for depth in range(deepest, 0, -1):
            boxes = sum(count for level, count in drawn.items() if level <= depth)
            closed = sum(group.depth == depth for group in self.groups)
            if boxes + closed <= MOST_BOXES:
                return depth
        return 0

    def closed_around(self, group: BoxGroup | None, opened: set[BoxGroup]) -> BoxGroup | None:
        """Return the outermost closed group of a group and those around it."""
        closed = None
        while group is not None:
            if group not in opened:
                closed = group
            group = group.parent
        return closed


def _closed(group: BoxGroup, tree: _Tree, stand: dict[str, str]) -> Description:
    """Return a closed group as a box."""
    inside = {layer["name"] for layer in group.boxes}
    bundles: dict[str, Description] = {}
    for bundle in (one for layer in group.boxes for one in layer["bundles"]):
        source = bundle["source"]
        if source in inside:
            continue
        source = stand.get(source, source)
        first = bundles.setdefault(source, {**bundle, "source": source, "multiply_adds": 0})
        first["delayed"] = first["delayed"] and bundle["delayed"]
        if first["kind"] != bundle["kind"]:
            first["kind"] = "value"
    costs = [one["multiply_adds"] for layer in group.boxes for one in layer["bundles"]]
    for first in list(bundles.values())[:1]:
        first["multiply_adds"] = None if None in costs else sum(costs)
    counts = [layer["parameters"] for layer in group.boxes]
    last = group.boxes[-1]
    kinds = {layer["kind"] for layer in group.boxes}
    return {
        "name": group.key,
        "kind": "output" if "output" in kinds else "input" if kinds == {"input"} else "hidden",
        "shape": last["shape"],
        "nodes": last["nodes"],
        "activation": f"{len(group.boxes)} nodes inside",
        "parameters": None if None in counts else sum(counts),
        "shared_with": None,
        "bundles": list(bundles.values()),
        "label": group.label,
        "within": _key(group.parent),
        "group": {"key": group.key, "boxes": len(group.boxes), "call": group.call},
    }


def _label(layer: Description, alone: list[Description]) -> str:
    """Return the label of a box: its name, else that of the calls of which it is all, else its
    operation.
    """
    if "." not in layer["name"]:
        return str(layer["name"])
    names = [call["variable"] for call in alone] + [call["function"] for call in alone]
    return str(next(filter(None, names), layer["activation"]))


def _key(group: BoxGroup | None) -> str:
    return "" if group is None else group.key


def _chain(call: int | None, calls: list[Description]) -> list[int]:
    """Return a call and those around it, outermost first."""
    found = []
    while call is not None:
        found.append(call)
        call = calls[call]["parent"]
    return found[::-1]


def _order(layers: list[Description]) -> dict[str, int]:
    """Return the place of each box in an order with sources first, except those of other steps."""
    sources = {
        layer["name"]: [one["source"] for one in layer["bundles"] if not one["delayed"]]
        for layer in layers
    }
    order: dict[str, int] = {}
    for start in sources:
        stack = [(start, _sources(start, sources))]
        entered = {start}
        while stack:
            name, waiting = stack[-1]
            following = next((it for it in waiting if it not in order and it not in entered), None)
            if following is not None:
                entered.add(following)
                stack.append((following, _sources(following, sources)))
                continue
            order.setdefault(name, len(order))
            stack.pop()
    return order


def _sources(name: str, sources: dict[str, list[str]]) -> Iterator[str]:
    return (one for one in sources[name] if one in sources)
