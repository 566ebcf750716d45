"""PyTorch's outputs for the samples of an exported module, beside the engine's.

The only place that imports PyTorch; what runs is the text that is exported, with its own loader.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.exporting.differences import OutputDifference, differences
from netsharp_engine.exporting.sampling import engine_values
from netsharp_engine.exporting.values import STEPWISE, Array

if TYPE_CHECKING:
    from netsharp_engine.exporting.portable import Portable, Samples
    from netsharp_engine.exporting.torch.exported import TorchModule

PROGRAM = "PyTorch"


def has_torch() -> bool:
    """Return whether PyTorch is installed."""
    return find_spec("torch") is not None


class Running:
    """An exported module with its numbers."""

    def __init__(self, module: TorchModule, numbers: bytes) -> None:
        self.names: dict[str, Any] = {"__name__": "exported", "__file__": "exported.py"}
        # The text is ours: names of the network are identifiers and comments in it.
        exec(compile(module.text, "exported.py", "exec"), self.names)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "numbers.safetensors")
            with open(path, "wb") as stream:
                stream.write(numbers)
            self._network = self.names["load"](path)

    def __call__(self, inputs: Sequence[Array]) -> list[Array]:
        """Return the outputs of the network in their order."""
        import torch

        given = [torch.from_numpy(np.ascontiguousarray(one)) for one in inputs]
        with torch.inference_mode():
            found = self._network(*given)
        return [one.numpy() for one in (found if isinstance(found, tuple) else (found,))]


def compared(
    portable: Portable, module: TorchModule, numbers: bytes, samples: Iterable[Samples]
) -> list[OutputDifference]:
    """Compare the outputs of an exported module with the engine's for all samples. Raises
    ExportError where a shape or a number differs.
    """
    over_time = any(one.lead == STEPWISE for one in module.inputs)
    names = [one.origin for one in module.outputs]
    leads = [one.lead for one in module.outputs]
    running = Running(module, numbers)
    found: list[OutputDifference] = []
    for part in samples:
        some = part if over_time else {name: values[:1] for name, values in part.items()}
        given = [
            _turned(some[one.origin], one.turned) if over_time else some[one.origin][0]
            for one in module.inputs
        ]
        ours = [
            _turned(values, one.turned)
            for one, values in zip(
                module.outputs, engine_values(portable, some, leads), strict=True
            )
        ]
        fresh = differences(PROGRAM, names, ours, running(given))
        found = [one.joined(other) for one, other in zip(found or fresh, fresh, strict=True)]
    return found


def _turned(values: Array, turned: bool) -> Array:
    return values.swapaxes(0, 1) if turned else values
