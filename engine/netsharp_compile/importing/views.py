"""Values of layers element by element, each multiplied by a factor and moved by an offset: what is
arranged, scaled or moved between two layers costs nothing that way.

Knows no operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.bundles import ReadValues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_compile.bundles import Places
    from netsharp_compile.operators import Array


#: The operand of an element that is a constant: its offset.
_NONE = -1


class ElementView(NamedTuple):
    """A number for each element, all four [elements]: ``factors`` times the value at ``places`` of
    the operand of that number (0 the features, then the layers in order), and ``offsets`` more.
    A constant among them reads no operand, and has the factor 0.
    """

    operands: Places
    places: Places
    factors: Array
    offsets: Array

    @classmethod
    def of(cls, source: ReadValues) -> ElementView:
        """Return the values of a source as they are."""
        places = np.arange(source.first, source.first + source.size)
        operands = np.full(source.size, source.operand, np.int64)
        return cls(operands, places, np.ones(source.size), np.zeros(source.size))

    @classmethod
    def constant(cls, numbers: Array) -> ElementView:
        """Return elements that are these numbers of any shape, in row-major order, whatever a
        network is given.
        """
        flat = np.asarray(numbers, np.float64).reshape(-1)
        places = np.zeros(flat.size, np.int64)
        return cls(np.full(flat.size, _NONE, np.int64), places, np.zeros(flat.size), flat)

    @classmethod
    def joined(cls, views: list[ElementView]) -> ElementView:
        """Return the elements of several views, concatenated."""
        return cls(
            np.concatenate([one.operands for one in views]),
            np.concatenate([one.places for one in views]),
            np.concatenate([one.factors for one in views]),
            np.concatenate([one.offsets for one in views]),
        )

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return len(self.places)

    @property
    def is_constant(self) -> bool:
        """Return whether no element depends on the inputs of the network."""
        return bool((self.operands == _NONE).all())

    @property
    def source(self) -> ReadValues | None:
        """Return the contiguous values that the elements are, in order; None where they are
        others.
        """
        first, operand = int(self.places[0]), int(self.operands[0])
        beside = np.arange(first, first + self.size)
        alone = operand != _NONE and (self.operands == operand).all()
        if alone and np.array_equal(self.places, beside):
            return ReadValues(operand, first, self.size)
        return None

    @property
    def is_plain(self) -> bool:
        """Return whether all elements are values without factor and offset."""
        return bool((self.factors == 1).all() and not self.offsets.any())

    def chosen(self, elements: Places) -> ElementView:
        """Return some elements [chosen], in any order and as often as they are named."""
        operands, places, factors, offsets = self
        return ElementView(
            operands[elements], places[elements], factors[elements], offsets[elements]
        )

    def scaled(self, factors: Array, offsets: Array) -> ElementView:
        """Return ``factors`` times the elements and ``offsets`` more, both [elements]."""
        moved = self.offsets * factors + offsets
        return self._replace(factors=self.factors * factors, offsets=moved)

    def by_source(self) -> Iterator[tuple[ReadValues, Places]]:
        """Yield for each operand the stretch of it that is read, and which elements read it,
        [elements].
        """
        for operand in np.unique(self.operands[self.operands != _NONE]).tolist():
            (elements,) = (self.operands == operand).nonzero()
            places = self.places[elements]
            first = int(places.min())
            yield ReadValues(operand, first, int(places.max()) - first + 1), elements
