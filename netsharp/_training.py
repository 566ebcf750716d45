"""Training and models from Python: train, save, load, predict; it joins language and engine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine import train as engine
from netsharp_engine.data import Table
from netsharp_engine.model import Model, load_model, save_model
from netsharp_lsp.context import Context
from netsharp_lsp.language import family_with
from netsharp_lsp.specification import (
    file_name,
    graph_of,
    read_specification,
    refusals,
    refuse_errors,
)

if TYPE_CHECKING:
    import numpy.typing as npt


def train(
    specification: str | os.PathLike[str],
    x: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    *,
    sample_weight: npt.ArrayLike | None = None,
    **settings: Any,
) -> Model:
    """Train a network and return the model.

    ``x`` [rows, columns] and ``y`` [rows] are arrays; without them ``train="data.csv"`` and
    ``label="column"`` name files.  ``settings`` are those of a run file: ``task``, ``epochs``,
    ``batch_size``, ``learning_rate``, ``optimizer``, ``seed``, ...  Raises SpecificationError for
    a specification with errors, and ValueError for data and settings that do not fit, or a run
    that diverged.
    """
    data = read_specification(specification)
    refuse_errors(data, Context())
    read = engine.read_settings({}, settings)
    if isinstance(read, list):
        raise ValueError(" ".join(read))
    if x is None:
        rows = engine.load_data(read)
    else:
        task = "regression" if read.regression else "classification"
        table = Table.from_arrays(x, y, weights=sample_weight, task=task, dtype=read.dtype)
        rows = engine.prepare(table, read, consume=True)
    graph = graph_of(data, rows.context())
    with refusals():
        result = engine.train(graph, rows, read, specification=data.decode())
    if result.status == "diverged":
        raise engine.TrainingError(result.message)
    return result.model


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file.  Raises ValueError, a sentence, for any other file.

    Loading executes nothing of the file.
    """
    return load_model(file_name(path), family_with(lambda family: family.training).build_graph)


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all.  Raises ValueError where it cannot be written."""
    save_model(model, file_name(path))


def predict(model: Model | str | os.PathLike[str], x: npt.ArrayLike) -> npt.NDArray[Any]:
    """The answers [rows] for features [rows, columns]: names of classes, or float64 numbers.

    ``model`` is a model or the path of its file.  Raises ValueError for features that do not
    fit.  ``model.predict(x).probabilities`` has the probability of each class.
    """
    trained = load(model) if isinstance(model, str | os.PathLike) else model
    matrix: npt.NDArray[np.floating] = np.asarray(x, dtype=trained.settings.dtype)
    if matrix.ndim != 2 or matrix.shape[1] != trained.encoding.features:
        raise ValueError(
            f"The features have the shape {matrix.shape}; the model needs rows of "
            f"{trained.encoding.features} features."
        )
    return np.asarray(trained.predict(matrix).predicted)
