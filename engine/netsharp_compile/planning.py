"""From a network and what calibration data shows to integers: schemes, weights and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.bundles import ConvolvedBundle, FilteredBundle, united
from netsharp_compile.calibrating.ranges import (
    chosen_range,
    is_shared,
    sum_range,
    value_range,
)
from netsharp_compile.formulas import formula_of
from netsharp_compile.integers import (
    FeatureCodes,
    IntegerBundle,
    IntegerLayer,
    IntegerNetwork,
    largest_sums,
    quantized_weights,
)
from netsharp_compile.layers import SOFTMAX, require_names
from netsharp_compile.refusal import CompileError
from netsharp_compile.rescaling import multipliers_of, powers_of_two, shifts_of
from netsharp_compile.schemes import QuantizationScheme, rounded_up
from netsharp_compile.tables import USUAL_BITS, transfer_table
from netsharp_compile.widths import (
    LOGIT_WIDTHS,
    WEIGHT_KINDS,
    OperandWidth,
    scheme_of_range,
)
from netsharp_engine.devices.footprint import BY_ENDS, LAST_INDEX_BITS

if TYPE_CHECKING:
    from netsharp_compile.bundles import Bundle, PooledBundle
    from netsharp_compile.calibrating.ranges import FeatureRanges, Observed, RangeMethod
    from netsharp_compile.formulas import FixedFormula
    from netsharp_compile.integers import Integers
    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.operators import Array
    from netsharp_compile.widths import CompileSettings, OperandWidth, WeightKind
    from netsharp_engine.data.normalizers import Normalizer

#: The most bits of features with one scheme, and the relative error of rounding, as a part of their
#: root mean square, at which no further bits are added: about the error of a layer of 8 bits.
_MOST_FEATURE_BITS, _ROUNDED = 12, 0.005
#: Parts of the way from the least steps of features to those of equal errors.
_PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)


def planned(
    layers: Sequence[SummedLayer],
    normalizer: Normalizer,
    features: FeatureRanges,
    seen: Sequence[Observed],
    settings: CompileSettings,
) -> IntegerNetwork:
    """Return a network in integers from the ranges of its normalised features and its layers.
    Raises CompileError, which names the layer, where its ranges have no scheme.
    """
    require_names(layers, dict(settings.layers))
    for layer, ranges in zip(layers, seen, strict=True):
        _require_numbers(layer.name, ranges)
    plan = _Plan(settings)
    width = OperandWidth.of(settings.features or settings.activations)
    bits = width.bits if settings.features else _feature_bits(layers, features, width.bits)
    codes = QuantizationScheme.affine(1.0, 0, bits, width.operand)
    read = _read_features(layers, normalizer, features, codes, WEIGHT_KINDS[settings.weights].most)
    operands = [read]
    for place, (layer, ranges) in enumerate(zip(layers, seen, strict=True)):
        try:
            operands.append(plan.add(layer, ranges, operands, last=place == len(layers) - 1))
        except ValueError as error:  # Schemes and tables do not know the layer.
            raise CompileError(f"'{layer.name}' on these rows: {error}") from None
    tables = tuple(plan.tables.values())
    return IntegerNetwork(_feature_codes(normalizer, read), tuple(plan.layers), tables)


def schemes_without_data(
    function: str, settings: CompileSettings, name: str, *, last: bool
) -> tuple[QuantizationScheme | str, QuantizationScheme | str]:
    """Return the schemes of a layer's sums and of its values as far as they follow from the
    operator alone, else a word for their kind and bits. Raises ValueError for an activation without
    an operator.
    """
    width = settings.width_of(name)
    word = f"{width}, range from data"
    if last:
        answers = f"{settings.logits}, range from data"
        if function in ("linear", SOFTMAX):
            return answers, answers
        return f"{width.kind}{max(width.index, LAST_INDEX_BITS)}, range from data", answers
    if not is_shared(function, settings.method, settings.share_tables):
        return word, word
    values = value_range(function)
    target, index_scheme = (width.covering(values, bits) for bits in (width.bits, width.index))
    if function in BY_ENDS and is_identity(function, target):
        return target, target
    sums = sum_range(function, (0.0, 0.0), index_scheme, shared=True)
    return width.covering(sums, width.index), target


def _require_numbers(name: str, ranges: Observed) -> None:
    for what, (low, high, _) in (("sums", ranges.sums), ("values", ranges.values)):
        if not (np.isfinite(low) and np.isfinite(high)):
            raise CompileError(
                f"'{name}' on these rows: its {what} go from {low:g} to {high:g}, which no code "
                "covers. Train with features that are normalised, or another activation."
            )


class _Values(NamedTuple):
    """The meaning of the codes of an operand, each [values]: (code - zero point) * step + base."""

    steps: Array
    bases: Array
    zero_points: Array
    codes: QuantizationScheme

    def of(self, bundle: Bundle) -> _Values:
        """Return those that a bundle reads."""
        part = slice(bundle.source.first, bundle.source.first + bundle.source.size)
        steps, bases, zero_points = self.steps[part], self.bases[part], self.zero_points[part]
        return _Values(steps, bases, zero_points, self.codes)

    @property
    def scheme(self) -> QuantizationScheme:
        """Return the scheme of the first, which all share where windows move over them."""
        scale, zero_point = float(self.steps[0]), int(self.zero_points[0])
        return replace(self.codes, scale=scale, zero_point=zero_point)


class _Plan:
    def __init__(self, settings: CompileSettings) -> None:
        self._settings = settings
        self.layers: list[IntegerLayer] = []
        #: By their type and bytes, so that equal tables are stored once.
        self.tables: dict[tuple[str, bytes], Integers] = {}

    def add(
        self, layer: SummedLayer, seen: Observed, operands: Sequence[_Values], *, last: bool
    ) -> _Values:
        """Add a layer, and return the scheme of its values."""
        given = [operands[part.bundle.source.operand].of(part.bundle) for part in layer.parts]
        result, target = self._schemes(layer, seen, last)
        if layer.pool is not None and layer.pool.largest:
            result = given[0].scheme  # The largest code is the code of the largest.
            target = target if last or layer.function != "linear" else result
        kind, requant = WEIGHT_KINDS[self._settings.weights], self._settings.requant
        raised = powers_of_two if kind.by_power else _as_they_are
        if layer.pool is not None:
            parts, biases, units = _pooled(layer.pool, given[0])
            if requant == "shift" and len(units) == 1 and not layer.pool.largest:
                # Steps are whole shifts of a mean's own: the next layer absorbs the rest.
                unit = max(float(units[0]), float(_shifted(np.array(result.scale), units[0])))
                if result.kind != "qmn" or unit == powers_of_two(np.array(unit)):
                    result, target = self._widened(layer, result, target, unit)
        else:
            if requant == "shift":
                *_, units = _weighted(layer, given, kind, raised)
                result, target = self._widened(layer, result, target, float(units.max()))
                raised = partial(_shifted, of=result.scale)
            parts, biases, units = _weighted(layer, given, kind, raised)
        table, formula = self._transfer(layer, result, target)
        channels = united([one.bundle for one in parts])
        bound = largest_sums(
            parts,
            biases if len(biases) == len(channels) and layer.pool is None else biases[channels],
            [_largest(values, part.zero) for values, part in zip(given, parts, strict=True)],
        )
        multipliers, shifts = multipliers_of(units / result.scale, bound)
        if requant != "mul":
            multipliers, shifts = shifts_of(units / result.scale) or (multipliers, shifts)
        if layer.pool is not None and layer.pool.largest:
            multipliers, shifts = np.ones(1, np.int64), np.zeros(1, np.int64)
        made = IntegerLayer(
            name=layer.name,
            function=layer.function,
            origin=layer.origin,
            parts=parts,
            biases=biases,
            multipliers=multipliers,
            shifts=shifts,
            result=result,
            table=table,
            target=target,
            bound=bound,
            formula=formula,
        )
        self.layers.append(made)
        nodes = made.nodes
        return _Values(
            np.full(nodes, target.scale),
            np.zeros(nodes),
            np.full(nodes, float(target.zero_point)),
            target,
        )

    def _schemes(
        self, layer: SummedLayer, seen: Observed, last: bool
    ) -> tuple[QuantizationScheme, QuantizationScheme]:
        settings, function = self._settings, layer.function
        width, method = settings.width_of(layer.name), settings.method
        if not last:
            return hidden_schemes(function, seen, width, method, share_tables=settings.share_tables)
        # The answers have widths of their own, so that no layer could share their table, and
        # clipping a large one could change which is the largest.
        target = scheme_of_range(seen.values[:2], *LOGIT_WIDTHS[settings.logits])
        if function in ("linear", SOFTMAX):
            return target, target
        sums, index = seen.sums[:2], max(LAST_INDEX_BITS, width.index)
        if method.kind != "minmax":
            sums = sum_range(function, sums, target, shared=False)
        return width.covering(sums, index), target

    def _widened(
        self,
        layer: SummedLayer,
        result: QuantizationScheme,
        target: QuantizationScheme,
        unit: float,
    ) -> tuple[QuantizationScheme, QuantizationScheme]:
        """Return the schemes with steps of sums that are not smaller than the sums' own."""
        if unit <= result.scale:
            return result, target
        wide = replace(result, scale=unit)
        if result.kind == "qmn":
            wide = replace(result, scale=float(powers_of_two(np.array(unit))))
        is_elided = result == target or layer.function in BY_ENDS
        return wide, wide if is_elided and result.size == target.size else target

    def _transfer(
        self, layer: SummedLayer, result: QuantizationScheme, target: QuantizationScheme
    ) -> tuple[int | None, FixedFormula | None]:
        """Return the number of a table, or a formula; neither where codes do not change."""
        operator = "linear" if layer.function == SOFTMAX else layer.function
        if operator == "linear" and result == target:
            return None, None
        made = transfer_table(result, operator, target, big_tables=True)
        if made.is_identity and result.dtype == target.dtype:
            return None, None
        if self._settings.transfer == "arith":
            return None, formula_of(operator, result, target)
        if result.bits > USUAL_BITS and not self._settings.big_tables:
            raise CompileError(
                f"'{layer.name}' is looked up by {result.bits} bits, in a table of {result.size:,} "
                f"entries: allow it with --big-tables (big_tables=True), or write a width such as "
                f"int{target.bits}/{USUAL_BITS}."
            )
        key = (made.values.dtype.str, made.values.tobytes())
        self.tables.setdefault(key, made.values)
        return list(self.tables).index(key), None


