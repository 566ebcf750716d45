"""A model's answers, as values, and the interface of a model whose network goes by names of nodes.
It must not know files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.reading.options import ReadOptions
from netsharp_engine.data.stream import EncodedRows

if TYPE_CHECKING:
    from netsharp_engine.backends import Device
    from netsharp_engine.nodes import Node


@dataclass(slots=True)
class Predictions:
    """Answers for consecutive rows; `len` counts them.

    Attributes
    ----------
    predicted : list of str, or ndarray of shape (rows,)
        Labels of the type that the training had (int64, bool, str, ...), names of classes where
        it read files, or the numbers of a regression (float64, [rows, outputs] where there are
        several); empty where outputs were named.  A row that has no answer has None or NaN.
    probabilities : ndarray of shape (rows, classes), float64, or None
        The probability of each class, in the order of the model's ``classes``; None for a
        regression.
    kept : tuple of sequences of str
        The texts of each column that was to be kept, where rows come from a file.
    values : dict of str to ndarray of shape (rows, numbers)
        The values of each output, sequence after sequence, where a network was asked by the names
        of its inputs.
    lengths : ndarray of shape (sequences,), or None
        How many of the rows belong to each sequence; None where they are not sequences.

    Since
    -----
    0.1
    """

    predicted: list[str] | npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64] | None
    kept: tuple[Sequence[str], ...] = ()
    values: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    lengths: npt.NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(next(iter(self.values.values()), self.predicted))


class SampleRows(NamedTuple):
    """Answers for samples of files: ``sequence`` and ``step`` of each where they lie in sequences,
    ``predictions`` where no outputs were named, else ``values`` [rows, numbers] of these by name.
    """

    sequence: Sequence[str] | None
    step: Sequence[int] | None
    predictions: Predictions | None
    values: Mapping[str, npt.NDArray[Any]]


class CriteriaReport(NamedTuple):
    """The values of a network's own criteria on data: means by name, over ``samples`` samples, and
    the line that its program would print.

    ``of_rows``: each sample counts by itself, under the names that the network has.
    """

    means: Mapping[str, float]
    samples: int
    line: str
    of_rows: bool


class SampleQuery(NamedTuple):
    """Which samples of files a network is asked about.

    ``streams`` are what the files call inputs, by the names of these; ``outputs`` the nodes whose
    values are wanted, none for the answer; ``rows`` the most that are answered.  ``reading`` reads
    a file for what a network wants of it, in the place of what the file itself says how.
    """

    paths: str | Sequence[str]
    options: ReadOptions
    streams: Mapping[str, str] = {}
    outputs: Sequence[str] = ()
    directory: str = "."
    reading: Callable[[str, Any], Any] | None = None


#: What outputs [rows, numbers] of the node that answers mean.
Interpret = Callable[[npt.NDArray[np.floating]], Predictions]


class NetworkAnswers(Protocol):
    """A network that is asked by the names of its nodes, about samples alone or in sequences."""

    @property
    def inputs(self) -> Mapping[str, tuple[int, ...]]:
        """Return the row-major shape of a sample, by input."""

    @property
    def outputs(self) -> Mapping[str, tuple[int, ...]]:
        """Return the row-major shape of a sample, by output."""

    @property
    def over_time(self) -> bool:
        """Return whether the answer depends on other samples of a sequence."""

    @property
    def has_criteria(self) -> bool:
        """Return whether it has criteria."""

    @property
    def remade(self) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
        """Return a function with its arguments that makes the model again, for copies of it."""

    @property
    def compared(self) -> str:
        """Return the input that answers are compared with; empty where there is none."""

    def compute_on(self, name: str) -> Device:
        """Let a device compute from now on, and return it, with a back end for rows; GraphError, a
        sentence, where it cannot be used for this network.
        """

    def exported(self) -> tuple[Node, ...]:
        """Return the nodes that an export has as outputs, in its order, of a graph of their own;
        none where one of them is not computed here.
        """

    def brought_by(self, query: SampleQuery) -> bool:
        """Return whether files hold samples by the names of inputs; tables do not."""

    def features(self, query: SampleQuery, *, labelled: bool) -> Iterator[EncodedRows]:
        """Yield the samples of such files as rows of numbers, inputs side by side; DataError."""

    def predicted(
        self, samples: Mapping[str, Any], outputs: Sequence[str], interpret: Interpret
    ) -> Predictions:
        """Return the answers for arrays, or for lists of sequences, by the names of inputs."""

    def rows(self, query: SampleQuery, interpret: Interpret) -> Iterator[SampleRows]:
        """Yield the answers for the samples of files."""

    def criteria_on(self, query: SampleQuery) -> CriteriaReport:
        """Return the values of the network's criteria on the samples of files."""
