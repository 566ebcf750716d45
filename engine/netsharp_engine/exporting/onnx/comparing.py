"""The engine's values for the samples of an exported model, and onnxruntime's beside them.

Samples are [steps, sequences, *shape] for every input; without sequences there is one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.exporting.onnx.checking import OutputDifference, Runtime, differences
from netsharp_engine.exporting.onnx.exported import BATCH
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, Packed
from netsharp_engine.tensor_backend.walk import GraphWalk

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

    from netsharp_engine.exporting.onnx.writing import Array
    from netsharp_engine.exporting.portable import Portable, Samples
    from netsharp_engine.nodes import Node

#: Of random samples: steps of each sequence, and how many sequences.
_STEPS, _SEQUENCES = 7, 3
#: Axes before those of a sample where each step has its own.
_STEPWISE = 2


def random_samples(portable: Portable, seed: int) -> dict[str, Array]:
    """Draw normal numbers for every input of a network."""
    random = np.random.default_rng(seed)
    return {
        node.name: random.normal(size=(_STEPS, _SEQUENCES, *node.shape)).astype(portable.dtype)
        for node in portable.graph.inputs
    }


def engine_values(portable: Portable, samples: Samples, leads: Sequence[int]) -> list[Array]:
    """Compute the outputs by the engine, each with so many axes before those of a sample: steps
    and sequences, sequences alone, or none of what all samples share.
    """
    steps, sequences = next(iter(samples.values())).shape[:2]
    job = Job(portable.graph, steps * sequences, portable.dtype)
    # Compiled cells read numbers of the type of the job alone.
    tensors = {name: np.asarray(one, portable.dtype) for name, one in portable.tensors.items()}
    walk = GraphWalk(job, tensors)
    packing = packed(np.full(sequences, steps))
    inputs = {
        node.name: Packed(samples[node.name].reshape(steps * sequences, -1), packing)
        for node in portable.graph.inputs
    }
    walk.feed(Batch(inputs))
    walk.forward()
    found = []
    for node, lead in zip(portable.outputs, leads, strict=True):
        values = walk.read(node)
        by_sequence = values.reshape(sequences if lead else 1, -1, *node.shape)
        found.append(by_sequence.swapaxes(0, 1) if lead == _STEPWISE else by_sequence[:, 0])
    return [one if lead else one[0] for one, lead in zip(found, leads, strict=True)]


def compared(
    portable: Portable, model: ModelProto, samples: Iterable[Samples]
) -> list[OutputDifference]:
    """Compare the outputs of an exported model with the engine's for all samples; ExportError where
    onnxruntime does not take it.
    """
    borders = {one.name: _border(one) for one in (*model.graph.input, *model.graph.output)}
    inputs = [node for node in portable.graph.inputs if node.name in borders]
    over_time = any(borders[node.name].lead(node) == _STEPWISE for node in inputs)
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
            borders[name].turned(one) if lead == _STEPWISE else one
            for name, lead, one in zip(
                names, leads, engine_values(portable, some, leads), strict=True
            )
        ]
        fresh = differences(names, ours, runtime(given, names))
        found = [one.joined(other) for one, other in zip(found or fresh, fresh, strict=True)]
    return found


class _Border(NamedTuple):
    """How a tensor looks at the border of a model."""

    rank: int
    sequences_first: bool

    def lead(self, node: Node) -> int:
        """How many axes stand before those of a sample."""
        return self.rank - len(node.shape)

    def turned(self, values: Array) -> Array:
        """Values [steps, sequences, ...] as they are there, or back."""
        return values.swapaxes(0, 1) if self.sequences_first else values


def _border(one: ValueInfoProto) -> _Border:
    sizes = one.type.tensor_type.shape.dim
    return _Border(len(sizes), bool(sizes) and sizes[0].dim_param == BATCH)
