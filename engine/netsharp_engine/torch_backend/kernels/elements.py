"""Torch's functions of the activations, with the slopes of our table where torch's are others."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Call, Tensor, TorchPlace, matrix

#: From here on ln(1 + e^x) is x in float64, too.
_STRAIGHT = 40.0
#: The least root that a slope divides by.
_LEAST_ROOT = 1e-10
#: The share of a batch in the range that a transfer table tracks, as in numpy's.
TRACKED = 0.01


class Root(torch.autograd.Function):  # type: ignore[misc]
    """The square root of what is above 0, else 0; the slope at and below 0 is 0."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        """Return the roots."""
        root = values.clamp(min=0).sqrt()
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """Return the gradient by the values."""
        (root,) = ctx.saved_tensors
        return gradient / root.clamp(min=_LEAST_ROOT) * (root.sign() * 0.5)


class LookedUp(torch.autograd.Function):  # type: ignore[misc]
    """Values of a table in place of those of a function, whose gradient goes straight through."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, found: Tensor, inside: Tensor) -> Tensor:
        """Return the quantised values; ``inside`` is 1 within the range of the codes."""
        ctx.save_for_backward(inside)
        return found.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient by the values of the function."""
        (inside,) = ctx.saved_tensors
        return gradient * inside, None, None


#: By the names of `netsharp_engine.activations`.
FUNCTIONS: dict[str, Call] = {
    "sigmoid": torch.sigmoid,
    "linear": lambda x: x,
    "softmax": lambda x: torch.softmax(matrix(x), 1),
    "rlinear": torch.relu,
    "square": torch.square,
    "sqrt": Root.apply,
    "srlinear": lambda x: functional.softplus(x, threshold=_STRAIGHT),
    "abs": torch.abs,
    "tanh": torch.tanh,
    "brlinear": lambda x: functional.hardtanh(x, 0.0, 1.0),
}


def activation(node: Node, place: TorchPlace) -> Call:
    """Bind the function that the node names."""
    return FUNCTIONS[node.attributes["function"]]


def dropout(node: Node, place: TorchPlace) -> Call:
    """Bind the product with the mask of the batch; without one nothing is dropped."""
    layer, masks = node.attributes["layer"], place.masks

    def dropped(values: Tensor) -> Tensor:
        mask = masks.get(layer)
        return values if mask is None else matrix(values) * mask

    return dropped


def transfer(node: Node, place: TorchPlace) -> Call:
    """Bind the look-up of a function in a table, which tracks the range of what it is asked."""
    function = FUNCTIONS[node.attributes["function"]]
    (seen,), (table,) = place.parts
    codes, training = node.attributes["codes"], place.training

    def looked_up(values: Tensor) -> Tensor:
        made = function(values)
        with torch.no_grad():
            step, lowest = table[0], table[1]
            empty = step == 0
            scaled = values / torch.where(empty, torch.ones_like(step), step)
            places = torch.floor(scaled - (lowest - 0.5)).nan_to_num().clamp(0, codes - 1)
            found = torch.take(table[2:], places.long())
            found = torch.where(values.isnan(), values, found)
            inside = (scaled >= lowest - 0.5) & (scaled <= lowest + codes - 0.5)
            found = torch.where(empty, made, found)
            inside = (inside | values.isnan() | empty).to(values.dtype)
            if training:
                _track(seen, values)
        return LookedUp.apply(made, found, inside)

    return looked_up


def _track(seen: Tensor, values: Tensor) -> None:
    """Move the range towards that of a batch; the first one is it."""
    range_ = torch.stack((values.min(), values.max()))
    share = torch.where(seen.any(), seen.new_tensor(TRACKED), seen.new_tensor(1.0))
    moved = seen + share * (range_ - seen)
    seen.copy_(torch.where(range_.isfinite().all(), moved, seen))
