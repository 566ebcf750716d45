"""The bytes of an ONNX file, checked before they are handed over, with sentences about them.

ExportError where the package `onnx` is not installed, where ONNX cannot hold the network, and where
onnxruntime's answers are further from the engine's than the bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.exporting.differences import BOUND, OutputDifference, require_close
from netsharp_engine.exporting.onnx.checking import has_runtime, require_valid
from netsharp_engine.exporting.onnx.comparing import compared
from netsharp_engine.exporting.onnx.exported import OnnxForm, exported
from netsharp_engine.exporting.onnx.trained import compared_model, exported_model
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.sampling import random_rows, random_samples

if TYPE_CHECKING:
    from typing import Any

    from onnx import ModelProto, ValueInfoProto

    from netsharp_engine.model import Model

_SEED = 1
_INSTALL = "pip install 'netsharp[onnx]'"


class WrittenOnnx(NamedTuple):
    """An ONNX file: its bytes, its operators, its inputs and outputs as `name [sizes]`, and how far
    its outputs are from the engine's; None where onnxruntime is not installed.
    """

    data: bytes
    operators: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    differences: tuple[OutputDifference, ...] | None


def write_onnx(
    source: Portable | Model, form: OnnxForm, samples: Iterable[Any] | None = None
) -> WrittenOnnx:
    """Export a network, or a model of tables, and compare it on samples.

    ``samples`` are those of `Portable.samples`, or arrays [rows, features] of a model of tables;
    random ones where there are none. ExportError as the module says.
    """
    require_package()
    model = _model(source, form)
    require_valid(model)
    apart = tuple(_compared(source, model, samples)) if has_runtime() else None
    if samples is not None and apart is None:
        raise ExportError(f"Answers are compared by onnxruntime: {_INSTALL}.")
    require_close(apart or (), BOUND)
    return WrittenOnnx(
        model.SerializeToString(),
        len(model.graph.node),
        tuple(map(shown_tensor, model.graph.input)),
        tuple(map(shown_tensor, model.graph.output)),
        apart,
    )


def require_package() -> None:
    """Do nothing where the package `onnx` is installed, else raise ExportError."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise ExportError(f"ONNX files are written by the package onnx: {_INSTALL}.") from None


def _model(source: Portable | Model, form: OnnxForm) -> ModelProto:
    if isinstance(source, Portable):
        return exported(source, form)
    return exported_model(source, form)


def _compared(
    source: Portable | Model, model: ModelProto, samples: Iterable[Any] | None
) -> list[OutputDifference]:
    if isinstance(source, Portable):
        given = [random_samples(source, _SEED)] if samples is None else samples
        return compared(source, model, given)
    return compared_model(
        source, model, [random_rows(source, _SEED)] if samples is None else samples
    )


def shown_tensor(one: ValueInfoProto) -> str:
    """Return an input or an output as `name [sizes]`."""
    sizes = one.type.tensor_type.shape.dim
    return f"{one.name} [{', '.join(each.dim_param or str(each.dim_value) for each in sizes)}]"
