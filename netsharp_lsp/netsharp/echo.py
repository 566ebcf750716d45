"""A network as the hosts print it before they train: each layer with its size and its depth.

Knows no log around it; the hosts' lines are in the reference of MicrosoftML.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

_COMMENT = re.compile(rb"//[^\r\n]*|/\*.*?\*/", re.DOTALL)


def echoed(network: Network) -> list[str]:
    """Return the lines of a network without errors; unknown sizes are `auto`."""
    depths = _depths(network)
    lines = []
    for layer in network.layers.values():
        size = "auto" if layer.shape is None else f"[{', '.join(map(str, layer.shape))}]"
        head = f"  {layer.kind} {layer.name} {size}"
        if layer.kind == "input":
            lines.append(f"{head};")
            continue
        lines.append(f"{head} {layer.activation} {{ // Depth {depths[layer]}")
        lines += [f"    {_written(network, bundle)}" for bundle in layer.bundles]
        lines.append("  }")
    return lines


def _depths(network: Network) -> dict[Layer, int]:
    """Return the longest way from each layer to an output, in layers; an output has 0."""
    depths = dict.fromkeys(network.layers.values(), 0)
    # A layer may come before or after those that it takes from, in any order.
    for _ in depths:
        before = dict(depths)
        for layer in depths:
            for bundle in layer.bundles:
                if bundle.source is not None:
                    depths[bundle.source] = max(depths[bundle.source], depths[layer] + 1)
        if depths == before:
            break
    return depths


def _written(network: Network, bundle: Bundle) -> str:
    """Return the text of a bundle on one line, without comments."""
    base = network.specification.starts[bundle.layer.declaration]
    text = network.specification.data[base + bundle.item.start : base + bundle.item.end]
    words = " ".join(_COMMENT.sub(b" ", text).decode().split())
    return words if words.endswith(("}", ";")) else f"{words};"
