"""Masks of dropout, made on the device: a word of the generator decides each number.

The definition is `netsharp_engine.dropping`; of a step only what its draw says crosses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from netsharp_engine.dropping import Draw, kept_from, scale_of
from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import FORWARD, Buffer, Each

#: The numbers of a draw: halves of words, lower ones first, which a number of 24 bits holds, and
#: whether anything is dropped.
FIRST, SECOND, STEP, DROPS, NUMBERS = 0, 2, 4, 6, 7


def drawn(
    build: Building, what: str, attributes: Mapping[str, Any], draw: Buffer, mask: Buffer
) -> None:
    """Add the kernel of a ``Dropout`` node's mask."""
    rate = attributes["rate"]
    scale = repr(float(np.float32(scale_of(rate))))
    counter = f"u32(i) / 4u, u32(n), {_word(draw, STEP)}, {attributes['number']}u"
    key = f"{_word(draw, FIRST)}, {_word(draw, SECOND)}"
    word = f"philox(vec4<u32>({counter}), vec2<u32>({key}), u32(i) % 4u)"
    kept = f"select(0.0, {scale}, {word} >= {kept_from(rate)}u)"
    formula = f"select(1.0, {kept}, b{draw.number}[{DROPS}] > 0.0)"
    build.kernel(f"{what}: draw", "draw", FORWARD, mask, Each(formula))


def numbers_of(draw: Draw | None) -> list[float]:
    """Return the contents of a draw's buffer; without a draw nothing is dropped."""
    if draw is None:
        return [0.0] * NUMBERS
    words = (*draw.key, draw.step)
    return [*(float(half) for word in words for half in (word & 0xFFFF, word >> 16)), 1.0]


def _word(draw: Buffer, place: int) -> str:
    low, high = (f"u32(b{draw.number}[{at}])" for at in (place, place + 1))
    return f"({low} | ({high} << 16u))"
