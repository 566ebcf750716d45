"""Measures the time of each kind of work on this machine, in a second or two.

Every probe is a call like those of plans, whose work ``working`` derives; it must not know where
rates are kept, nor predictions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.analysis import Analysis
from netsharp_engine.dropping import Draw
from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend.build import DTYPES, bind_all
from netsharp_engine.numpy_backend.costing.rates import CallWork, Rate
from netsharp_engine.numpy_backend.costing.working import work_of
from netsharp_engine.numpy_backend.design import Design
from netsharp_engine.numpy_backend.kernels import compiled, functions, products
from netsharp_engine.numpy_backend.kernels.activations import FUNCTIONS
from netsharp_engine.numpy_backend.kernels.arrays import Array, aligned
from netsharp_engine.numpy_backend.kernels.dropping import draw_mask
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_engine.numpy_backend.kernels.site import Call, Site, Slot, Tensor
from netsharp_engine.numpy_backend.kernels.transfers import bind_transfer
from netsharp_engine.numpy_backend.losses import LOSSES, LossArrays
from netsharp_engine.numpy_backend.updates import KINDS, bind_optimizer
from netsharp_engine.program import UpdateRule

#: The sides of products, and numbers of a pass: in the nearest cache, in the next, beyond it.
SIDES = (8, 32, 128, 512)
SIZES = (1120, 17_920, 268_800, 1_505_280)
#: The lengths of contiguous runs of numbers.
RUNS = (8, 32, 160, 1120)
#: Maps and their sides, of what is walked in windows.
MAPS = ((2, 4), (8, 8), (32, 16), (48, 32))
#: A size at which the time is that of the call.
TINY, SMALL = 8, (2, 2, 16)
#: The most seconds that are measured, in rounds, and those for which a probe is repeated in each:
#: some ten times the resolution of a fine clock.
MOST_SECONDS, REPEATED = 1.3, 2e-5
LEAST_ROUNDS = 2
#: The resolution in seconds from which a clock is fine: shorter than a probe's repetitions.
FINE = 1e-6
SAMPLES = 32
#: The most numbers of outputs, which are few.
MOST_OUTPUTS = SIZES[1]
#: Numbers between the runs of what is walked.
PADDED = 8
#: A response normalisation with beta = 3/4, which has its own, faster calls.
NORM: dict[str, Any] = {"alpha": 0.001, "beta": 0.75, "offset": 1.0, "over_full_kernel": True}
#: The usual constants of the rules: Zeiler (2012) for AdaDelta, Kingma and Ba (2015) for Adam.
CONSTANTS = {
    "decay": 0.95,
    "constant": 1e-6,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,  # as above
}


class Probe(NamedTuple):
    """A call and its work; of a call with hardly any numbers only its overhead is measured."""

    call: Call
    work: CallWork
    tiny: bool


def measured_rates(dtype: str = "float32") -> dict[str, Rate]:
    """Measure the rate of every kind, with as many threads as products have now.

    Each is timed several times, as far apart as can be: others use the machine, too.
    """
    probes = made_probes(dtype)
    return rates_of(probes, _timed(probes, _clock()))


def made_probes(dtype: str) -> list[Probe]:
    """Return the probes of a type of numbers."""
    return [Probe(call, work_of(call), tiny) for call, tiny in _Maker(DTYPES[dtype]).calls()]


def _clock() -> Callable[[], float]:
    """Return a clock in seconds that counts this thread's time alone, where there is a fine one."""
    fine = time.get_clock_info("thread_time").resolution <= FINE
    return time.thread_time if fine else time.perf_counter


