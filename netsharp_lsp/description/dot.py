"""A described network in the DOT language of Graphviz."""

from __future__ import annotations

from netsharp_lsp.description.svg import COLORS, UNKNOWN_COLOR
from netsharp_lsp.text.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHAPES = {"input": "ellipse", "hidden": "box", "output": "box"}


def render_dot(description: dict[str, Any]) -> str:
    """Return a digraph with a node for each layer and an edge for each bundle."""
    lines = ["digraph network {", '  node [fontname="sans-serif"];']
    names = {layer["name"] for layer in description["layers"]}
    lines += map(_node, description["layers"])
    lines += _clusters(description)
    for layer in description["layers"]:
        for bundle in layer["bundles"]:
            if bundle["source"] in names:
                color = COLORS.get(bundle["kind"], UNKNOWN_COLOR)
                lines.append(
                    f'  "{_escaped(bundle["source"])}" -> "{_escaped(layer["name"])}" '
                    f'[label="{_escaped(bundle["kind"] or "?")}", color="{color}"];'
                )
    return "\n".join([*lines, "}", ""])


def _node(layer: dict[str, Any]) -> str:
    shape = "auto" if layer["shape"] is None else str(layer["shape"])
    name = layer.get("label", layer["name"])
    parts = [name, " ".join(filter(None, (shape, layer["activation"])))]
    if layer["parameters"]:
        parts.append(f"{layer['parameters']:,} parameters")
    label = "\\n".join(_escaped(part) for part in parts)
    periphery = ", peripheries=2" if layer["kind"] == "output" else ""
    return (
        f'  "{_escaped(layer["name"])}" [label="{label}", shape={SHAPES[layer["kind"]]}'
        f"{periphery}];"
    )


def _clusters(description: dict[str, Any]) -> list[str]:
    """Return the open groups as nested clusters, each with the names of its nodes."""
    inside: dict[str, list[str]] = {"": []}
    for frame in description.get("frames", ()):
        inside[frame["key"]] = []
    for layer in description["layers"]:
        inside[layer.get("within", "")].append(f'"{_escaped(layer["name"])}";')
    # Frames inside another follow it in the list, so they are written before it.
    for number, frame in reversed(list(enumerate(description.get("frames", ())))):
        label = f'label="{_escaped(frame["label"])}";'
        lines = [f'subgraph "cluster_{number}" {{', label, *inside[frame["key"]]]
        cluster = "\n".join(lines).replace("\n", "\n  ")
        inside[frame["within"]].append(f"{cluster}\n}}")
    clusters = [line for line in inside[""] if line.startswith("subgraph")]
    return [f"  {line}".replace("\n", "\n  ") for line in clusters]


def _escaped(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')
