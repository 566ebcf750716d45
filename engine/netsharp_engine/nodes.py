"""The elements of a graph: parameters, and nodes with their shapes.

It must not know operations or arrays; ``graph`` combines nodes by the operations' rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netsharp_engine.geometry import product


class Parameter:
    """An array of a network in canonical order, changed by training if it is ``trained``.

    ``shape``: "weights" of a full bundle [destination, source], of a filtered one [edges]
    (by destination, then source); "kernels" [kernels, prod(kernel shape) + 1] with each
    kernel's own bias last; "biases" [nodes].  ``initial`` holds as many numbers in
    row-major order, or None for random ones.  Used by two nodes, it is shared.  One that is not
    trained is loaded and stored alike: a constant, or a statistic that an operation keeps up.
    ``origin`` is the front end's; str() of it says where the parameter was asked for.
    """

    __slots__ = ("initial", "kind", "name", "origin", "shape", "trained")

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        initial: Sequence[float] | None,
        kind: str,
        trained: bool = True,
        origin: object = None,
    ) -> None:
        self.name = name
        self.shape = shape
        self.initial = initial
        self.kind = kind
        self.trained = trained
        self.origin = origin

    @property
    def size(self) -> int:
        """Return the number of its elements."""
        return product(self.shape)

    @property
    def bias_column(self) -> bool:
        """Return whether the last column is a bias, which no weight norm counts."""
        return self.kind == "kernels"

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {list(self.shape)})"


class Node:
    """One operation and the value that it makes: ``shape`` per sample, row-major.

    ``origin`` is the front end's; str() of it says where the operation was asked for.
    """

    __slots__ = ("attributes", "inputs", "name", "op", "origin", "parameters", "shape")

    def __init__(
        self,
        op: str,
        inputs: tuple[Node, ...],
        parameters: tuple[Parameter, ...],
        attributes: Mapping[str, Any],
        shape: tuple[int, ...],
        name: str,
        origin: object = None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.parameters = parameters
        self.attributes = attributes
        self.shape = shape
        self.name = name
        self.origin = origin

    @property
    def size(self) -> int:
        """Return the number of values per sample."""
        return product(self.shape)

    def __repr__(self) -> str:
        return f"Node({self.op!r}, {self.name!r}, {list(self.shape)})"
