"""The state of a run: everything that continues it bit by bit, as plain numbers and named
arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine import stored

Tensors = dict[str, npt.NDArray[np.floating]]

#: How a field of each type is read from a model file.
READERS: Mapping[str, Callable[[Mapping[str, Any], str], Any]] = {
    "int": stored.whole,
    "bool": stored.truth,
    "str": stored.text,
    "float": stored.number,
    "float | None": lambda values, key: stored.optional(values, key, stored.number),
}
#: Fields that models lack which were written before there were schedules.
LATER = ("plateau_loss", "plateau_epochs")


@dataclass(slots=True)
class TrainingState:
    """The position of a run.

    ``epoch`` and ``position`` count finished epochs and finished steps of the present one;
    random orders follow from seed and epoch.  ``loss_sum``, ``weight_sum``, ``right`` and
    ``seen`` belong to the present epoch.  ``plateau_loss`` and ``plateau_epochs`` are what a
    schedule waits for: the best loss, and the epochs since without a better one.  ``vectors`` holds
    what the program remembers beside its weights (the optimiser's memory, states that are carried
    on) and, as ``last``, the weights when the model holds those of the best epoch instead.
    """

    rate: float
    epoch: int = 0
    position: int = 0
    step: int = 0
    updates: int = 0
    samples: int = 0
    loss_sum: float = 0.0
    weight_sum: float = 0.0
    right: int = 0
    seen: int = 0
    previous_loss: float | None = None
    best_loss: float | None = None
    best_epoch: int = 0
    waited: int = 0
    plateau_loss: float | None = None
    plateau_epochs: int = 0
    seconds: float = 0.0
    finished: bool = False
    data: str = ""
    vectors: dict[str, Tensors] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers; floats keep every bit."""
        values = asdict(self)
        del values["vectors"]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any], vectors: dict[str, Tensors]) -> TrainingState:
        """Return the state of stored numbers and arrays; raises ValueError on others.

        Values that runs did not store before there were schedules begin as in a new run.
        """
        read = {
            each.name: READERS[str(each.type)](values, each.name)
            for each in fields(cls)[:-1]
            if each.name in values or each.name not in LATER
        }
        return cls(**read, vectors=vectors)
