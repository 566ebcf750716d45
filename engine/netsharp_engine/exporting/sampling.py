"""Random samples of a network that is exported, and the engine's values for samples.

Samples are [steps, sequences, *shape] for every input; without sequences there is one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netsharp_engine.exporting.values import STEPWISE, Array
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, Packed
from netsharp_engine.tensor_backend.walk import GraphWalk

if TYPE_CHECKING:
    from netsharp_engine.exporting.portable import Portable, Samples
    from netsharp_engine.model import Model

#: Of random samples: steps of each sequence, and how many sequences.
_STEPS, _SEQUENCES = 7, 3
#: Of random rows of a table.
_ROWS = 50


def random_samples(portable: Portable, seed: int) -> dict[str, Array]:
    """Draw normal numbers for every input of a network, [steps, sequences, *shape] each."""
    random = np.random.default_rng(seed)
    return {
        node.name: random.normal(size=(_STEPS, _SEQUENCES, *node.shape)).astype(portable.dtype)
        for node in portable.graph.inputs
    }


def engine_values(portable: Portable, samples: Samples, leads: Sequence[int]) -> list[Array]:
    """Compute the outputs by the engine, [..., *shape] each, with ``leads`` axes before those of a
    sample: steps and sequences, sequences alone, or none of a value that all samples share. Raises
    GraphError where nodes depend on themselves in one step.
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
        found.append(by_sequence.swapaxes(0, 1) if lead == STEPWISE else by_sequence[:, 0])
    return [one if lead else one[0] for one, lead in zip(found, leads, strict=True)]


def random_rows(model: Model, seed: int) -> Array:
    """Draw rows [rows, features] about as large as those of the training."""
    random, encoding, normalizer = np.random.default_rng(seed), model.encoding, model.normalizer
    spread = 1 / np.where(normalizer.scale == 0, 1, normalizer.scale)
    features = normalizer.offset + spread * random.normal(0.5, 0.5, (_ROWS, encoding.features))
    at = 0
    for column in encoding.columns:
        if column.levels is not None:
            width = len(column.levels) + encoding.unknown
            features[:, at : at + width] = np.eye(width)[random.integers(width, size=_ROWS)]
            at += width
            continue
        if column.marked:
            absent = random.integers(2, size=_ROWS)
            features[:, at + 1] = absent
            features[absent > 0, at] = column.fill
        at += 1 + column.marked
    return features.astype(model.settings.dtype)
