"""The description that `netsharp describe` prints of a model file of CNTK, or of a checkpoint, as
plain values.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.checkpoints import Checkpoint
from netsharp_engine.cntk.stored.dictionaries.wire import Dictionary, WireArray
from netsharp_engine.cntk.stored.norms import figures_of
from netsharp_engine.cntk.stored.opening import TrainerState, open_stored
from netsharp_engine.cntk.stored.values import StoredModel
from netsharp_engine.model_file import ModelError
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import Network
from netsharp_lsp.cntk.networks.stored import network_in
from netsharp_lsp.cntk.training.stored_models import model_bytes, read_stored

if TYPE_CHECKING:
    from typing import Any

_PRECISIONS = {"float32": "float", "float64": "double"}
#: What a model was not made from, as a configuration would be.
_WHENCE: dict[str, Any] = {"command": None, "builder": None, "commands": [], "release": None}
_NOWHERE: dict[str, Any] = {"file": None, "start": None, "end": None}


def description_of(path: str, *, partial: bool = False) -> dict[str, Any] | None:
    """Return the network of a model as `netsharp describe` prints it, its nodes in no file; None
    where it is not a model, ModelError where it is damaged. ``partial``: include what can be read
    around faults.
    """
    found = _opened(path, partial=partial)
    if found is None:
        return None
    if isinstance(found, Checkpoint):
        state = {
            "samples": found.samples,
            "rate": _plain(found.rate),
            "criterion": _plain(found.loss),
            "minibatch": found.minibatch or None,
            "gradients": [int(one.size) for one in found.smoothed],
        }
        return _checkpoint("v1", found.version, state)
    if isinstance(found, TrainerState):
        version = found.values.get("Version", 1)
        state = {key: _plain(value) for key, value in sorted(found.values.items())}
        return _checkpoint("v2", version, state)
    return _described(found)


def _opened(path: str, *, partial: bool) -> StoredModel | Checkpoint | TrainerState | None:
    data = model_bytes(path)
    if data is None:
        return None
    try:
        return read_stored(data) or open_stored(data, partial=partial)
    except ModelFault as fault:
        raise ModelError(f"{path}, {fault}.") from None


def weights_of(path: str, first: int, seconds: float) -> dict[str, Any] | None:
    """Return statistics of a model's numbers, from a parameter on by its index: of at least one
    parameter, and of as many as `seconds` allow, with the index to continue from as `next`, None at
    the end.

    The readable part of a damaged model is used; None and ModelError as for `description_of`.
    """
    began = time.monotonic()
    found = _opened(path, partial=True)
    if found is None:
        return None
    nodes = found.nodes if isinstance(found, StoredModel) else ()
    held = [node for node in nodes if node.values is not None]
    # Opening is paid again each time, so it must stay the smaller part.
    end = time.monotonic() + max(seconds, 4 * (time.monotonic() - began))
    rows: list[dict[str, Any]] = []
    for node in held[max(first, 0) :]:
        if rows and time.monotonic() > end:
            break
        assert node.values is not None
        rows.append({"name": node.name, "shape": list(node.shape), **figures_of(node.values)})
    following = max(first, 0) + len(rows)
    return {"weights": rows, "next": following if following < len(held) else None}


def _described(stored: StoredModel) -> dict[str, Any]:
    network = network_in(stored, "")
    found = described(network, _PRECISIONS[stored.dtype])
    rows = {one.name: one for one in stored.nodes}
    nodes = []
    for one in found["nodes"]:
        row = rows[one["name"]]
        names = {"function": row.function, "label": row.label, "uid": row.uid}
        nodes.append({**one, **_NOWHERE, **{key: word for key, word in names.items() if word}})
    calls = [{**one, **_NOWHERE} for one in found["calls"]]
    troubles = [f"'{one.node.name}': {one.message}" for one in network.troubles]
    return {**found, "nodes": nodes, "calls": calls, **_WHENCE, "model": _model(stored, troubles)}


def _model(stored: StoredModel, troubles: list[str]) -> dict[str, Any]:
    return {
        "format": stored.format,
        "version": stored.version,
        "versions": dict(stored.versions),
        "types": dict(sorted(stored.types.items())),
        "outputs": list(stored.outputs),
        "warnings": [*stored.warnings, *troubles],
        "faults": list(dict.fromkeys(stored.faults)),
    }


def _checkpoint(form: str, version: int, state: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a checkpoint: the state to resume training from, without a
    network.
    """
    model = {"format": form, "version": version, "checkpoint": state}
    return {**described(Network({}, {}), "float"), **_WHENCE, "model": model}


def _plain(value: Any) -> Any:
    """Return a value of a dictionary as JSON: arrays by their shapes, no number that JSON lacks."""
    if isinstance(value, WireArray):
        return {"dtype": value.dtype, "shape": list(value.shape)}
    if isinstance(value, Dictionary):
        return {key: _plain(one) for key, one in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value
