"""What a device computes, as plain data: buffers, and kernels that fill one number an invocation.

It knows neither graphs nor the text of a program: templates make kernels, ``writing`` writes them.
In expressions ``b7[...]`` is a number of buffer 7, ``v9`` value 9, ``a9`` where value 9, a maximum,
was met; ``e`` is the number of the element in its buffer, ``n`` its row, ``i`` its place there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

#: Rooms in which buffers lie: what crosses to other programs, what one step needs, whole numbers.
WEIGHTS, WORK, TABLES = "weights", "work", "tables"
#: The purposes of passes; counting and checking have no formula in US patent 7,747,070 (S. Puri).
FORWARD, LOSS, BACKWARD, GRADIENT, SUM, UPDATE = (
    *("forward", "loss", "backward", "gradient", "sum", "update"),
)
COUNTING, CHECK = "counting", "check"

_LOADS = re.compile(r"\bb(\d+)\[")
_VALUES = re.compile(r"\b[va](\d+)\b")


class Buffer(NamedTuple):
    """Numbers of an arena, ``rows`` of ``width`` each; ``kept``: the host reads them."""

    number: int
    label: str
    rows: int
    width: int
    room: str = WORK
    kept: bool = False

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return self.rows * self.width


class Turning(NamedTuple):
    """``name`` goes from ``low`` to below ``high``, both expressions; at most ``most`` times."""

    name: str
    low: str
    high: str
    most: int


class MatrixForm(NamedTuple):
    """A sum over loops as a product of two matrices, [down, deep] and [deep, across].

    ``left`` is a number of the first by ``m`` and ``k``, ``right`` one of the second by ``k`` and
    ``c``, each after whole numbers of its own; both are read within their bounds alone.
    ``element`` says which element of the kernel is that of ``m`` and ``c``.  Neighbours along ``k``
    lie side by side in memory where ``left_runs`` or ``right_runs``.
    """

    down: int
    across: int
    deep: int
    left: str
    right: str
    element: str
    left_lets: tuple[tuple[str, str], ...] = ()
    right_lets: tuple[tuple[str, str], ...] = ()
    left_runs: bool = True
    right_runs: bool = False


class LoopNest(NamedTuple):
    """A sum, or the first maximum, of ``term`` over loops; ``lets`` are whole numbers before them.

    ``constants`` are sizes by name.  ``mark`` says where a maximum is met.  ``matrix`` is the same
    sum as a product of matrices, where it is one.
    """

    term: str
    loops: tuple[Turning, ...]
    lets: tuple[tuple[str, str], ...] = ()
    constants: tuple[tuple[str, int], ...] = ()
    how: str = "sum"
    mark: str = ""
    matrix: MatrixForm | None = None

    @property
    def trips(self) -> int:
        """Return the maximum number of iterations of its loops together."""
        total = 0
        for loop in reversed(self.loops):
            total = loop.most * (1 + total)
        return total


class Each(NamedTuple):
    """A number by a formula."""

    formula: str


class OverRow(NamedTuple):
    """The sum, the maximum or the minimum of ``formula`` over the elements of a row."""

    how: str
    formula: str


Operation_: TypeAlias = LoopNest | Each | OverRow


class StoreTo(NamedTuple):
    """A value goes to a buffer, at ``e`` or, once for a row, at ``n``; ``at``: elsewhere."""

    buffer: int
    value: int
    once: bool = False
    at: str = ""


class DeviceKernel(NamedTuple):
    """``rows`` times ``size`` elements; ``parts`` of a sum over loops, if any, by their loop."""

    what: str
    family: str
    role: str
    rows: int
    size: int
    body: tuple[tuple[int, Operation_], ...]
    stores: tuple[StoreTo, ...]
    parts: tuple[tuple[str, int], ...] = ()
    #: The names of the formulas that were joined in it.
    joined: tuple[str, ...] = ()
    #: The variant, by its name in ``variants``, that computes it.
    variant: str = "plain"

    @property
    def elements(self) -> int:
        """Return the number of elements that it computes; partial sums of one count once."""
        return self.rows * self.size

    @property
    def pieces(self) -> int:
        """Return the number of parts in which each sum is computed."""
        found = 1
        for _, count in self.parts:
            found *= count
        return found

    @property
    def by_rows(self) -> bool:
        """Return whether the elements of a row are looked at together."""
        return any(isinstance(operation, OverRow) for _, operation in self.body)

    @property
    def sums(self) -> bool:
        """Return whether it has loops."""
        return any(isinstance(operation, LoopNest) for _, operation in self.body)

    def reads(self) -> set[int]:
        """Return the buffers that it reads."""
        return {number for text in self.texts() for number in loads(text)}

    def writes(self) -> set[int]:
        """Return the buffers that it writes."""
        return {store.buffer for store in self.stores}

    def texts(self) -> Iterator[str]:
        """Yield all of its expressions."""
        for _, operation in self.body:
            yield from texts(operation)
        yield from (store.at for store in self.stores)


def texts(operation: Operation_) -> Iterator[str]:
    """Yield all expressions of an operation."""
    if isinstance(operation, LoopNest):
        yield operation.term
        yield operation.mark
        for _, text in operation.lets:
            yield text
        for loop in operation.loops:
            yield loop.low
            yield loop.high
    else:
        yield operation.formula


def loads(text: str) -> list[int]:
    """Return the buffers that an expression reads."""
    return [int(found) for found in _LOADS.findall(text)]


def named(text: str) -> list[int]:
    """Return the values that an expression names."""
    return [int(found) for found in _VALUES.findall(text)]
