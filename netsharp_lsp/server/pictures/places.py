"""The coordinates and source places of a network's parts, added to its description.

It is also imported by the process that opens models, so it imports no protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Plain = dict[str, Any]


def with_places(
    description: Plain,
    picture: Plain,
    ranges: Callable[[Plain], Plain],
    bundle_range: Callable[[str, int], Plain | None],
) -> Plain:
    """Return a description whose layers, bundles and frames say where they are drawn, and where
    they stand in a text.
    """
    boxes, arrows = picture["boxes"], iter(picture["arrows"])
    layers = []
    for layer in description["layers"]:
        box = boxes[layer["name"]]
        bundles = []
        for number, bundle in enumerate(layer["bundles"]):
            known = bundle["source"] in boxes
            points = next(arrows)["points"] if known else []
            place = bundle_range(layer["name"], number)
            bundles.append({**bundle, "points": points, "range": place})
        where = {"position": _place(box), **ranges(layer)}
        layers.append({**layer, "bundles": bundles, **where})
    found = {**description, "layers": layers}
    if "frames" in description:
        frames, places = description["frames"], picture["frames"]
        found["frames"] = [{**one, "position": places[one["key"]]} for one in frames]
    return {**found, "width": picture["width"], "height": picture["height"]}


def _place(box: Plain) -> Plain:
    return {side: box[side] for side in ("x", "y", "width", "height")}