def is_identity(function: str, scheme: QuantizationScheme) -> bool:
    """Return whether clipping to the ends of codes has the effect of an operator. Raises ValueError
    for a function that is not an operator.
    """
    return transfer_table(scheme, function, scheme, big_tables=True).is_identity


def _as_they_are(scales: Array) -> Array:
    return scales


def _shifted(scales: Array, of: float) -> Array:
    """Return the least scales that are not smaller, of which another scale is a multiple by a power
    of two.
    """
    found: Array = of * powers_of_two(scales / of)
    return found


def hidden_schemes(
    function: str, seen: Observed, width: OperandWidth, method: RangeMethod, *, share_tables: bool
) -> tuple[QuantizationScheme, QuantizationScheme]:
    """Return the schemes of a hidden layer's sums and of its values. Raises ValueError for an
    activation without an operator.
    """
    shared = is_shared(function, method, share_tables)
    if shared:
        values = value_range(function)
    else:
        values = chosen_range(seen.values, method, lambda *ends: width.covering(ends, width.bits))
    target = width.covering(values, width.bits)
    if method.kind == "minmax":
        return width.covering(seen.sums[:2], width.index), target
    if function in BY_ENDS and is_identity(function, target):
        return target, target
    # More codes than those of the sums would not be distinguished.
    index_scheme = width.covering(values, width.index)
    sums = sum_range(function, seen.sums[:2], index_scheme, shared=shared)
    return width.covering(sums, width.index), target


