"""A described network in the DOT language of Graphviz."""

from __future__ import annotations

from netsharp_lsp.description.svg import COLORS, UNKNOWN_COLOR
from netsharp_lsp.text.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHAPES = {"input": "ellipse", "hidden": "box", "output": "box"}


def render_dot(description: dict[str, Any]) -> str:
    """A digraph with a node for each layer and an edge for each bundle."""
    lines = ["digraph network {", '  node [fontname="sans-serif"];']
    names = {layer["name"] for layer in description["layers"]}
    for layer in description["layers"]:
        shape = "auto" if layer["shape"] is None else str(layer["shape"])
        parts = [layer["name"], " ".join(filter(None, (shape, layer["activation"])))]
        if layer["parameters"]:
            parts.append(f"{layer['parameters']:,} parameters")
        label = "\\n".join(_escaped(part) for part in parts)
        periphery = ", peripheries=2" if layer["kind"] == "output" else ""
        lines.append(
            f'  "{_escaped(layer["name"])}" [label="{label}", shape={SHAPES[layer["kind"]]}'
            f"{periphery}];"
        )
    for layer in description["layers"]:
        for bundle in layer["bundles"]:
            if bundle["source"] in names:
                color = COLORS.get(bundle["kind"], UNKNOWN_COLOR)
                lines.append(
                    f'  "{_escaped(bundle["source"])}" -> "{_escaped(layer["name"])}" '
                    f'[label="{_escaped(bundle["kind"] or "?")}", color="{color}"];'
                )
    return "\n".join([*lines, "}", ""])


def _escaped(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')
