"""Which real numbers the codes of each layer have to cover, from what calibration data shows.

Two passes over the data: ends, then a histogram between them where a method asks for one.  Knows no
weights in integers and no code for a device. Source of minmax and percentile: Krishnamoorthi,
"Quantizing deep convolutional networks for efficient inference" (2018), and Wu et al., "Integer
quantization for deep learning inference" (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.layers import SOFTMAX, values_of
from netsharp_compile.operators import chain_of
from netsharp_compile.refusal import CompileError
from netsharp_engine.activations import ACTIVATIONS

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.operators import Array
    from netsharp_compile.schemes import QuantizationScheme

#: Operators with the same table in every layer, and the magnitude of operands beyond which float64
#: gives their limit.
BOUNDED = {"sigmoid": 40.0, "tanh": 20.0, "brlinear": 2.0}
#: How ranges are chosen, the default first; ``percentile:99.9`` has the percentage after it.
RANGES = ("operator", "minmax", "percentile", "mse")
USUAL_PERCENT = 99.9
#: The points at which an operator is evaluated to find where it changes, a quarter of the codes of
#: 16 bits; and the bins of histograms, eight for each code of 8 bits.
_POINTS = 1 << 14
_BINS = 2048
#: The parts of a range that are tried for the least error, in steps of 1 %.
_TRIED = np.linspace(0.05, 1.0, 96)
#: The number of them, the best by an estimate, that are evaluated with codes.
_CANDIDATES = 64
#: The least normal float32: smaller numbers are flushed to 0 on most devices, and here.
_TINY = float(np.finfo(np.float32).tiny)


class RangeMethod(NamedTuple):
    """The method that chooses ranges from observed numbers.

    Of values ``operator`` and ``minmax`` take the whole range; ``percentile`` a given percentage,
    cutting both ends; ``mse`` the range with the least mean square error of codes.  Of sums
    ``minmax`` takes the whole range, the others the part where the operator still changes the code
    of the result.
    """

    kind: str
    percent: float = 100.0

    @classmethod
    def of(cls, text: str) -> RangeMethod:
        """Return the method that a text names; CompileError for one that names none."""
        kind, _, percent = text.partition(":")
        if kind == "percentile":
            try:
                found = float(percent or USUAL_PERCENT)
            except ValueError:
                found = 0.0
            if 50 < found <= 100:
                return cls(kind, found)
        elif kind in RANGES and not percent:
            return cls(kind)
        raise CompileError(
            "The range of numbers is chosen by operator, minmax, percentile:P with P above 50 and "
            f"up to 100, or mse; {text!r} is none of them."
        )

    @property
    def asks_for_counts(self) -> bool:
        """Return whether it needs a histogram."""
        return self.kind in ("percentile", "mse")


class SeenNumbers(NamedTuple):
    """The least and the largest number observed, and a histogram of equal bins between them; None
    where no counts were made.
    """

    low: float
    high: float
    counts: npt.NDArray[np.int64] | None = None


class Observed(NamedTuple):
    """The observed numbers of a layer's sums and of its values."""

    sums: SeenNumbers
    values: SeenNumbers

    @property
    def is_constant(self) -> bool:
        """Return whether its values are the same in all rows and nodes."""
        return self.values.low == self.values.high


class FeatureRanges(NamedTuple):
    """The least and the largest of each feature [features], the root of the mean square of how far
    it lies above its least, and how many rows were seen.
    """

    low: Array
    high: Array
    above: Array
    rows: int


