"""A network of nodes as the rows of tables; knows no language."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Description = dict[str, Any]
    Row = tuple[str, ...]

HEAD = (
    "node",
    "operation",
    "inputs",
    "shape",
    "axis",
    "groups",
    "parameters",
    "multiply-adds",
)
#: The columns of figures, set to the right.
FIGURES = (6, 7)


def node_rows(description: Description) -> list[Row]:
    """Return a row for each node, or those that are `folded`; a question mark if unknown."""
    key = "folded" if "folded" in description else "nodes"
    return [
        (
            node["name"],
            node["operation"],
            ", ".join(node["inputs"]),
            "?" if node["shape"] is None else " x ".join(map(str, node["shape"])),
            node["axis"] or "",
            ", ".join(node["groups"]),
            _parameters(node),
            _figure(node["multiply_adds"]),
        )
        for node in description[key]
    ]


def loop_lines(description: Description) -> list[str]:
    """Return a line for each loop."""
    return [
        f"loop {number}: {', '.join(names)}" for number, names in enumerate(description["loops"], 1)
    ]


def _parameters(node: Description) -> str:
    if node["parameters"] == 0:
        return ""
    return _figure(node["parameters"]) + ("" if node["trainable"] else " fixed")


def _figure(count: int | None) -> str:
    if count == 0:
        return ""
    return "?" if count is None else f"{count:,}"
