"""The parameters of a network on one device: flat vectors, and a tensor for each part of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from netsharp_engine.geometry import product
from netsharp_engine.graph import GraphError, Node, Parameter
from netsharp_engine.torch_backend.kernels.dense import filled_cells
from netsharp_engine.torch_backend.kernels.rows import IntArray, Tensor
from netsharp_engine.torch_backend.kernels.windows import kernel_parts

if TYPE_CHECKING:
    from netsharp_engine.program import Tensors


#: The number of values from which a part is updated by itself.
APART = 8192


class TensorPart(NamedTuple):
    """A tensor with numbers of a parameter: its shape, and where these come from.

    ``cells`` are the places in the tensor of the numbers, in their order, where it holds more than
    these; ``places`` those of its numbers in the parameter, where their order is another.
    """

    shape: tuple[int, ...]
    cells: IntArray | None = None
    places: IntArray | None = None

    def put(self, view: Tensor, numbers: npt.NDArray[Any]) -> None:
        """Write numbers to a tensor of the host."""
        flat = np.ravel(numbers)
        given = torch.from_numpy(np.array(flat if self.places is None else flat[self.places]))
        if self.cells is None:
            view.view(-1).copy_(given)
        else:
            view.view(-1)[torch.from_numpy(self.cells)] = given.to(view.dtype)

    def taken(self, view: Tensor) -> npt.NDArray[Any]:
        """Return the numbers of a tensor of the host, flat."""
        flat: npt.NDArray[Any] = view.reshape(-1).numpy()
        if self.cells is not None:
            return flat[self.cells]
        if self.places is None:
            return flat.copy()
        found = np.empty_like(flat)
        found[self.places] = flat
        return found


def parts_of(parameter: Parameter, users: Sequence[Node]) -> tuple[TensorPart, ...]:
    """Decide how a parameter lies: as its only user multiplies with it, else canonically.

    Kernels lie apart from their biases.
    """
    alone = users[0] if len(users) == 1 else None
    if parameter.bias_column:
        count, width = parameter.shape
        if alone is None or alone.op != "convolve":
            return TensorPart((count, width - 1)), TensorPart((count,))
        cut = kernel_parts(alone)
        return (
            TensorPart(cut.shape, places=cut.weights),
            TensorPart(cut.shape[:1], places=cut.biases),
        )
    if alone is not None and alone.op == "filtered":
        found = filled_cells(alone)
        if found is not None:
            return (TensorPart(found[0], found[1]),)
    return (TensorPart(parameter.shape),)


class TorchNumbers:
    """What all programs of one network share.

    ``trained`` is a vector of what is trained, large parameters last, ``fixed`` of the rest;
    ``parts`` are the tensors of
    each parameter by its name, views into these vectors, ``leaves`` those that are trained, one
    after another, and ``owners`` the parameters of these.
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        nodes: Iterable[Node],
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self.device, self.dtype, self.parameters = device, dtype, list(parameters)
        users: dict[str, list[Node]] = {}
        for node in nodes:
            for each in node.parameters:
                users.setdefault(each.name, []).append(node)
        self._how = {each.name: parts_of(each, users.get(each.name, ())) for each in parameters}
        changed = [each for each in self.parameters if each.trained]
        self.changed = sorted(changed, key=self.is_large)
        self.kept = [each for each in self.parameters if not each.trained]
        self.trained, self.fixed = (
            torch.zeros(self.count(some), device=device, dtype=dtype)
            for some in (self.changed, self.kept)
        )
        self.parts: dict[str, tuple[Tensor, ...]] = {}
        for some, vector in ((self.changed, self.trained), (self.kept, self.fixed)):
            for name, views in self.views(some, vector).items():
                self.parts[name] = tuple(
                    torch.nn.Parameter(view.detach(), requires_grad=some is self.changed)
                    for view in views
                )
        self.owners = [each for each in self.changed for _ in self.parts[each.name]]
        self.leaves = [leaf for each in self.changed for leaf in self.parts[each.name]]

    def is_large(self, parameter: Parameter) -> bool:
        """Return whether a parameter is changed by itself: copying its gradient takes longer."""
        return max(product(part.shape) for part in self._how[parameter.name]) >= APART

    def count(self, some: Sequence[Parameter]) -> int:
        """Return the number of elements of a vector of these parameters."""
        return sum(product(part.shape) for each in some for part in self._how[each.name])

    def views(self, some: Sequence[Parameter], vector: Tensor) -> dict[str, tuple[Tensor, ...]]:
        """Return the parts of these parameters in a vector of all of them."""
        found: dict[str, tuple[Tensor, ...]] = {}
        start = 0
        for each in some:
            views = []
            for part in self._how[each.name]:
                end = start + product(part.shape)
                views.append(vector[start:end].view(part.shape))
                start = end
            found[each.name] = tuple(views)
        return found

    def leaves_of(self, nodes: Iterable[Node]) -> list[Tensor]:
        """Return the leaves of nodes, in the order of these."""
        used = (one for node in nodes for one in node.parameters if one.trained)
        names = dict.fromkeys(one.name for one in used)
        return [leaf for name in names for leaf in self.parts[name]]

    def leaf_views(self, vector: Tensor) -> list[Tensor]:
        """Return the parts of a vector of trained parameters, one for each leaf."""
        found = self.views(self.changed, vector).values()
        return [view for views in found for view in views]

    def masks(self) -> list[tuple[int, Tensor]]:
        """Return the leaves with NaN cells, with factors that are 0 there and 1 elsewhere."""
        found = []
        for place, each in enumerate(self.owners):
            cells = self._how[each.name][0].cells
            if cells is not None:
                mask = torch.zeros_like(self.leaves[place], requires_grad=False)
                mask.view(-1)[torch.from_numpy(cells).to(self.device)] = 1
                found.append((place, mask))
        return found

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all from canonical arrays; GraphError names a misfit."""
        with torch.no_grad():
            self.trained.copy_(self.vector(values, self.changed))
            self.fixed.copy_(self.vector(values, self.kept))

    def store(self) -> Tensors:
        """Return canonical copies of all, in the order of the graph."""
        found = {**self.arrays(self.trained, self.changed), **self.arrays(self.fixed, self.kept)}
        return {each.name: found[each.name] for each in self.parameters}

    def vector(self, values: Mapping[str, Any], some: Sequence[Parameter] | None = None) -> Tensor:
        """Return canonical arrays as a vector [numbers], of the trained parameters by default.

        Raises GraphError for a parameter without values.
        """
        chosen = self.changed if some is None else some
        vector = torch.zeros(self.count(chosen), dtype=self.dtype)
        for each, views in zip(chosen, self.views(chosen, vector).values(), strict=True):
            if each.name not in values:
                raise GraphError(f"there are no values for parameter {each.name}")
            given = np.asarray(values[each.name])
            if given.shape not in (each.shape, (each.size,)):
                raise GraphError(
                    f"parameter {each.name}: values of shape {list(given.shape)} given, "
                    f"{list(each.shape)} needed"
                )
            shown = given.reshape(each.shape)
            pieces = (shown[:, :-1], shown[:, -1]) if each.bias_column else (shown,)
            for part, view, piece in zip(self._how[each.name], views, pieces, strict=True):
                part.put(view, piece)
        return vector.to(self.device)

    def arrays(self, vector: Tensor, some: Sequence[Parameter] | None = None) -> Tensors:
        """Return canonical copies of a vector, the inverse of ``vector``."""
        chosen = self.changed if some is None else some
        host = vector.detach().to("cpu", copy=True)
        found: Tensors = {}
        for each, views in zip(chosen, self.views(chosen, host).values(), strict=True):
            both = zip(self._how[each.name], views, strict=True)
            pieces = [part.taken(view) for part, view in both]
            if each.bias_column:
                weights, biases = pieces[0].reshape(each.shape[0], -1), pieces[1][:, None]
                found[each.name] = np.concatenate((weights, biases), axis=1)
            else:
                found[each.name] = pieces[0].reshape(each.shape)
        return found


def stored_bytes(
    parameters: Sequence[Parameter], nodes: Iterable[Node], width: int
) -> Counter[str]:
    """Return the bytes of one copy of each parameter, by layer."""
    users: dict[str, list[Node]] = {}
    for node in nodes:
        for each in node.parameters:
            users.setdefault(each.name, []).append(node)
    found: Counter[str] = Counter()
    for each in parameters:
        size = sum(product(part.shape) for part in parts_of(each, users.get(each.name, ())))
        found[f"layer '{each.name.partition('/')[0]}'"] += size * width
    return found
