"""The compiled twin of update rules: one call for all parameters, with the bits of ``updates``.

New numbers lie beside the old ones until all of them are known to be finite; then both change
places.  What needs a sum over a whole parameter, or draws, stays in numpy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.graph import Parameter
from netsharp_engine.program import REMEMBERS, SINGLE, UpdateRule
from netsharp_engine.tensor_backend.kernels.sparse import TouchedRows
from netsharp_engine.tensor_backend.updates import Array, clipped, faded

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from netsharp_engine.program import Tensors
    from netsharp_engine.tensor_backend.kernels.sparse import Gradient

_KINDS = ("sgd", "smoothed", "adagrad", "fsadagrad", "rmsprop")
#: The places of the weight of L2, and of what changes with each update, in a job's constants.
_L2, _TARGET, _FRESH = 5, 8, 12


class CompiledUpdates:
    """The trained parameters of a program and the memory that their next numbers are put into."""

    def __init__(self, trained: Sequence[Parameter], kind: Any) -> None:
        self._trained, self._kind, self._size = trained, kind, np.dtype(kind).itemsize
        self._spare: dict[str, list[Array]] = {}
        self._rule: UpdateRule | None = None
        self._constants: list[Array] = []
        #: Whether a share of its numbers is added to the gradient of each.
        self._regular: list[bool] = []

    def takes(self, rule: UpdateRule, gradients: Mapping[str, Gradient]) -> bool:
        """Return whether the compiled twin computes this rule for these gradients."""
        shaping = rule.shaping
        if twins is None or rule.kind not in _KINDS or shaping.noise > 0:
            return False
        rows = any(isinstance(one, TouchedRows) for one in gradients.values())
        if rows and shaping.l1 > 0:
            return False
        averaged = rule.kind in ("adagrad", "rmsprop") or (rows and rule.kind == "fsadagrad")
        return not (averaged and rule.constants.get("normalized"))

    def apply(
        self,
        rule: UpdateRule,
        values: Tensors,
        gradients: Mapping[str, Gradient],
        memory: dict[str, Tensors],
        fresh: bool,
    ) -> Parameter | None:
        """Change the parameters and the rule's memory; or nothing, and return the first parameter
        that would have a number which is not finite.
        """
        if rule is not self._rule and rule != self._rule:
            self._rule, self._constants = (
                rule,
                [self._arguments(rule, one) for one in self._trained],
            )
            self._regular = [one[_L2] > 0 for one in self._constants]
        arrays = [memory[one] for one in REMEMBERS[rule.kind] if one not in SINGLE]
        jobs, moved = [], []
        counts = self._faded(rule, memory, fresh)
        plain = rule.shaping.truncates
        for parameter, constants, regular in zip(
            self._trained, self._constants, self._regular, strict=True
        ):
            name = parameter.name
            places: Array | None = None
            gradient = gradients[name]
            if isinstance(gradient, TouchedRows):
                if regular:
                    gradient = gradient.dense(parameter.shape)
                else:
                    places = np.ascontiguousarray(gradient.places, np.int64)
                    gradient = gradient.values
            if not plain:
                gradient = clipped(rule.shaping, gradient)
            gradient = np.ascontiguousarray(gradient, self._kind)
            kept = [one[name] for one in arrays]
            if places is None:
                spare = self._room(name, values[name], 1 + len(kept))
                moved.append((name, spare))
            else:
                kept = kept[:1]
                spare = [np.empty_like(gradient) for _ in range(1 + len(kept))]
            jobs.append((constants, places, gradient, values[name], *spare, *kept))
        wrong = twins.rules_applied(self._size, tuple(jobs))
        if wrong >= 0:
            return self._trained[wrong]
        for name, spare in moved:
            values[name], spare[0] = spare[0], values[name]
            for number, one in enumerate(arrays, 1):
                one[name], spare[number] = spare[number], one[name]
            if counts:
                memory["count"][name] = counts[name]
        return None

    def _faded(
        self, rule: UpdateRule, memory: Mapping[str, Tensors], fresh: bool
    ) -> dict[str, Array]:
        """Put what changes from update to update among the constants; the counts of samples."""
        counts: dict[str, Array] = {}
        if rule.kind not in ("fsadagrad", "rmsprop"):
            return counts
        for parameter, constants in zip(self._trained, self._constants, strict=True):
            if rule.kind == "fsadagrad":
                count = counts[parameter.name] = faded(rule, memory["count"][parameter.name])
                constants[_TARGET] = rule.constants["target"] * math.sqrt(count[0])
            elif rule.kind == "rmsprop":
                constants[_FRESH] = fresh
        return counts

    def _arguments(self, rule: UpdateRule, parameter: Parameter) -> Array:
        """Return the constants of a job, in the order of twins/updates.c."""
        shaping, constants = rule.shaping, rule.constants
        regular = parameter.name not in shaping.unregular
        rate = rule.rate * shaping.multipliers.get(parameter.name, 1.0)
        rest = [0.0] * 6
        if rule.kind == "fsadagrad":
            rest[0] = constants["fading"]
        elif rule.kind == "rmsprop":
            rest[:5] = [constants[one] for one in ("gamma", "inc", "max", "dec", "min")]
        return np.array(
            [
                *(_KINDS.index(rule.kind), rate, rule.momentum, rule.nesterov),
                abs(self._kind(shaping.limit)) if shaping.truncates else math.inf,
                *(shaping.l2 * regular, rate * shaping.l1 * regular, *rest),
            ]
        )

    def _room(self, name: str, values: Array, count: int) -> list[Array]:
        """Return buffers for the next numbers of a parameter and for the rule's memory of it."""
        known = self._spare.get(name)
        if known is None or len(known) != count:
            known = self._spare[name] = [np.empty_like(values) for _ in range(count)]
        return known