def _timed(probes: Sequence[Probe], clock: Callable[[], float]) -> list[float]:
    """Return the seconds of each probe: the lower quartile over all rounds, the first left out.

    There are at least two rounds, and more for as long as there is time.
    """
    end = time.perf_counter() + MOST_SECONDS
    seen: list[list[float]] = [[] for _ in probes]
    repeats = [1] * len(probes)
    rounds = 0
    with np.errstate(all="ignore"):
        while rounds < LEAST_ROUNDS or time.perf_counter() < end:
            for place, (call, _, _) in enumerate(probes):
                if rounds >= LEAST_ROUNDS and time.perf_counter() > end:
                    break
                count = repeats[place]
                if count > 1 or not rounds:
                    call()  # Earlier probes have evicted it from the caches.
                start = clock()
                for _ in range(count):
                    call()
                seconds = (clock() - start) / count
                seen[place].append(seconds)
                repeats[place] = max(1, int(REPEATED / max(seconds, 1e-9)))  # not by 0
            rounds += 1
    return [sorted(each[1:])[(len(each) - 1) // 4] for each in seen]


def rates_of(probes: Sequence[Probe], taken: Sequence[float]) -> dict[str, Rate]:
    """Return rates of the kinds that were probed, from the seconds of each probe: the smallest
    probe gives the time of a call.
    """
    calls: dict[str, float] = {}
    points: dict[str, dict[tuple[float, ...], tuple[float, float]]] = {}
    for (_, work, tiny), seconds in zip(probes, taken, strict=True):
        if tiny:
            calls[work.kind] = seconds
        else:
            points.setdefault(work.kind, {})[work.sizes] = (seconds, work.units)
    return {kind: _rate(calls[kind], found) for kind, found in points.items()}


def _rate(call: float, points: Mapping[tuple[float, ...], tuple[float, float]]) -> Rate:
    axes = tuple(tuple(sorted(set(axis))) for axis in zip(*points, strict=True))
    units = []
    for place in product(*axes):
        seconds, count = points[place]
        units.append(max(seconds - call, seconds / 10) / count)
    return Rate(call, axes, tuple(units))


class _Maker:
    """Makes the calls to measure, on a few arrays that all of them share."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        random = np.random.default_rng(0)
        self._arrays = [aligned((SIZES[-1] * 2,), dtype) for _ in range(6)]
        for array in self._arrays:
            # Away from 0, so that no quotient or root is special.
            array[...] = np.resize(random.uniform(0.1, 1.1, 4096), array.shape)

    def calls(self) -> Iterator[tuple[Call, bool]]:
        """Yield all calls, each with whether it has hardly any numbers."""
        for sides in (SMALL, *product(SIDES, repeat=3)):
            yield from ((call, sides is SMALL) for call in self._products(*sides))
        for size in (TINY, *SIZES):
            for call in self._passes(size):
                yield call, size == TINY
        for run, size in ((2, TINY), *product(RUNS, SIZES)):
            for call in self._walks(run, size):
                yield call, size == TINY
        for maps, side, samples in ((1, 2, 1), *((*one, SAMPLES) for one in MAPS)):
            for call in self._windows(maps, side, samples):
                yield call, samples == 1

    def _array(self, number: int, *shape: int) -> Array:
        return self._arrays[number][: prod(shape)].reshape(shape)

    def _products(self, rows: int, depth: int, columns: int) -> Iterator[Call]:
        """Yield products with sources as they are in memory, or transposed, by numpy and by the
        twin.
        """
        left, right = self._array(0, rows, depth), self._array(1, depth, columns)
        out = self._array(2, rows, columns)
        turned_left, turned_right = self._array(3, depth, rows).T, self._array(4, columns, depth).T
        for pair in ((left, right), (turned_left, right), (left, turned_right)):
            yield partial(np.matmul, *pair, out)
            if products.has_twin():
                yield products.compiled(*pair, out)

    def _passes(self, size: int) -> Iterator[Call]:
        """Yield calls whose time is proportional to their numbers."""
        samples = 2 if size == TINY else SAMPLES
        shape = (size // samples, samples)
        line, flat = self._array(5, samples), self._array(0, size)
        x, y, spare, gradient, out = (self._array(number, *shape) for number in range(5))
        for name, row in FUNCTIONS.items():
            made = x if row.keeps == "output" and name != "linear" else y
            yield partial(row.forward, x, made, spare, line)
            if functions.takes(name):
                yield functions.applied(name, x, made)
            twin = compiled.slope(name, self.dtype)
            yield (
                partial(twin, x, gradient, out)
                if twin
                else partial(row.backward, x, gradient, out, spare, line)
            )
        for ufunc in (np.divide, np.sqrt, np.reciprocal):
            yield partial(ufunc, *(x, gradient)[: ufunc.nin], out)
        # A power that is not a multiple of 1/4, which is computed by roots.
        yield partial(np.power, x, self.dtype(-0.6), out)
        for loss in LOSSES.values() if size <= MOST_OUTPUTS else ():
            arrays = LossArrays(x, y, gradient, out, line, line, spare, self._array(5, samples))
            yield partial(loss.fused, arrays)
            yield partial(loss.plain, arrays)
        yield partial(flat.fill, 0.5)
        yield partial(np.matmul, x, line, self._array(3, size // samples))
        yield partial(np.dot, flat, flat)
        yield partial(np.copyto, y, self._array(3, samples, size // samples).T)
        yield partial(np.add, y, self._array(3, samples, size // samples).T, y)
        drawn, rate = self._array(1, samples, size // samples), {"number": 0, "rate": 0.5}
        made = self._array(0, size // samples, samples)
        yield partial(draw_mask, rate, made, made, drawn, None, Draw((1, 2), 3), samples)
        pair = self._array(0, 2, size // samples // 2, samples)
        made = self._array(3, samples, size // samples // 2).T
        yield partial(np.add.reduce, pair, 0, None, made)
        places = np.arange(size - 1, -1, -1)
        yield partial(np.put, self._array(1, size), places, flat)
        yield partial(np.take, self._array(1, size), places, None, flat, "clip")
        yield from self._looked_up(shape)
        yield from self._updates(size)

    def _looked_up(self, shape: tuple[int, int]) -> Iterator[Call]:
        """Yield the calls of a layer of tanh that is looked up in a table of 256 values."""
        table = self._array(5, 2 + 256)
        source, out = (
            Tensor(self._array(n, *shape), self._array(n + 1, *shape), Layout(shape[:1]))
            for n in (0, 2)
        )
        slots = (Slot(np.ones(2, self.dtype), None), Slot(table, None))
        site = Site({"function": "tanh"}, (source,), out, slots, self.dtype, shape[1])
        steps = bind_transfer(site)
        yield from (*steps.forward, *steps.backward)

    def _windows(self, maps: int, side: int, samples: int) -> Iterator[Call]:
        """Yield the calls of pools and response normalisation after a convolution, where they have
        twins.
        """
        if not compiled.takes_norm(NORM["beta"]):
            return
        walked = (Axis(maps, 1), Axis(side, 2, 2), Axis(side, 2, 2))
        across = (Axis(maps, min(3, maps), padding=True), Axis(side, 1), Axis(side, 1))
        for op, axes in (("max pool", walked), ("mean pool", walked), ("response norm", across)):
            graph = Graph()
            image = graph.input("image", (1, side, side))
            kernels = graph.parameter("kernels", (maps, 2), kind="kernels")
            seen = (Axis(1, 1), Axis(side, 1), Axis(side, 1))
            made = graph.apply(
                "convolve",
                image,
                parameters=[kernels],
                axes=seen,
                sharing=(True,) * 3,
                maps=(maps, 1, 1),
            )
            node = graph.apply(op, made, axes=axes, **NORM)
            graph.set_output(node)
            design = Design(
                Analysis(graph.with_criteria("squared error"), True),
                samples,
                np.dtype(self.dtype).name,
            )
            steps = bind_all(design)[0][node]
            yield from (*steps.forward, *steps.backward)

    def _updates(self, size: int) -> Iterator[Call]:
        """Yield a step of each rule, over ``size`` weights."""
        for kind in KINDS:
            optimizer = bind_optimizer(_Weights(self._array(0, size), self._array(1, size)), kind)
            # A rate so low that repeated updates leave the weights' magnitude unchanged.
            yield partial(optimizer.update, UpdateRule(kind, 1e-9, 0.5, constants=CONSTANTS))

    def _walks(self, run: int, size: int) -> Iterator[Call]:
        """Yield calls that walk memory in runs: passes over parts of arrays, and gathered rows."""
        shape = (size // run, run)
        first, second, third = (
            self._array(number, shape[0], run + PADDED)[:, :run] for number in range(3)
        )
        column = self._array(4, shape[0], 1)
        yield partial(np.add, first, second, first)
        yield partial(np.add, self._array(5, *shape), column, self._array(5, *shape))
        yield partial(np.copyto, third, first)
        stacked, sums = self._array(0, 1, *shape), self._array(3, 1, run)
        yield partial(np.add.reduce, stacked, 1, None, sums)
        places = np.arange(shape[0] - 1, -1, -1)
        values, made = self._array(1, *shape), self._array(2, *shape)
        yield partial(np.take, values, places, 0, made, "clip")
        yield partial(values.__setitem__, places, made)


class _Weights:
    """The part of a plan that an optimiser needs."""

    def __init__(self, trained: Array, gradient: Array) -> None:
        self.trained, self.gradient = trained, gradient

    def incoming(self) -> list[Array]:
        """Return the views for a norm: none, since no norm is limited here."""
        return []