def observed(
    layers: Sequence[SummedLayer], blocks: Callable[[], Iterable[Array]], method: RangeMethod
) -> tuple[FeatureRanges, list[Observed]]:
    """Return the observed ranges of the features and of each layer.

    ``blocks`` gives normalised features [rows, features], all of them numbers, in parts, whenever
    it is called. Raises ValueError for an activation without an operator.
    """
    ends = np.array([[[np.inf, -np.inf]] * 2] * len(layers))
    moments: Array | None = None
    rows = 0
    for block in blocks():
        fresh = np.stack(
            [-block.min(axis=0), block.max(axis=0), block.sum(axis=0), np.square(block).sum(axis=0)]
        )
        rows += len(block)
        if moments is None:
            moments = fresh
        else:
            moments = np.concatenate([np.maximum(moments, fresh)[:2], (moments + fresh)[2:]])
        for place, pair in enumerate(values_of(layers, block)):
            for kept, found in zip(ends[place], pair, strict=True):
                # NaN is kept, unlike by Python's min.
                kept[:] = np.minimum(kept[0], found.min()), np.maximum(kept[1], found.max())
    assert moments is not None
    least, most, mean, square = -moments[0], moments[1], moments[2] / rows, moments[3] / rows
    above = np.sqrt(np.maximum(square - 2 * least * mean + least * least, 0))
    ends = np.where(np.abs(ends).max(axis=2, keepdims=True) < _TINY, 0.0, ends)
    counts: Sequence[npt.NDArray[np.int64] | None] = [None] * len(layers)
    if method.asks_for_counts and np.isfinite(ends).all():
        counts = list(_counted(layers, blocks(), ends[:, 1]))
    seen = [
        Observed(SeenNumbers(*sums), SeenNumbers(low, high, counted))
        for (sums, (low, high)), counted in zip(ends.tolist(), counts, strict=True)
    ]
    return FeatureRanges(least, most, above, rows), seen


def _counted(
    layers: Sequence[SummedLayer], blocks: Iterable[Array], ends: Array
) -> npt.NDArray[np.int64]:
    """Return a histogram of the values of each layer [layers, bins], in equal bins between their
    least and largest.
    """
    counts = np.zeros((len(layers), _BINS), np.int64)
    for block in blocks:
        for place, (_, found) in enumerate(values_of(layers, block)):
            low, high = ends[place]
            if high > low:
                counts[place] += np.histogram(found, _BINS, (low, high))[0]
    return counts


def chosen_range(
    seen: SeenNumbers,
    method: RangeMethod,
    scheme_of: Callable[[float, float], QuantizationScheme],
) -> tuple[float, float]:
    """Return the part of the observed range that codes should cover; ``scheme_of`` makes codes."""
    low, high, counts = seen
    if counts is None or not high > low:
        return low, high
    edges = np.linspace(low, high, _BINS + 1)
    if method.kind == "percentile":
        shares = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
        rest = (1 - method.percent / 100) / 2
        first = int(np.searchsorted(shares, rest, side="right")) - 1
        last = int(np.searchsorted(shares, 1 - rest, side="left"))
        return float(edges[max(first, 0)]), float(edges[min(last, _BINS)])
    centers = (edges[:-1] + edges[1:]) / 2

    def error(ends: tuple[float, float]) -> float:
        scheme = scheme_of(*ends)
        return float(np.square(scheme.dequantize(scheme.quantize(centers)) - centers) @ counts)

    return min(_likely(edges, counts, scheme_of(low, high)), key=error)


def _likely(
    edges: Array, counts: npt.NDArray[np.int64], whole: QuantizationScheme
) -> list[tuple[float, float]]:
    """Return the whole range, then parts of it with a small error by an estimate: a twelfth of a
    step's square for each rounded value, and the squares of what is cut off.
    """
    centers = (edges[:-1] + edges[1:]) / 2
    lows, highs = min(edges[0], 0.0) * _TRIED, max(edges[-1], 0.0) * _TRIED
    # 0 is a code: values of 0, such as most of a rectifier, have no error.
    rounded = np.where((edges[:-1] <= 0) & (edges[1:] >= 0), 0, counts)
    cut_low, out_low = _cut(centers, counts, rounded, lows[:, None] - centers)
    cut_high, out_high = _cut(centers, counts, rounded, centers - highs[:, None])
    widths = highs - lows[:, None]
    if whole.operand == "symmetric":
        widths = 2 * np.maximum(-lows[:, None], highs)
    inside = rounded.sum() - out_low[:, None] - out_high
    errors = cut_low[:, None] + cut_high + inside * np.square(widths / (whole.size - 1)) / 12
    best = np.argsort(errors, axis=None, kind="stable")[:_CANDIDATES].tolist()
    places = (divmod(place, errors.shape[1]) for place in best)
    parts = [(float(lows[first]), float(highs[last])) for first, last in places]
    return [(float(edges[0]), float(edges[-1])), *parts]


