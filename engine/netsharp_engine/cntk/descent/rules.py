"""The settings of updates as a configuration gives them: the rule of each minibatch, and the
contents of checkpoints. It must not know files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.program import REMEMBERS, SINGLE, Memory, Shaping, UpdateRule


class Updates(NamedTuple):
    """The update of parameters: the kind of rule, its constants, and what is applied beside it.

    Clipping and the weights of L1 and L2 are per sample.
    """

    kind: str = "smoothed"
    nesterov: bool = False
    constants: Mapping[str, float] = {"normalized": 1.0}
    #: Samples over which the mean square of fsAdaGrad fades.
    variance: float = 720_000.0
    clip: float = math.inf
    truncates: bool = True
    l1: float = 0.0
    l2: float = 0.0
    unregular: frozenset[str] = frozenset()
    noise: float = 0.0
    multipliers: Mapping[str, float] = {}

    def rule(
        self, rate: float, momentum: float, samples: int, seed: tuple[int, ...] = (0,)
    ) -> UpdateRule:
        """Return the rule of a minibatch of a number of samples; rate and momentum are per sample.
        Source: SGDLib/SGD.cpp, UpdateWeights.
        """
        shaping = Shaping(
            self.clip * samples,
            self.truncates,
            self.l2 * samples,
            self.l1 * samples,
            self.unregular,
            self.noise,
            seed,
            self.multipliers,
        )
        fading = math.exp(-samples / self.variance)
        constants = {**self.constants, "samples": float(samples), "fading": fading}
        kept = math.pow(momentum, samples)
        return UpdateRule(
            self.kind, rate, kept, self.nesterov, constants=constants, shaping=shaping
        )


class StoredMemory(NamedTuple):
    """The memory of each trained parameter as a checkpoint has it: numbers and a count."""

    smoothed: Sequence[Array]
    counts: Sequence[float]


def remembered(kind: str, memory: Memory, names: Sequence[str]) -> StoredMemory:
    """Return a rule's memory of parameters, concatenated in CNTK's order."""
    kinds = [one for one in REMEMBERS[kind] if one not in SINGLE]
    found = [[memory.arrays[one][name] for one in kinds] for name in names]
    counts = memory.arrays.get("count", {})
    return StoredMemory(
        [np.concatenate([one.reshape(-1, (1, *one.shape)[-1]) for one in each]) for each in found],
        [float(counts[name][0]) if name in counts else 0.0 for name in names],
    )


def recalled(
    kind: str, given: StoredMemory, sizes: Mapping[str, int]
) -> Mapping[str, dict[str, Array]]:
    """Return the memory from which a rule continues: flat arrays [size] by kind and parameter.
    ValueError names a parameter whose memory has another size.
    """
    kinds = [one for one in REMEMBERS[kind] if one not in SINGLE]
    found: dict[str, dict[str, Array]] = {one: {} for one in REMEMBERS[kind]}
    for (name, size), values, count in zip(
        sizes.items(), given.smoothed, given.counts, strict=True
    ):
        flat = values.reshape(-1)
        if flat.size != size * len(kinds):
            raise ValueError(name)
        for place, one in enumerate(kinds):
            found[one][name] = flat[place * size : (place + 1) * size]
            if one == "squares" and (found[one][name] < 0).any():
                raise ValueError(name)
        if "count" in found:
            found["count"][name] = np.array([count])
    return found
