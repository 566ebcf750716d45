"""A plan in shards: the rows of a batch cut into parts that threads compute at the same time.

Each shard is a plan of its own with the same weights; gradients are added in the order of the
shards, so that the same number of them gives the same bits. An idle thread sleeps and does not
spin.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np

from netsharp_engine.analysis import Analysis
from netsharp_engine.dropping import Draw
from netsharp_engine.graph import GraphError, Node
from netsharp_engine.numpy_backend.kernels import KERNELS
from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.site import Call
from netsharp_engine.numpy_backend.running import Plan
from netsharp_engine.numpy_backend.vectors import Vectors

#: Numbers of a gradient that are added at once, so that they stay in the cache; fewer altogether
#: are added by one thread.
BLOCK = 1 << 14


class Errand:
    """One call that the first free thread makes.

    ``taken`` is locked from then on, ``done`` until it was made; ``error`` is the exception that it
    raised.
    """

    __slots__ = ("call", "done", "error", "taken")

    def __init__(self, call: Call) -> None:
        self.call = call
        self.error: BaseException | None = None
        self.taken, self.done = threading.Lock(), threading.Lock()
        self.done.acquire()

    def make(self) -> None:
        """Make the call, unless another thread has taken it."""
        if not self.taken.acquire(blocking=False):
            return
        try:
            with np.errstate(all="ignore"):
                self.call()
        except BaseException as error:  # the waiting thread raises it
            self.error = error
        finally:
            self.done.release()


class Team:
    """Threads that make calls beside the calling thread, and end with the object that they work
    for.
    """

    def __init__(self, others: int) -> None:
        self._others = others
        self._process = 0
        self._queues: list[SimpleQueue[Errand | None]] = []

    def together(self, calls: Sequence[Call]) -> None:
        """Make calls concurrently; raise the exception of the first that failed.

        This thread makes the first, and then each that no other has begun: on a busy machine these
        may come late.
        """
        if self._process != os.getpid():
            self._start()
        errands = [Errand(call) for call in calls]
        for queue, errand in zip(self._queues, errands[1:], strict=False):
            queue.put(errand)
        for errand in errands:
            errand.make()
        for errand in errands:
            errand.done.acquire()
        for errand in errands:
            if errand.error is not None:
                raise errand.error

    def _start(self) -> None:
        """Start the threads, again where a process was copied, which no thread survives."""
        self._process = os.getpid()
        self._queues = [SimpleQueue() for _ in range(self._others)]
        for queue in self._queues:
            threading.Thread(target=_served, args=(queue,), daemon=True).start()
            weakref.finalize(self, queue.put, None)


def _served(queue: SimpleQueue[Errand | None]) -> None:
    """Make calls as they come, until none follows."""
    while (errand := queue.get()) is not None:
        errand.make()
        del errand


class ShardedPlan:
    """Several plans that share their weights, as one; see ``Plan`` for what each member means."""

    def __init__(self, plans: Sequence[Plan], batch: int) -> None:
        first = plans[0]
        assert first.gradient is not None
        self.batch = batch
        self.samples = batch
        self.loss = 0.0
        self.weights, self.trained, self.gradient = first.weights, first.trained, first.gradient
        self._plans = list(plans)
        self._gradients = [plan.gradient for plan in plans if plan.gradient is not None]
        self._running = self._plans
        self._cuts: list[slice] = []
        self._factors: list[float] = []
        self._team = Team(len(plans) - 1)
        self._answers = np.empty((batch, first.output.shape[1]), first.dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the dtype of the weights."""
        return self.weights.dtype

    @property
    def vectors(self) -> Vectors:
        """Return the places of the parameters."""
        return self._plans[0].vectors

    @property
    def output(self) -> Array:
        """Return the outputs [n, outputs] of all rows in order; valid until the next call."""
        for plan, cut in zip(self._running, self._cuts, strict=True):
            self._answers[cut] = plan.output
        return self._answers[: self.samples]

    def enter(self, values: Mapping[str, Array]) -> None:
        """Cut the rows into shards of one size, the last of the remaining rows, and copy them in.
        Values are [rows, ...], by input.
        """
        count = self.samples = len(next(iter(values.values())))
        size = -(-count // len(self._plans))
        self._cuts = [slice(at, min(at + size, count)) for at in range(0, count, size)]
        self._running = self._plans[: len(self._cuts)]
        for plan, cut in zip(self._running, self._cuts, strict=True):
            plan.enter({name: rows[cut] for name, rows in values.items()})

    def mask(self, draw: Draw | None) -> None:
        """Let each shard draw the masks of its rows."""
        for plan, cut in zip(self._running, self._cuts, strict=True):
            plan.mask(None if draw is None else draw.part(cut, self.samples))

    def set_targets(self, targets: Array, sample_weight: Array | None = None) -> None:
        """Copy in the targets; a shard counts by the weight of its rows. ``targets`` are [rows] or
        [rows, outputs], ``sample_weight`` is [rows].
        """
        weights = [float(cut.stop - cut.start) for cut in self._cuts]
        if sample_weight is not None:
            weights = [float(np.add.reduce(sample_weight[cut])) for cut in self._cuts]
        total = sum(weights)
        self._factors = [weight / total for weight in weights]
        for plan, cut, weight in zip(self._running, self._cuts, weights, strict=True):
            if weight:
                own = None if sample_weight is None else sample_weight[cut]
                plan.set_targets(targets[cut], own)

    def forward(self) -> None:
        """Compute the output of the fed rows."""
        self._team.together([plan.forward for plan in self._running])

    def step(self) -> None:
        """Compute output, loss and gradient of the fed rows."""
        with np.errstate(all="ignore"):
            self.run()

    def run(self) -> None:
        """Do a step where numpy's warnings are silent already.

        Rows of a shard without weight are computed, and no gradient of theirs.
        """
        calls: list[Call] = []
        for plan, factor in zip(self._running, self._factors, strict=True):
            calls.append(plan.run if factor else plan.forward)
        self._team.together(calls)
        parts = zip(self._running, self._factors, strict=True)
        self.loss = sum(factor * plan.loss for plan, factor in parts if factor)
        self._add()

    def _add(self) -> None:
        """Add the gradients of the shards, each by its share, to that of the first."""
        size = len(self.gradient)
        count = len(self._plans) if size > BLOCK else 1
        part = -(-size // count)
        spans = [slice(at, at + part) for at in range(0, size, part)]
        self._team.together([partial(self._added, span) for span in spans])

    def _added(self, span: slice) -> None:
        for start in range(span.start, min(span.stop, len(self.gradient)), BLOCK):
            block = slice(start, min(start + BLOCK, span.stop))
            total = self.gradient[block]
            np.multiply(total, self._factors[0], out=total) if self._factors[0] else total.fill(0)
            for gradient, factor in zip(self._gradients[1:], self._factors[1:], strict=False):
                if factor:
                    share = gradient[block]
                    np.multiply(share, factor, out=share)
                    np.add(total, share, out=total)

    def read(self, node: Node) -> Array:
        """Return the values [n, nodes] of a node in all rows: a copy."""
        return np.concatenate([plan.read(node) for plan in self._running])

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all weights from canonical arrays; GraphError names a misfit."""
        self._plans[0].load(values)

    def store(self, vector: Array | None = None) -> dict[str, Array]:
        """Return canonical copies by name of the weights, or of any flat vector in plan order."""
        return self._plans[0].store(vector)

    def vector(self, values: Mapping[str, Any]) -> Array:
        """Return a new flat vector of the trained parameters, in plan order, from canonical
        arrays.
        """
        return self._plans[0].vector(values)

    def incoming(self) -> list[Array]:
        """Return views [rows, fan-in] into ``trained`` of the incoming vectors, biases left out."""
        return self._plans[0].incoming()


def require_shards(analysis: Analysis, threads: int) -> None:
    """Raise GraphError, a sentence, for a node that looks at a whole batch at once."""
    for node in analysis.nodes:
        if node.op != "input" and KERNELS[node.op].whole:
            raise GraphError(
                f"Layer '{node.name or node.op}' looks at all rows of a step at once, and "
                f"{threads} threads would each see a part of them. Set threads = 1.",
                node.origin,
            )