def _weighted(
    layer: SummedLayer,
    given: Sequence[_Values],
    kind: WeightKind,
    raised: Callable[[Array], Array],
) -> tuple[tuple[IntegerBundle, ...], Integers, Array]:
    """Return bundles in integers, biases [nodes or channels], and the meaning of a sum's step
    [channels].
    """
    scaled, based = [], layer.biases
    for (bundle, weights), values in zip(layer.parts, given, strict=True):
        scaled.append((bundle, weights * values.steps[bundle.places]))
        if values.bases.any():
            based = based + bundle.sums(values.bases[None], weights)[0]
    biases: Integers
    whole, biases, units = quantized_weights(scaled, based, kind.most, kind.by_node, raised)
    parts = []
    for (bundle, _), values, numbers in zip(layer.parts, given, whole, strict=True):
        if isinstance(bundle, FilteredBundle):
            bundle, numbers = bundle.without(numbers == 0), numbers[numbers != 0]
        zero = 0
        if isinstance(bundle, ConvolvedBundle) and bundle.padded:
            zero = int(values.zero_points[0])  # Cells outside the borders do not have it.
        else:
            zeros = values.zero_points.astype(np.int64)[None]
            biases = biases - bundle.sums(zeros, numbers)[0]
        stored: Integers = numbers.astype(np.int8 if kind.most == 127 else np.int16)
        parts.append(IntegerBundle(bundle, stored, zero))
    channels = united([one.bundle for one in parts])
    _, firsts = np.unique(channels, return_index=True)
    if np.array_equal(biases[firsts][channels], biases):
        biases = biases[firsts]
    return tuple(parts), biases, units[firsts]


