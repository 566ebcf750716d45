"""The task that a table and a network are for, where the settings do not name it: numbers or
classes.

It knows what the output layer is, and must not know languages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from netsharp_engine.cells import are_measured, is_number
from netsharp_engine.data import DataError, Table
from netsharp_engine.excerpt import excerpt
from netsharp_engine.train.settings import TrainingSettings
from netsharp_engine.train.settings.keys import REGRESSION_RATE, SGD_RATE

#: What an output layer computes whose values have no bounds.
UNBOUNDED = "linear"


class OutputForm(NamedTuple):
    """An output layer: its nodes, None where they are ``auto``, and its activation."""

    nodes: int | None
    activation: str


def resolved_task(
    table: Table, settings: TrainingSettings, output: OutputForm | None
) -> TrainingSettings:
    """Return the settings with the task in force.

    Where no task is set, labels are numbers to predict if they look so (`cells.are_measured`) and
    the output layer is linear, with one node or ``auto``.  In all other cases the settings stay as
    they are, also where a loss or weights of classes are set.
    """
    names = table.classes
    given = settings.class_weights is not None or settings.loss == "cross-entropy"
    if settings.origins["task"] != "default" or names is None or output is None or given:
        return settings
    if output.activation != UNBOUNDED or output.nodes not in (1, None):
        return settings
    if not are_measured(names):
        return settings
    return as_regression(settings)


def as_regression(settings: TrainingSettings) -> TrainingSettings:
    """Return settings that were for classes by default as those for numbers to predict."""
    rate = settings.learning_rate
    if settings.origins["learning_rate"] in ("default", "host"):
        is_common = rate == SGD_RATE and settings.host in (None, "studio")
        rate = REGRESSION_RATE if is_common and settings.optimizer != "adam" else rate
    return replace(settings, task="regression", learning_rate=rate)


def with_numbers(table: Table) -> Table:
    """Return a table whose classes are the numbers to predict; DataError where one is none."""
    if table.classes is None or table.class_codes is None:
        return table
    strange = [name for name in table.classes if not is_number(name)]
    if strange:
        where = table.paths[0] if table.paths else "The table"
        raise DataError(
            f"{where}: the label '{excerpt(strange[0])}' is not a number, as those of the "
            'training rows are. Correct it, or set task = "classification".'
        )
    values = np.array([float(name) for name in table.classes])
    return replace(
        table, classes=None, class_codes=None, labels=None, targets=values[table.class_codes]
    )
