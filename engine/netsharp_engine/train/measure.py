"""Runs a network forward over rows and tallies figures; the same for training and prediction.

A row's result does not depend on its neighbours: see the program for how many rows it computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_engine.graph import Graph, Node
from netsharp_engine.program import Batch, Figures, Job, Program, direct_of
from netsharp_engine.train.feeding import Rows
from netsharp_engine.train.metrics import BaselineTally, ClassTally, make_tally
from netsharp_engine.train.objective import Objective, Outputs
from netsharp_engine.train.preparation import Part
from netsharp_engine.train.report import Report

BATCH = 64


def measuring_job(graph: Graph, objective: Objective, dtype: str) -> Job:
    """Return the job of a meter's program."""
    return Job(objective.with_criteria(graph), BATCH, dtype)


class Meter:
    """A program that does not train, for one objective; ``load`` gives it weights.

    Of rows that are measured each of the ``ranks`` computes a stretch.
    """

    def __init__(
        self, job: Job, program: Program, objective: Objective, ranks: Ranks = ALONE
    ) -> None:
        assert job.graph.output is not None
        self.objective, self.ranks = objective, ranks
        self._program, self.direct = program, direct_of(program)
        self._output, self.dtype = job.graph.output, job.dtype
        self._rows = Rows(job.graph)

    def load(self, values: Mapping[str, Any]) -> None:
        """Take canonical weights; GraphError names a misfit."""
        self._program.load(values)

    def outputs(self, features: npt.NDArray[np.floating]) -> Outputs:
        """Return the output [n, outputs] of normalised features [n, features], n any number."""
        result = np.empty((len(features), self.objective.outputs), self.dtype)
        if self.direct is not None:
            given = np.ascontiguousarray(features, self.dtype)
            if self.direct.compute(given, None, result, False):
                return result
        for start in range(0, len(features), BATCH):
            self._program.feed(Batch(self._rows.named(features[start : start + BATCH])))
            self._program.forward()
            result[start : start + BATCH] = self._program.read(self._output)
        return result

    def values(
        self, nodes: Sequence[Node], features: npt.NDArray[np.floating]
    ) -> dict[Node, npt.NDArray[np.floating]]:
        """Return the values of nodes for normalised features [n, features], [n, nodes] each."""
        found = {node: np.empty((len(features), node.size), self.dtype) for node in nodes}
        for start in range(0, len(features), BATCH):
            self._program.feed(Batch(self._rows.named(features[start : start + BATCH])))
            self._program.forward()
            for node, values in found.items():
                values[start : start + BATCH] = self._program.read(node)
        return found

    def begin(self) -> None:
        """Count the loss from nothing."""
        self._program.count(Figures())

    def add_batch(
        self,
        features: npt.NDArray[np.floating],
        targets: npt.NDArray[np.generic],
        weights: npt.NDArray[np.float64],
    ) -> Outputs:
        """Return the outputs [rows, outputs] of at most BATCH rows in the units of targets, valid
        until the next call, and count their loss.
        """
        wanted = self.objective.scaled(targets)
        self._program.feed(Batch(self._rows.named(features, wanted), weights))
        self._program.step()
        return self.objective.unscaled(self._program.read(self._output))

    def gather(self) -> None:
        """Sum the counts of all ranks."""
        figures = self._program.figures()
        sums_of_ranks = np.array([figures.weight, figures.rows, figures.steps, *figures.sums])
        self.ranks.comm.all_reduce_(sums_of_ranks)
        weight, rows, steps, *sums = sums_of_ranks.tolist()
        self._program.count(Figures(tuple(sums), weight, int(rows), int(steps)))

    def mean_loss(self) -> float | None:
        """Return the weighted mean of the loss that was counted; None without weight."""
        figures = self._program.figures()
        return figures.sums[0] / figures.weight if figures.weight else None


class Measurement:
    """Collects one network's figures over rows that arrive in parts, beside the baseline's."""

    def __init__(self, meter: Meter, answer: tuple[float, ...]) -> None:
        self._meter = meter
        self._tally = make_tally(meter.objective)
        self._baseline = BaselineTally(meter.objective, answer)
        meter.begin()

    def add(
        self,
        features: npt.NDArray[np.floating],
        targets: npt.NDArray[np.generic],
        weights: npt.NDArray[np.float64] | None = None,
        loss_weights: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """Count normalised rows [n, features] with class codes or numbers.

        ``loss_weights``, which include class weights, are ``weights`` by default.
        """
        if weights is None:
            weights = np.ones(len(targets))
        if loss_weights is None:
            loss_weights = weights
        with np.errstate(all="ignore"):
            for start in range(0, len(targets), BATCH):
                cut = slice(start, start + BATCH)
                outputs = self._meter.add_batch(features[cut], targets[cut], loss_weights[cut])
                self._tally.add(outputs, targets[cut], weights[cut])
                self._baseline.add(outputs, targets[cut], weights[cut])

    def gather(self) -> None:
        """Take in the rows that other ranks have counted."""
        if not self._meter.ranks.alone:
            self._meter.gather()
            self._tally.gather(self._meter.ranks.comm)
            self._baseline.gather(self._meter.ranks.comm)

    def report(self, part: str) -> Report:
        """Return the figures so far."""
        tally = self._tally
        counted = tally.confusion if isinstance(tally, ClassTally) else None
        return Report(
            part,
            tally.rows,
            self._meter.mean_loss(),
            tally.metrics(),
            self._baseline.metrics(),
            self._meter.objective.classes,
            None if counted is None else counted.tolist(),
        )


def measure_part(meter: Meter, part: Part, answer: tuple[float, ...], name: str) -> Report:
    """Return the report of one part of the training data."""
    report = measure_until(meter, part, answer, name, lambda: False)
    assert report is not None
    return report


def measure_until(
    meter: Meter,
    part: Part,
    answer: tuple[float, ...],
    name: str,
    should_stop: Callable[[], bool],
) -> Report | None:
    """Return the report of one part of the training data; None when a stop is requested before its
    end.

    Where several ranks measure, each does a stretch of the rows, all of it.
    """
    measurement, ranks = Measurement(meter, answer), meter.ranks
    mine = ranks.stretch(part.rows, BATCH)
    for start in range(mine.start, mine.stop, BATCH):
        index = part.index[start : min(start + BATCH, mine.stop)]
        weights = None if part.sample_weights is None else part.sample_weights[index]
        loss_weights = None if part.weights is None else part.weights[index]
        measurement.add(part.matrix[index], part.targets[index], weights, loss_weights)
        if ranks.alone and should_stop():
            return None
    measurement.gather()
    return measurement.report(name)
