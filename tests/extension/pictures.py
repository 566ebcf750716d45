"""What the server answers of a network, for the view that draws it."""

from __future__ import annotations

from typing import Any

from netsharp_lsp.context import Context
from netsharp_lsp.description.picture import lay_out
from netsharp_lsp.language import language_by_id
from tests.extension.conftest import ROOT

DIGITS = (ROOT / "examples" / "digits" / "digits.nn").read_bytes()
INCEPTION = (ROOT / "tests" / "corpus" / "valid" / "inception.nn").read_bytes()


def graph(text: bytes, version: int = 1, language: str = "netsharp") -> dict[str, Any]:
    """What `netsharp/graph` answers, without the places in the text."""
    description = language_by_id(language).open(text, Context()).graph().description
    return {**placed(description), "version": version, "uri": "file:///digits.nn"}


def placed(description: dict[str, Any]) -> dict[str, Any]:
    """A description with where everything is drawn, as the server says it."""
    picture = lay_out(description)
    arrows = iter(picture.arrows)
    sides = ("x", "y", "width", "height")
    names = {layer["name"] for layer in description["layers"]}
    for layer, box in zip(description["layers"], picture.boxes, strict=True):
        layer["position"] = {key: getattr(box, key) for key in sides}
        layer["range"] = layer["selectionRange"] = None
        for bundle in layer["bundles"]:
            known = bundle["source"] in names
            bundle |= {"points": next(arrows).points if known else [], "range": None}
    for frame, box in zip(description.get("frames", ()), picture.frames, strict=True):
        frame["position"] = {key: getattr(box, key) for key in sides}
    return {**description, "width": picture.width, "height": picture.height}


def shown(text: bytes, language: str = "netsharp") -> list[dict[str, Any]]:
    return [{"type": "graph", "title": "digits.nn", "graph": graph(text, language=language)}]
