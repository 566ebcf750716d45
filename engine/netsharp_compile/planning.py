"""From a network and what calibration data shows to integers: schemes, weights and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from netsharp_compile.integers import (
    FeatureCodes,
    IntegerLayer,
    IntegerNetwork,
    largest_sums,
    multipliers_of,
    quantized_weights,
)
from netsharp_compile.layers import SOFTMAX
from netsharp_compile.ranges import (
    RANGES,
    RangeMethod,
    chosen_range,
    is_shared,
    sum_range,
    value_range,
)
from netsharp_compile.refusal import CompileError
from netsharp_compile.schemes import QuantizationScheme, rounded_up
from netsharp_compile.tables import transfer_table

if TYPE_CHECKING:
    from netsharp_compile.integers import Integers
    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.operators import Array
    from netsharp_compile.ranges import FeatureRanges, Observed, SeenNumbers
    from netsharp_compile.schemes import Operand
    from netsharp_engine.data.normalizers import Normalizer

Activations = Literal["uint8", "int8", "symmetric8"]
Weights = Literal["int8", "int8-tensor", "int16"]
Logits = Literal["int16", "int8", "uint8"]
_OPERANDS: dict[str, Operand] = {"uint8": "unsigned", "int8": "signed", "symmetric8": "symmetric"}
_WEIGHTS: dict[str, tuple[int, bool]] = {
    "int8": (127, True),
    "int8-tensor": (127, False),
    "int16": (32767, True),
}
_LOGITS: dict[str, tuple[int, Operand]] = {
    "int16": (16, "symmetric"),
    "int8": (8, "symmetric"),
    "uint8": (8, "unsigned"),
}
#: What each of them may be, the default first.
ACTIVATIONS, WEIGHTS, LOGITS = tuple(_OPERANDS), tuple(_WEIGHTS), tuple(_LOGITS)
#: Bits of a hidden operand, and of the index where a table leads to the answers.
_BITS, _LAST_INDEX = 8, 10
#: Parts of the way from the least steps of features to those of equal errors.
_PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class CompileSettings:
    """Widths and kinds of operands; CompileError for what is none of them."""

    activations: Activations = "uint8"
    weights: Weights = "int8"
    logits: Logits = "int16"
    share_tables: bool = True
    range: str = RANGES[0]

    @property
    def method(self) -> RangeMethod:
        """How ranges are chosen."""
        return RangeMethod.of(self.range)

    def __post_init__(self) -> None:
        RangeMethod.of(self.range)
        for name, known in (
            ("activations", _OPERANDS),
            ("weights", _WEIGHTS),
            ("logits", _LOGITS),
        ):
            given = getattr(self, name)
            if given not in known:
                raise CompileError(f"{name} is one of {', '.join(known)}; {given!r} is none.")


def planned(
    layers: Sequence[SummedLayer],
    normalizer: Normalizer,
    features: FeatureRanges,
    seen: Sequence[Observed],
    settings: CompileSettings,
) -> IntegerNetwork:
    """Return a network in integers from the ranges of its normalised features and its layers."""
    for layer, ranges in zip(layers, seen, strict=True):
        _require_numbers(layer.name, ranges)
    plan = _Plan(settings)
    codes = QuantizationScheme.affine(1.0, 0, _BITS, _OPERANDS[settings.activations])
    steps = _feature_steps(layers, features, codes, _WEIGHTS[settings.weights][0])
    operands = [_Values(steps, features.low - codes.least * steps, np.zeros_like(steps), codes)]
    for place, (layer, ranges) in enumerate(zip(layers, seen, strict=True)):
        try:
            operands.append(plan.add(layer, ranges, operands, last=place == len(layers) - 1))
        except ValueError as error:  # Of schemes and tables, which know no layer.
            raise CompileError(f"'{layer.name}' on these rows: {error}") from None
    read = _feature_codes(normalizer, features.low, steps, codes)
    return IntegerNetwork(read, tuple(plan.layers), tuple(plan.tables.values()))


def _require_numbers(name: str, ranges: Observed) -> None:
    for what, (low, high, _) in (("sums", ranges.sums), ("values", ranges.values)):
        if not (np.isfinite(low) and np.isfinite(high)):
            raise CompileError(
                f"'{name}' on these rows: its {what} go from {low:g} to {high:g}, which no code "
                "covers. Train with features that are normalised, or another activation."
            )


class _Values(NamedTuple):
    """What codes of an operand mean, each [values]: (code - zero point) * step + base."""

    steps: Array
    bases: Array
    zero_points: Array
    codes: QuantizationScheme


class _Plan:
    def __init__(self, settings: CompileSettings) -> None:
        self._settings = settings
        self.layers: list[IntegerLayer] = []
        #: By their type and bytes, so that none is there twice.
        self.tables: dict[tuple[str, bytes], Integers] = {}

    def add(
        self, layer: SummedLayer, seen: Observed, operands: Sequence[_Values], *, last: bool
    ) -> _Values:
        """Add a layer, and return what the codes of its values mean."""
        result, target = self._schemes(layer, seen, last)
        table = None
        if layer.function not in ("linear", SOFTMAX) or result != target:
            table = self._table(result, layer.function, target)
        steps, bases, zero_points, largest = _read(layer, operands)
        most, by_node = _WEIGHTS[self._settings.weights]
        weights, biases, units = quantized_weights(
            layer.weights * steps, layer.biases + layer.weights @ bases, most, by_node
        )
        biases = biases - weights @ zero_points.astype(np.int64)
        bound = largest_sums(weights, biases, largest)
        multipliers, shifts = multipliers_of(units / result.scale, bound)
        made = IntegerLayer(
            name=layer.name,
            function=layer.function,
            origin=layer.origin,
            sources=layer.sources,
            weights=weights.astype(np.int8 if most == 127 else np.int16),
            biases=biases,
            multipliers=multipliers,
            shifts=shifts,
            result=result,
            table=table,
            target=target,
            bound=bound,
        )
        self.layers.append(made)
        nodes = len(weights)
        return _Values(
            np.full(nodes, target.scale),
            np.zeros(nodes),
            np.full(nodes, float(target.zero_point)),
            target,
        )

    def _schemes(
        self, layer: SummedLayer, seen: Observed, last: bool
    ) -> tuple[QuantizationScheme, QuantizationScheme]:
        # The answers have widths of their own: nothing would share their table.
        settings, function = self._settings, layer.function
        shared = not last and is_shared(function, settings.method, settings.share_tables)
        operand = _OPERANDS[settings.activations]
        bits, width, kind = _BITS, _BITS, operand
        if last:
            width, kind = _LOGITS[settings.logits]
        if last:
            # Cutting off a large answer would change which is the largest.
            target = _of_range(seen.values[:2], width, kind)
            if function == SOFTMAX:
                return target, target
            bits = _LAST_INDEX
        elif shared:
            target = _of_range(value_range(function), width, kind)
        else:
            target = _of_range(self._range(seen.values, width, kind), width, kind)
        if function == "linear":
            # What it makes of the codes of its sums are these.
            return target, target
        sums = seen.sums[:2]
        if settings.method.kind != "minmax":
            sums = sum_range(function, sums, target, shared=shared)
        return _of_range(sums, bits, operand), target

    def _range(self, seen: SeenNumbers, bits: int, operand: Operand) -> tuple[float, float]:
        method = self._settings.method
        return chosen_range(seen, method, lambda *ends: _of_range(ends, bits, operand))

    def _table(
        self, result: QuantizationScheme, function: str, target: QuantizationScheme
    ) -> int | None:
        made = transfer_table(result, "linear" if function == SOFTMAX else function, target)
        if made.is_identity and result.dtype == target.dtype:
            return None
        key = (made.values.dtype.str, made.values.tobytes())
        self.tables.setdefault(key, made.values)
        return list(self.tables).index(key)


def _read(layer: SummedLayer, operands: Sequence[_Values]) -> tuple[Array, Array, Array, list[int]]:
    """Steps, bases, zero points and largest codes of the values that a layer reads, in turn."""
    given = [(operands[a], slice(first, first + size)) for a, first, size in layer.sources]
    steps = np.concatenate([one.steps[part] for one, part in given])
    bases = np.concatenate([one.bases[part] for one, part in given])
    zero_points = np.concatenate([one.zero_points[part] for one, part in given])
    largest = [
        max(abs(one.codes.least), abs(one.codes.most))
        for (one, _), source in zip(given, layer.sources, strict=True)
        for _ in range(source.size)
    ]
    return steps, bases, zero_points, largest


def _of_range(values: tuple[float, float], bits: int, operand: Operand) -> QuantizationScheme:
    low, high = values
    if operand == "symmetric":
        return QuantizationScheme.symmetric(max(abs(low), abs(high)), bits)
    return QuantizationScheme.asymmetric(low, high, bits, operand)


def _feature_steps(
    layers: Sequence[SummedLayer],
    features: FeatureRanges,
    codes: QuantizationScheme,
    most: int,
) -> Array:
    """The step of each feature's codes: at least a code's part of its range.

    A weight is stored in units of the largest product of weight and step of its node, so that one
    feature of a wide range makes the weights of all others coarse.  Larger steps of these cost
    exactness of the feature, and give it to its weights: the errors of a sum that come of one
    feature, w * step and unit * x / step, are equal at ``best``.  How far to go there is tried,
    since units grow with steps.
    """
    own = (features.high - features.low) / (codes.size - 1)
    weights = _feature_weights(layers, len(own))
    with np.errstate(all="ignore"):  # Of squares beyond all numbers the least steps are taken.
        typical = np.sqrt(np.square(weights).mean(axis=0))
        unit = np.abs(weights * own).max(axis=1).mean() / most
        best = np.sqrt(np.divide(unit * features.above, typical, out=own * 0, where=typical > 0))
        best = np.where(own > 0, np.maximum(own, best), own)
        tried = [np.where(own > 0, own * (best / own) ** part, own) for part in _PARTS]
        errors = [_error_of_steps(weights, features.above, one, most) for one in tried]
    return tried[int(np.argmin(errors))]


def _feature_weights(layers: Sequence[SummedLayer], count: int) -> Array:
    """The weights [nodes, features] of every layer that reads features."""
    found = []
    for layer in layers:
        weights = np.zeros((len(layer.weights), count))
        at = 0
        for operand, first, size in layer.sources:
            if operand == 0:
                weights[:, first : first + size] += layer.weights[:, at : at + size]
            at += size
        if weights.any():
            found.append(weights)
    return np.concatenate([*found, np.zeros((1, count))])


def _error_of_steps(weights: Array, above: Array, steps: Array, most: int) -> float:
    """Twelve times the mean square error of sums that steps and the units of weights make."""
    units = np.abs(weights * steps).max(axis=1, keepdims=True) / most
    ratios = np.divide(above, steps, out=np.zeros_like(steps), where=steps > 0)
    return float((np.square(weights * steps) + np.square(units * ratios)).sum())


def _feature_codes(
    normalizer: Normalizer, low: Array, steps: Array, codes: QuantizationScheme
) -> FeatureCodes:
    """The normaliser and the scheme of each feature in one: it is ``low`` at the least code, and
    clipped where the normaliser clips it.

    A feature that never changes has the least code always.
    """
    offset, scale = normalizer.offset, normalizer.scale
    if normalizer.name == "none":
        offset, scale = np.zeros_like(offset), np.ones_like(scale)
    moves = (steps > 0) & (scale != 0)
    factor = np.divide(scale, steps, out=np.zeros_like(scale), where=moves)
    first = np.divide(low, scale, out=np.zeros_like(scale), where=moves)
    _, bound = normalizer.bounds()
    with np.errstate(invalid="ignore"):  # Nothing is at infinity where nothing moves.
        above = np.where(moves, (bound - offset) * scale - low, 0.0)
    room = np.divide(above, steps, out=np.zeros_like(scale), where=moves)
    most = np.minimum(rounded_up(room), codes.size - 1).astype(np.int64)
    return FeatureCodes(codes, offset + first, factor, most)
