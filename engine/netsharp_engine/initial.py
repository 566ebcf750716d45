"""The values that parameters begin with, drawn on the host: the same for every back end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.nodes import Parameter

#: So many numbers are drawn at a time: the generator gives them twice as wide as most are kept.
_DRAWN = 2**20


def initial_values(
    parameters: Iterable[Parameter], seed: int, diameter: float, dtype: str
) -> dict[str, npt.NDArray[np.floating[Any]]]:
    """Uniform numbers from [-diameter / 2, diameter / 2] in canonical order; given ones win.

    Parameters are drawn one after the other as they were created, those that are given, too.
    """
    random = np.random.default_rng(seed)
    found = {}
    for parameter in parameters:
        values = np.empty(parameter.size, dtype)
        for start in range(0, parameter.size, _DRAWN):
            piece = values[start : start + _DRAWN]
            piece[:] = random.uniform(-diameter / 2, diameter / 2, piece.size)
        if parameter.initial is not None:
            values[:] = np.asarray(parameter.initial).ravel()
        found[parameter.name] = values.reshape(parameter.shape)
    return found
