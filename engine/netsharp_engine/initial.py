"""The values that parameters begin with, drawn on the host: the same for every back end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.nodes import Parameter


def initial_values(
    parameters: Iterable[Parameter], seed: int, diameter: float, dtype: str
) -> dict[str, npt.NDArray[np.floating[Any]]]:
    """Uniform numbers from [-diameter / 2, diameter / 2] in canonical order; given ones win.

    Parameters are drawn one after the other as they were created, those that are given, too.
    """
    random = np.random.default_rng(seed)
    found = {}
    for parameter in parameters:
        drawn = random.uniform(-diameter / 2, diameter / 2, parameter.size)
        values = drawn if parameter.initial is None else np.asarray(parameter.initial)
        found[parameter.name] = values.astype(dtype).reshape(parameter.shape)
    return found
