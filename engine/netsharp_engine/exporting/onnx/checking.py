"""The check of a written ONNX model, by the rules of the `onnx` package and by `onnxruntime`.

It must not know our graphs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from netsharp_engine.exporting.onnx.writing import Array
from netsharp_engine.exporting.refusal import ExportError

if TYPE_CHECKING:
    from onnx import ModelProto

#: The reference runtime.
PROGRAM = "onnxruntime"


def require_valid(model: ModelProto) -> None:
    """Check a model with all shapes inferred; ExportError with the checker's words."""
    from onnx import checker

    try:
        checker.check_model(model, full_check=True)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ExportError(f"The checker of onnx refuses the model: {reason}") from None


def has_runtime() -> bool:
    """Return whether onnxruntime is installed."""
    from importlib.util import find_spec

    return find_spec("onnxruntime") is not None


class Runtime:
    """A model in onnxruntime, on one thread; ExportError with its words where it does not run."""

    def __init__(self, data: bytes) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Without it kernels for bytes cut off sums of two products on some processors.
        options.add_session_config_entry("session.x64quantprecision", "1")
        try:
            self._session = onnxruntime.InferenceSession(data, options, ["CPUExecutionProvider"])
        except Exception as error:
            raise _refused(error) from None
        self._taken = {one.name for one in self._session.get_inputs()}

    def __call__(self, inputs: Mapping[str, Array], outputs: Sequence[str]) -> list[Array]:
        """Compute outputs by their names; inputs that the model does not take are left out."""
        given = {name: values for name, values in inputs.items() if name in self._taken}
        try:
            return list(self._session.run(list(outputs), given))
        except Exception as error:
            raise _refused(error) from None


def _refused(error: Exception) -> ExportError:
    reason = " ".join(str(error).split())
    return ExportError(f"onnxruntime refuses the model: {reason}")
