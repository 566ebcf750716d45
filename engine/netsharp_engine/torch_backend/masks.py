"""Masks of dropout in torch's operations, on the device of the values: none crosses to it.

The same bits as those of `netsharp_engine.dropping`; whole numbers of 64 bits hold words of 32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from netsharp_engine import dropping
from netsharp_engine.dropping import Draw, kept_from, scale_of
from netsharp_engine.dropping.philox import FACTORS, GROWTH, ROUNDS, WORDS
from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.numbers import TorchNumbers

_LOW = 0xFFFFFFFF


def masks_of(
    nodes: Sequence[Node], draw: Draw, rows: int, numbers: TorchNumbers
) -> dict[str, Tensor]:
    """Return the mask [rows, nodes] of each of some ``Dropout`` nodes, by its layer.

    A processor takes the host's own way, which is compiled.
    """
    if numbers.device.type == "cpu":
        kind = str(numbers.dtype).partition(".")[2]
        made = dropping.masks_of(nodes, draw, rows, kind)
        return {layer: torch.from_numpy(mask) for layer, mask in made.items()}
    if draw.rows is None:
        places = torch.arange(rows, device=numbers.device)
    else:
        places = torch.from_numpy(draw.rows).to(numbers.device)
    found: dict[str, Tensor] = {}
    for node in nodes:
        kept = layer_mask(node.attributes, node.size, draw, places).to(numbers.dtype)
        found[node.attributes["layer"]] = kept * scale_of(node.attributes["rate"])
    return found


def layer_mask(attributes: Mapping[str, Any], size: int, draw: Draw, rows: Tensor) -> Tensor:
    """Return bools [rows, nodes]: which values of a ``Dropout`` node are kept.

    ``rows``, int64 on the device, are the numbers of the fed rows in their batch.
    """
    blocks = torch.arange(-(-size // WORDS), device=rows.device)[None, :]
    a, b = blocks.expand(len(rows), -1), rows[:, None].expand(-1, blocks.shape[1])
    c, d = torch.full_like(a, draw.step), torch.full_like(a, attributes["number"])
    first, second = draw.key
    for _ in range(ROUNDS):
        left, right = a * FACTORS[0], c * FACTORS[1]
        a, b = ((right >> 32) & _LOW) ^ b ^ first, right & _LOW
        c, d = ((left >> 32) & _LOW) ^ d ^ second, left & _LOW
        first, second = (first + GROWTH[0]) & _LOW, (second + GROWTH[1]) & _LOW
    words = torch.stack((a, b, c, d), dim=-1).reshape(len(rows), -1)
    return words[:, :size] >= kept_from(attributes["rate"])