def _pooled(
    pool: PooledBundle, values: _Values
) -> tuple[tuple[IntegerBundle, ...], Integers, Array]:
    """Return the same of a pool: a channel for each number of values that a window may have."""
    counts = np.arange(1, pool.taps + 1) if pool.padded else np.array([pool.taps])
    if pool.largest:
        counts = np.ones(1, np.int64)
    biases = counts * -int(values.zero_points[0])
    return (IntegerBundle(pool, np.zeros(0, np.int8)),), biases, values.steps[0] / counts


def _largest(values: _Values, zero: int) -> Integers:
    """Return the largest magnitude of each value that a bundle reads [values]."""
    most = max(abs(values.codes.least - zero), abs(values.codes.most - zero))
    return np.full(len(values.steps), most)


def _read_features(
    layers: Sequence[SummedLayer],
    normalizer: Normalizer,
    features: FeatureRanges,
    codes: QuantizationScheme,
    most: int,
) -> _Values:
    """Return the meaning of the features' codes: each feature has its own, but an input over which
    a window moves has one scheme, in which the zero outside its borders is a code.
    """
    own = (features.high - features.low) / (codes.size - 1)
    if normalizer.name == "binning":  # There are no values between two bins.
        steps = np.where(own > 0, np.maximum(own, _bin_width(normalizer)), own)
    else:
        steps = _feature_steps(layers, features.above, own, most)
    bases, zero_points = features.low - codes.least * steps, np.zeros_like(steps)
    for part, ends in _walked_features(layers, features):
        one = scheme_of_range(ends, codes.bits, codes.operand)
        steps[part], bases[part], zero_points[part] = one.scale, 0.0, one.zero_point
    return _Values(steps, bases, zero_points, codes)


def _walked_features(
    layers: Sequence[SummedLayer], features: FeatureRanges
) -> Iterator[tuple[slice, tuple[float, float]]]:
    """Yield the features over which a window moves, an input at a time, and their range."""
    for bundle in (part.bundle for layer in layers for part in layer.parts):
        if bundle.source.operand == 0 and bundle.alike:
            part = slice(bundle.source.first, bundle.source.first + bundle.source.size)
            yield part, (float(features.low[part].min()), float(features.high[part].max()))


def _feature_bits(layers: Sequence[SummedLayer], features: FeatureRanges, bits: int) -> int:
    """Return the number of bits of the features' codes: more than ``bits`` where one scheme is
    shared by features of which some have far wider ranges than most, as after a normalisation of
    each.
    """
    for part, (low, high) in _walked_features(layers, features):
        typical = float(np.sqrt(np.square(features.above[part]).mean()))
        while bits < _MOST_FEATURE_BITS and high - low > _ROUNDED * typical * 12**0.5 * 2**bits:
            bits += 1
    return bits


