"""Model files in a viewer: their networks with pictures, and statistics of their weights.

Each is opened in another process, so that typing continues; no format is known here.
"""

from __future__ import annotations

import os
from typing import Any

from netsharp_lsp.description.folding import folded
from netsharp_lsp.description.models import model_lines
from netsharp_lsp.description.nodes import as_layers
from netsharp_lsp.description.picture import drawn, lay_out
from netsharp_lsp.language import stored_network, stored_weights
from netsharp_lsp.server.jobs.worker import in_process
from netsharp_lsp.server.pictures.places import with_places

Plain = dict[str, Any]
#: Seconds of one pass over the numbers of a model; the rest is computed later.
_LOOK = 0.3
_NOWHERE: Plain = {"range": None, "selectionRange": None}


class UnreadableModelError(Exception):
    """Why a model is not shown, as a sentence."""


def model_described(path: str) -> Plain | UnreadableModelError:
    """Return the JSON of `describe --partial` for a model, or a sentence if it is unreadable."""
    try:
        found = stored_network(path, partial=True)
    except ValueError as error:
        return UnreadableModelError(str(error))
    if found is None:
        return UnreadableModelError(_no_model(path))
    return {**found, "lines": model_lines(found["model"])}


def model_drawn(description: Plain, depth: int | None, changed: dict[str, bool]) -> Plain:
    """Return a described model with coordinates, some of its groups open; without
    the attributes of nodes, which the viewer does not show.
    """
    found = folded({**description, "layers": as_layers(description)}, depth, changed)
    picture = drawn(lay_out(found))
    placed = with_places(found, picture, lambda layer: _NOWHERE, lambda name, number: None)
    placed["nodes"] = [
        {key: value for key, value in node.items() if key != "attributes"}
        for node in placed["nodes"]
    ]
    return placed


def model_weights(path: str, first: int) -> Plain | UnreadableModelError:
    """Return statistics of some weights of a model, from a position on, and the next position."""
    try:
        found = stored_weights(path, first, _LOOK)
    except ValueError as error:
        return UnreadableModelError(str(error))
    return UnreadableModelError(_no_model(path)) if found is None else found


def _no_model(path: str) -> str:
    if not os.path.isfile(path):
        return f"{path}: there is no such file."
    return f"{path} is not a model file whose network can be read."


class StoredModels:
    """The models that were asked for last, opened again when their files have changed."""

    _KEPT = 4

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], Plain] = {}

    async def of(self, path: str, depth: int | None, changed: dict[str, bool]) -> Plain:
        """Return a model with its picture; UnreadableModelError where there is none."""
        key = _state(path)
        found = self._known.pop(key, None)
        if found is None:
            opened = await in_process(model_described, path)
            if isinstance(opened, UnreadableModelError):
                raise opened
            found = opened
        self._known[key] = found
        while len(self._known) > self._KEPT:
            del self._known[next(iter(self._known))]
        return model_drawn(found, depth, changed)

    async def weights(self, path: str, first: int) -> Plain:
        """Return statistics of some weights; UnreadableModelError where there is no model."""
        found = await in_process(model_weights, path, first)
        if isinstance(found, UnreadableModelError):
            raise found
        return found


def _state(path: str) -> tuple[str, int, int]:
    """Return a file as it is now."""
    try:
        found = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, found.st_mtime_ns, found.st_size
