"""The two files of a module of PyTorch, its text and its numbers, with sentences about them.

ExportError where PyTorch cannot hold the network, and where its answers are further from the
engine's than the bound.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from netsharp_engine.exporting.differences import BOUND, OutputDifference, require_close
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.sampling import random_rows, random_samples
from netsharp_engine.exporting.torch.comparing import compared, has_torch
from netsharp_engine.exporting.torch.exported import TorchForm, TorchModule, exported
from netsharp_engine.exporting.torch.module import DIGITS, with_digest
from netsharp_engine.exporting.torch.trained import compared_model, exported_model

if TYPE_CHECKING:
    from netsharp_engine.model import Model

_SEED = 1


class WrittenTorch(NamedTuple):
    """A module: its text, the bytes of the safetensors file beside it, the ``digest`` by which the
    text finds these until they have their name (`NAME.DIGEST.safetensors`), how many layers it
    has, its inputs and outputs as `name [sizes]`, and how far its outputs are from the engine's;
    None where PyTorch is not installed.
    """

    text: str
    numbers: bytes
    digest: str
    layers: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    differences: tuple[OutputDifference, ...] | None


def write_torch(
    source: Portable | Model, form: TorchForm, samples: Iterable[Any] | None = None
) -> WrittenTorch:
    """Export a network, or a model of tables, and compare it on samples.

    ``samples`` are those of `Portable.samples`, or arrays [rows, features] of a model of tables;
    random ones where there are none. ExportError as the module says.
    """
    module = (
        exported(source, form) if isinstance(source, Portable) else exported_model(source, form)
    )
    numbers = stored(module)
    digest = hashlib.sha256(numbers).hexdigest()[:DIGITS]
    apart = tuple(_compared(source, module, numbers, samples)) if has_torch() else None
    if samples is not None and apart is None:
        raise ExportError("Answers are compared by PyTorch, which is not installed.")
    require_close(apart or (), BOUND)
    return WrittenTorch(
        with_digest(module.text, digest),
        numbers,
        digest,
        len(module.origins),
        tuple(one.described for one in module.inputs),
        tuple(one.described for one in module.outputs),
        apart,
    )


def stored(module: TorchModule) -> bytes:
    """Return the numbers as a safetensors file, with the names that layers have in the network."""
    import json

    from safetensors.numpy import save

    about = {"format": "pt", "names": json.dumps(dict(module.origins))}
    data: bytes = save(dict(module.state), about)
    return data


def _compared(
    source: Portable | Model, module: TorchModule, numbers: bytes, samples: Iterable[Any] | None
) -> list[OutputDifference]:
    if isinstance(source, Portable):
        given = [random_samples(source, _SEED)] if samples is None else samples
        return compared(source, module, numbers, given)
    rows = [random_rows(source, _SEED)] if samples is None else samples
    return compared_model(source, module, numbers, rows)