def _cut(
    centers: Array, counts: npt.NDArray[np.int64], rounded: npt.NDArray[np.int64], beyond: Array
) -> tuple[Array, Array]:
    """Return for each end [tried] the sum of the squares of what lies ``beyond`` it [tried, bins],
    and the number of values there that would otherwise be rounded.
    """
    out = np.maximum(beyond, 0.0)
    return np.square(out) @ counts, (out > 0).astype(np.float64) @ rounded


def is_shared(function: str, method: RangeMethod, share_tables: bool) -> bool:
    """Return whether a layer has the range that all layers of its operator share."""
    return share_tables and method.kind == "operator" and function in BOUNDED


def value_range(function: str) -> tuple[float, float]:
    """Return all that a bounded operator gives, for layers that share its table."""
    return ACTIVATIONS[function].range


def sum_range(
    function: str, seen: tuple[float, float], target: QuantizationScheme, *, shared: bool
) -> tuple[float, float]:
    """Return the range of the codes of a layer's sums: where the operator still changes the result
    by more than half a code, within the observed range and that of the result's codes; for a
    bounded operator with a shared table, wherever it changes. Raises ValueError for an activation
    without an operator.
    """
    if function == SOFTMAX:
        return seen
    low, high = seen
    if shared:
        low, high = -BOUNDED[function], BOUNDED[function]
    points = np.linspace(low, high, _POINTS)
    (operator,) = chain_of(function)
    with np.errstate(all="ignore"):
        found = np.clip(operator.values(points), *target.dequantize([target.least, target.most]))
    moved_low = np.abs(found - found[0]) > target.scale / 2
    moved_high = np.abs(found - found[-1]) > target.scale / 2
    if not moved_low.any():
        return low, high
    # The outermost points between which the operator changes.
    first = max(int(moved_low.argmax()) - 1, 0)
    last = min(_POINTS - int(moved_high[::-1].argmax()), _POINTS - 1)
    return float(points[first]), float(points[last])


#: Below this number of rows a doubt is reported, and how many names a doubt lists.
FEW_ROWS = 32
_SHOWN = 3


def doubts_of(
    names: Sequence[str],
    features: FeatureRanges,
    layers: Sequence[SummedLayer],
    seen: Sequence[Observed],
) -> Iterator[str]:
    """Yield sentences on features that never changed in the rows; ``names`` are theirs."""
    if features.rows < FEW_ROWS:
        many = "One row was" if features.rows == 1 else f"{features.rows} rows were"
        yield f"{many} given: a hundred or more show what a device will see."
    if features.rows == 1:
        return
    same = (features.low == features.high).tolist()
    constant = [name for name, is_same in zip(names, same, strict=True) if is_same]
    if constant:
        shown = ", ".join(f"'{name}'" for name in constant[:_SHOWN])
        more = f" and {len(constant) - _SHOWN} more" if len(constant) > _SHOWN else ""
        yield (
            f"{shown}{more} never changed in these rows: a device takes every number there for "
            "that one."
        )
    for layer, one in zip(layers, seen, strict=True):
        if one.is_constant and any(part.weights.any() for part in layer.parts):
            yield (
                f"'{layer.name}' had the same value in all rows: its range is not known, and other "
                "values would be cut off. Give rows that reach it."
            )
