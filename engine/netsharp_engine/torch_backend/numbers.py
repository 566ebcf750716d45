"""The parameters of a network on one device: flat vectors, and a tensor for each part of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from netsharp_engine.geometry import product
from netsharp_engine.graph import GraphError, Parameter
from netsharp_engine.torch_backend.kernels.rows import Tensor

if TYPE_CHECKING:
    from netsharp_engine.graph import Graph
    from netsharp_engine.program import Tensors


class TorchNumbers:
    """What all programs of one network share.

    ``trained`` is a vector of what is trained, ``fixed`` of the rest.  Kernels lie apart from their
    biases, so that torch multiplies with both as they lie; everything else is canonical.  ``parts``
    are the tensors of each parameter by its name, views into these vectors.
    """

    def __init__(self, graph: Graph, device: torch.device, dtype: torch.dtype) -> None:
        self.device, self.dtype = device, dtype
        self.parameters = list(graph.parameters)
        self.changed = [each for each in self.parameters if each.trained]
        self.kept = [each for each in self.parameters if not each.trained]
        self.trained, self.fixed = (
            torch.zeros(sum(each.size for each in some), device=device, dtype=dtype)
            for some in (self.changed, self.kept)
        )
        self.parts: dict[str, tuple[Tensor, ...]] = {}
        for some, vector in ((self.changed, self.trained), (self.kept, self.fixed)):
            for name, views in self.views(some, vector).items():
                leaves = tuple(view.detach() for view in views)
                for leaf in leaves:
                    leaf.requires_grad_(some is self.changed)
                self.parts[name] = leaves
        self.leaves = [leaf for each in self.changed for leaf in self.parts[each.name]]

    def views(self, some: Sequence[Parameter], vector: Tensor) -> dict[str, tuple[Tensor, ...]]:
        """Return the parts of these parameters in a vector as long as all of them."""
        found: dict[str, tuple[Tensor, ...]] = {}
        start = 0
        for each in some:
            shapes = _shapes(each)
            views = []
            for shape in shapes:
                end = start + product(shape)
                views.append(vector[start:end].view(shape))
                start = end
            found[each.name] = tuple(views)
        return found

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all from canonical arrays; GraphError names a misfit."""
        for each in self.parameters:
            if each.name not in values:
                raise GraphError(f"no values are given for parameter {each.name}")
        with torch.no_grad():
            self.trained.copy_(self.vector(values, self.changed))
            self.fixed.copy_(self.vector(values, self.kept))

    def store(self) -> Tensors:
        """Return canonical copies of all, in the order of the graph."""
        found = {**self.arrays(self.trained, self.changed), **self.arrays(self.fixed, self.kept)}
        return {each.name: found[each.name] for each in self.parameters}

    def vector(self, values: Mapping[str, Any], some: Sequence[Parameter] | None = None) -> Tensor:
        """Return a vector of canonical arrays, of those that are trained where none are named."""
        pieces = []
        for each in self.changed if some is None else some:
            array = np.asarray(values[each.name], np.float64)
            if array.size != each.size:
                raise GraphError(
                    f"parameter {each.name}: {array.size} values are given, {each.size} needed"
                )
            array = array.reshape(each.shape)
            parts = (array[:, :-1], array[:, -1]) if each.bias_column else (array,)
            pieces += [np.ravel(part) for part in parts]
        joined = np.concatenate(pieces) if pieces else np.empty(0)
        return torch.from_numpy(joined).to(self.device, self.dtype)

    def arrays(self, vector: Tensor, some: Sequence[Parameter] | None = None) -> Tensors:
        """Return canonical copies of a vector, the inverse of ``vector``."""
        chosen = self.changed if some is None else some
        host = vector.detach().to("cpu", copy=True)
        found: Tensors = {}
        for each, views in zip(chosen, self.views(chosen, host).values(), strict=True):
            if each.bias_column:
                weights, biases = (view.numpy() for view in views)
                found[each.name] = np.concatenate((weights, biases[:, None]), axis=1)
            else:
                found[each.name] = views[0].numpy().copy()
        return found


def _shapes(parameter: Parameter) -> tuple[tuple[int, ...], ...]:
    """The shapes of the parts of a parameter."""
    if parameter.bias_column:
        count, width = parameter.shape
        return (count, width - 1), (count,)
    return (parameter.shape,)
