"""The model files below a folder, their contents, and the command that writes each."""

from __future__ import annotations

import os
import re

from netsharp_lsp.cntk.commands.models import is_model
from netsharp_lsp.project.walk import specifications_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from netsharp_lsp.project.roots import Roots

#: Usual suffixes of models; the bytes of a file determine its format.
_NAMES = (".dnn", ".cmf", ".model", ".mod", ".nnet", ".net")
_WRITES = frozenset(("train", "trainrnn", "adapt", "edit", "svd"))
#: The name of an epoch's model ends with the epoch.
_EPOCH = re.compile(r"\.[0-9]+$")


_UNKNOWN: dict[str, Any] = {
    **dict.fromkeys(("format", "model_version", "nodes", "parameters")),
    "outputs": [],
}


def models_below(
    folder: str,
    excludes: Callable[[str], bool],
    roots: Roots,
    configurations: Iterable[dict[str, Any]],
    directory: str,
) -> list[dict[str, Any]]:
    """Return a row for each model file; ``configurations`` are rows of the list of experiments."""
    writers: dict[str, dict[str, str]] = {}
    named: list[str] = []
    for row in configurations:
        for one in row["commands"]:
            if one["model"] and _WRITES.intersection(map(str.lower, one["actions"])):
                for place in (directory, os.path.dirname(row["file"])):
                    path = os.path.realpath(os.path.join(place, one["model"].replace("\\", "/")))
                    writers.setdefault(path, {"file": row["file"], "command": one["name"]})
                    named.append(path)
    inside = [path for path in named if roots.holds(path) and os.path.isfile(path)]
    below = specifications_below(folder, excludes, _NAMES, roots)
    known = {os.path.realpath(path): os.path.normpath(path) for path in below}
    for path in inside:
        known.setdefault(path, os.path.relpath(path))
    return [
        {**_described(path), "file": shown, "written_by": _writer(path, writers)}
        for path, shown in sorted(known.items(), key=lambda item: item[1])
        if is_model(path)
    ]


def _writer(path: str, writers: dict[str, dict[str, str]]) -> dict[str, str] | None:
    return writers.get(path) or writers.get(_EPOCH.sub("", path))


def _described(path: str) -> dict[str, Any]:
    """Return the contents of a model, or why it cannot be used."""
    from netsharp_lsp.cntk.training.model_description import description_of

    try:
        found = description_of(path)
    except ValueError as error:
        return {**_UNKNOWN, "problem": str(error)}
    if found is None:
        return {**_UNKNOWN, "problem": "it is not a model"}
    model = found["model"]
    return {
        "format": model["format"],
        "model_version": model["version"],
        "nodes": len(found["nodes"]),
        "parameters": found["parameters"],
        "outputs": model.get("outputs", []),
        "problem": None,
    }
