"""The check of a written ONNX model, by the rules of the `onnx` package and by `onnxruntime`.

Knows no graph of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.exporting.onnx.writing import Array
from netsharp_engine.exporting.refusal import ExportError

if TYPE_CHECKING:
    from onnx import ModelProto


class Difference(NamedTuple):
    """How far an output is from the engine's: the largest difference, and the largest value."""

    output: str
    most: float
    largest: float

    @property
    def relative(self) -> float:
        """The difference by the largest value; infinite where numbers are missing."""
        if not np.isfinite(self.most):
            return float("inf")
        return self.most / self.largest if self.largest else self.most


def require_valid(model: ModelProto) -> None:
    """Check a model with all shapes inferred; ExportError with the checker's words."""
    from onnx import checker

    try:
        checker.check_model(model, full_check=True)
    except Exception as error:
        said = " ".join(str(error).split())
        raise ExportError(f"The checker of onnx refuses the model: {said}") from None


def has_runtime() -> bool:
    """Whether onnxruntime is installed."""
    from importlib.util import find_spec

    return find_spec("onnxruntime") is not None


def computed(data: bytes, inputs: Mapping[str, Array], outputs: Sequence[str]) -> list[Array]:
    """Compute a model by onnxruntime, on one thread; ExportError with its words."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(data, options, ["CPUExecutionProvider"])
        taken = {one.name for one in session.get_inputs()}
        given = {name: values for name, values in inputs.items() if name in taken}
        return list(session.run(list(outputs), given))
    except Exception as error:
        said = " ".join(str(error).split())
        raise ExportError(f"onnxruntime refuses the model: {said}") from None


def differences(
    names: Sequence[str], ours: Sequence[Array], theirs: Sequence[Array]
) -> list[Difference]:
    """Compare outputs of equal shapes; numbers that are not finite have to be the same."""
    found = []
    for name, one, other in zip(names, ours, theirs, strict=True):
        if one.shape != other.shape:
            raise ExportError(
                f"'{name}' has the shape {list(other.shape)} in onnxruntime, and here "
                f"{list(one.shape)}."
            )
        finite = np.isfinite(one)
        same = np.array_equal(one[~finite], other[~finite], equal_nan=True)
        apart = np.abs(one[finite].astype(np.float64) - other[finite]).max(initial=0.0)
        largest = float(np.abs(one[finite]).max(initial=0.0))
        found.append(Difference(name, float(apart) if same else float("inf"), largest))
    return found
