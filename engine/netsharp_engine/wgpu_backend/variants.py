"""The ways in which a kernel can be computed: a table, the plain one first, and where each applies.

All give the same numbers up to the order of their sums.  It knows kernels and their bounds, no text
of a program and no device.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from netsharp_engine.wgpu_backend.kernels import (
    DeviceKernel,
    LoopNest,
    MatrixForm,
    OverRow,
    Turning,
    texts,
)
from netsharp_engine.wgpu_backend.planning.joining import ROW

#: Threads of a group, where no row is looked at whole.
THREADS = 64
#: Samples of one invocation: the parts of a vector.
VECTOR = 4
#: The fewest numbers of a tile in each direction, and of the smallest tile; iterations for each
#: thread from which threads share a loop.
LEAST, TURNS = (4, 8), 2
#: What every kernel can be computed by, and the word for all kernels in choices.
PLAIN, ALL = "plain", "*"


class Variant(NamedTuple):
    """A row: ``form`` is what writes it, ``threads`` what a group has at least.

    ``lanes`` threads share a number.  A group computes a tile of ``down`` x ``across`` numbers,
    ``deep`` steps of the sum at a time; each of its threads a block of 4 x 4.
    """

    name: str
    form: str
    threads: int = THREADS
    lanes: int = 1
    down: int = 0
    across: int = 0
    deep: int = 0

    @property
    def owners(self) -> int:
        """Return the number of threads of a workgroup that own a block of a tile."""
        return self.down * self.across // VECTOR**2

    @property
    def loads(self) -> tuple[int, int]:
        """Return the number of vectors of both matrices in a workgroup's memory."""
        return self.down * self.deep // VECTOR, self.across * self.deep // VECTOR


VARIANTS: dict[str, Variant] = {
    row.name: row
    for row in (
        Variant(PLAIN, "plain"),
        Variant("rows", "rows"),
        Variant("vectors", "vectors"),
        Variant("lanes 8", "lanes", lanes=8),
        Variant("lanes 32", "lanes", lanes=32),
        Variant("tiles 16 x 64", "tiles", down=16, across=64, deep=16),
        Variant("tiles 32 x 32", "tiles", down=32, across=32, deep=16),
        Variant("tiles 64 x 64", "tiles", ROW, down=64, across=64, deep=16),
    )
}


class Choices(NamedTuple):
    """Variants by the words of kernels, and how they were come by, for people."""

    variants: Mapping[str, str]
    how: str = ""

    @property
    def summary(self) -> str:
        """Return the number of kernels for each variant, in words; empty without a choice."""
        counts = Counter(self.variants.values())
        if not self.how:
            return ""
        parts = [f"{name} for {count}" for name, count in sorted(counts.items())]
        return f"{', '.join(parts) or 'all kernels plain'} ({self.how})"


def variant_of(kernel: DeviceKernel) -> Variant:
    """Return the row of the variant that computes a kernel."""
    return VARIANTS[kernel.variant]


def nest_of(kernel: DeviceKernel) -> LoopNest | None:
    """Return the only loops of a kernel, where they are a sum that comes first."""
    nests = [operation for _, operation in kernel.body if isinstance(operation, LoopNest)]
    alone = len(nests) == 1 and nests[0] is kernel.body[0][1] and nests[0].how == "sum"
    return nests[0] if alone else None


def applies(row: Variant, kernel: DeviceKernel) -> bool:
    """Return whether a variant can compute a kernel, and has something to do there."""
    if row.form == "plain":
        return True
    if row.form == "rows":
        return kernel.by_rows and kernel.rows > 1 and 2 * lanes_of_row(kernel) <= THREADS
    nest = nest_of(kernel)
    if nest is None or kernel.by_rows or any(isinstance(op, OverRow) for _, op in kernel.body):
        return False
    if row.form == "vectors":
        return kernel.rows > 1 and not _by_sample(nest)
    if row.form == "lanes":
        return bool(nest.loops) and longest(nest).most >= TURNS * row.lanes
    matrix = nest.matrix
    if matrix is None:
        return False
    least = LEAST[row.down > row.deep]
    return min(matrix.down, matrix.across, matrix.deep) >= least


def lanes_of_row(kernel: DeviceKernel) -> int:
    """Return the number of threads for a row of a kernel where several share a workgroup."""
    found = 1
    while found < kernel.size:
        found *= 2
    return found


def longest(nest: LoopNest) -> Turning:
    """Return the loop that threads share: the one that turns most, of equals the innermost."""
    return max(reversed(nest.loops), key=lambda loop: loop.most)


def piece(matrix: MatrixForm, pieces: int) -> int:
    """Return the maximum number of steps in one part of a split sum."""
    return -(-matrix.deep // pieces)


def factors(term: str) -> list[str]:
    """Return the factors of a product, cut where no bracket is open."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(term):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and term.startswith(" * ", at):
            found.append(term[start:at])
            start = at + 3
    return [*found, term[start:]]


def names_sample(text: str) -> bool:
    """Return whether an expression depends on the sample, or on the element."""
    return re.search(r"\b[ne]\b", text) is not None


def _by_sample(nest: LoopNest) -> bool:
    """Return whether loops, or whole numbers before them, depend on the sample."""
    around = [text for text in texts(nest) if text not in (nest.term, nest.mark)]
    return any(map(names_sample, around)) or re.search(r"\be\b", nest.term) is not None


def offered(kernel: DeviceKernel) -> Iterator[str]:
    """Yield the names of all variants that can compute a kernel, the plain one first."""
    for row in VARIANTS.values():
        if applies(row, kernel):
            yield row.name


def with_variant(kernel: DeviceKernel, choices: Mapping[str, str]) -> DeviceKernel:
    """Return a kernel as choices have it, by its words or for all; where none applies, plain."""
    wanted = VARIANTS.get(choices.get(kernel.what, choices.get(ALL, PLAIN)))
    if wanted is None or not applies(wanted, kernel):
        return kernel._replace(variant=PLAIN)
    return kernel._replace(variant=wanted.name)