def _feature_steps(layers: Sequence[SummedLayer], above: Array, own: Array, most: int) -> Array:
    """Return the step of each feature's codes [features]: at least ``own``, a code's part of its
    range.

    A weight is stored in units of the largest product of weight and step of its node, so that one
    feature of a wide range makes the weights of all others coarse.  Larger steps of these cost
    exactness of the feature, and give it to its weights: the errors of a sum that come of one
    feature, w * step and unit * x / step, are equal at ``best``.  How far to go there is tried,
    since units grow with steps.
    """
    read = _FeatureWeights(layers, len(own), most)
    with np.errstate(all="ignore"):  # Where squares overflow the least steps are taken.
        typical = np.sqrt(read.squares / (read.nodes + 1))
        unit = read.units(own).sum() / (read.nodes + 1)
        best = np.sqrt(np.divide(unit * above, typical, out=own * 0, where=typical > 0))
        best = np.where(own > 0, np.maximum(own, best), own)
        tried = [np.where(own > 0, own * (best / own) ** part, own) for part in _PARTS]
        errors = [read.error(above, one) for one in tried]
    return tried[int(np.argmin(errors))]


class _FeatureWeights:
    """The weights with which layers read features, each by a scheme of its own."""

    def __init__(self, layers: Sequence[SummedLayer], count: int, most: int) -> None:
        self._layers = [
            (len(layer.biases), parts)
            for layer in layers
            if (parts := [one for one in layer.parts if _reads_apart(one.bundle)])
        ]
        self._most = most
        self.nodes = sum(nodes for nodes, _ in self._layers)
        #: The sum of squares over all nodes, by feature.
        self.squares = np.zeros(count)
        for bundle, weights in (part for _, parts in self._layers for part in parts):
            first, size = bundle.source.first, bundle.source.size
            places = np.broadcast_to(bundle.places, weights.shape).reshape(-1)
            with np.errstate(all="ignore"):
                found = np.bincount(places, np.square(weights).reshape(-1), size)
            self.squares[first : first + size] += found

    def units(self, steps: Array) -> Array:
        """Return the unit of each node's weights [nodes] with such steps."""
        found = []
        for nodes, parts in self._layers:
            largest = np.zeros(nodes)
            for bundle, weights in parts:
                first, size = bundle.source.first, bundle.source.size
                sizes = np.abs(weights * steps[first : first + size][bundle.places])
                by_owner = sizes.max(axis=1) if sizes.ndim > 1 else sizes
                np.maximum.at(largest, bundle.owners.reshape(-1), by_owner)
            found.append(largest / self._most)
        return np.concatenate([*found, np.zeros(0)])

    def error(self, above: Array, steps: Array) -> float:
        """Return twelve times the mean square error of sums that is caused by steps and the units
        of weights.
        """
        ratios = np.divide(above, steps, out=np.zeros_like(steps), where=steps > 0)
        rounding = np.square(self.units(steps)).sum() * np.square(ratios).sum()
        return float((self.squares * np.square(steps)).sum() + rounding)


def _reads_apart(bundle: Bundle) -> bool:
    """Return whether a bundle reads features, each with a scheme of its own."""
    return bundle.source.operand == 0 and not bundle.alike


def _bin_width(normalizer: Normalizer) -> Array:
    """Return the distance from one bin to the next for each feature [features]; 0 where there is
    one bin.
    """
    counts = np.array([len(edges) for edges in normalizer.edges], np.float64)
    return np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0)


def _feature_codes(normalizer: Normalizer, read: _Values) -> FeatureCodes:
    """Return the normaliser and the scheme of each feature as one encoding, clipped where the
    normaliser clips.  A constant feature has a single code.
    """
    codes, steps = read.codes, read.steps
    low = read.bases + (codes.least - read.zero_points) * steps
    offset, scale = normalizer.offset, normalizer.scale
    if normalizer.name == "none":
        offset, scale = np.zeros_like(offset), np.ones_like(scale)
    if normalizer.name == "binning":
        scale = _bin_width(normalizer)
    moves = (steps > 0) & (scale != 0)
    factor = np.divide(scale, steps, out=np.zeros_like(scale), where=moves)
    first = np.divide(low, scale, out=np.zeros_like(scale), where=moves)
    with np.errstate(invalid="ignore"):  # Infinite bounds times 0.
        ends = [np.where(moves, (end - offset) * scale, 0.0) - low for end in normalizer.bounds()]
    room = [np.divide(one, steps, out=np.zeros_like(scale), where=steps > 0) for one in ends]
    lowest, most = (np.clip(rounded_up(one), 0, codes.size - 1).astype(np.int64) for one in room)
    edges = normalizer.edges if normalizer.name == "binning" else ()
    return FeatureCodes(codes, offset + first, factor, lowest, most, edges)
