"""onnxruntime's outputs for the samples of an exported model, beside the engine's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.exporting.differences import OutputDifference, differences
from netsharp_engine.exporting.onnx.checking import PROGRAM, Runtime
from netsharp_engine.exporting.onnx.exported import BATCH
from netsharp_engine.exporting.sampling import engine_values
from netsharp_engine.exporting.values import STEPWISE

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

    from netsharp_engine.exporting.onnx.writing import Array
    from netsharp_engine.exporting.portable import Portable, Samples
    from netsharp_engine.nodes import Node


def compared(
    portable: Portable, model: ModelProto, samples: Iterable[Samples]
) -> list[OutputDifference]:
    """Compare the outputs of an exported model with the engine's for all samples; ExportError where
    onnxruntime does not take it.
    """
    borders = {one.name: _border(one) for one in (*model.graph.input, *model.graph.output)}
    inputs = [node for node in portable.graph.inputs if node.name in borders]
    over_time = any(borders[node.name].lead(node) == STEPWISE for node in inputs)
    names = [one.name for one in model.graph.output]
    leads = [borders[name].lead(node) for name, node in zip(names, portable.outputs, strict=True)]
    runtime = Runtime(model.SerializeToString())
    found: list[OutputDifference] = []
    for part in samples:
        some = part if over_time else {name: values[:1] for name, values in part.items()}
        given = {
            node.name: borders[node.name].turned(some[node.name])
            if over_time
            else some[node.name][0]
            for node in inputs
        }
        ours = [
            borders[name].turned(one) if lead == STEPWISE else one
            for name, lead, one in zip(
                names, leads, engine_values(portable, some, leads), strict=True
            )
        ]
        fresh = differences(PROGRAM, names, ours, runtime(given, names))
        found = [one.joined(other) for one, other in zip(found or fresh, fresh, strict=True)]
    return found


class _Border(NamedTuple):
    """The axes of a tensor at the border of a model."""

    rank: int
    sequences_first: bool

    def lead(self, node: Node) -> int:
        """Return the number of axes before those of a sample."""
        return self.rank - len(node.shape)

    def turned(self, values: Array) -> Array:
        """Return values [steps, sequences, ...] with the model's order of axes, or back."""
        return values.swapaxes(0, 1) if self.sequences_first else values


def _border(one: ValueInfoProto) -> _Border:
    sizes = one.type.tensor_type.shape.dim
    return _Border(len(sizes), bool(sizes) and sizes[0].dim_param == BATCH)
