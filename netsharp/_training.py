"""Training and models from Python: train, save, load, predict; it joins language and engine."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp._settings import TrainSettings
from netsharp_engine import train as engine
from netsharp_engine.data import Table
from netsharp_engine.data.frames import is_frame
from netsharp_engine.model import Model, save_model
from netsharp_lsp.context import Context
from netsharp_lsp.language import read_model
from netsharp_lsp.specification import (
    file_name,
    keyword_settings,
    output_form,
    read_specification,
    refuse_errors,
)
from netsharp_lsp.trained import trained

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol, Unpack

    import numpy.typing as npt

    from netsharp_lsp.notebooks.watching import Callback

    class FittedEstimator(Protocol):
        """An estimator after ``fit``."""

        model_: Model


def train(
    specification: str | os.PathLike[str],
    x: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    *,
    sample_weight: npt.ArrayLike | None = None,
    callbacks: Callback | Sequence[Callback] | None = None,
    verbose: bool = False,
    **settings: Unpack[TrainSettings],
) -> Model:
    """Train a network on arrays, or on the files that settings name.

    Parameters
    ----------
    specification : str or path object
        Net# text, or the path of its file.
    x : array-like of shape (rows, columns), optional
        The features, numbers; they are copied as the setting ``dtype`` has it, float32 unless it
        is "float64".  Without them ``train="data.csv"`` and ``label="column"`` name files.
    y : array-like of shape (rows,), optional
        The labels: names of classes of any type, or numbers with ``task="regression"``.
    sample_weight : array-like of shape (rows,), optional
        What each row counts, float64, at least 0.
    callbacks : function or sequence of functions, optional
        Each is called with the event of every epoch, a dict as in the run log ("epoch", "loss",
        "metrics", "validation", ...); a true answer ends the training after that epoch.
    verbose : bool, optional
        Show the progress of the training: a bar in a notebook, some lines elsewhere.
    **settings : TrainSettings
        Settings of the training, each by its name: ``epochs=20``, ``learning_rate=0.1``, ...

    Returns
    -------
    Model
        The trained model, which predicts and can be saved; after an interrupt it is as it was
        then, and a warning says so, as one does of a network that learned nothing, and why, and
        of what was found in the data.

    Raises
    ------
    SpecificationError
        The specification has errors, by itself or for this data.
    DataError
        The data cannot be used: a file, a cell, a shape.
    TrainingError
        Network, data and settings do not fit, there is no memory for them, or the run diverged.
    ValueError
        A setting is unknown or has a value that it cannot have.

    Since
    -----
    0.1
    """
    data = read_specification(specification)
    refuse_errors(data, Context())
    read = keyword_settings(settings)
    if x is None:
        rows = engine.load_data(read, output=output_form(data))
    else:
        task = "regression" if read.regression else "classification"
        table = Table.from_arrays(
            x,
            y,
            weights=sample_weight,
            task=task,
            dtype=read.dtype,
            categorical=read.categorical,
        )
        rows = engine.prepare(table, read, consume=True, output=output_form(data))
    for note in rows.notes:
        warnings.warn(note, UserWarning, 2)
    result = trained(data, rows, rows.settings, callbacks=callbacks, verbose=verbose)
    if result.doubt:
        warnings.warn(result.doubt, UserWarning, 2)
    return result.model


def _with_settings(signature: inspect.Signature) -> inspect.Signature:
    """Return the signature as notebooks show and complete it: a keyword for each setting."""
    *named, rest = signature.parameters.values()
    keywords = [
        inspect.Parameter(
            name, rest.KEYWORD_ONLY, default=None, annotation=reference.__forward_arg__
        )
        for name, reference in TrainSettings.__annotations__.items()
    ]
    return signature.replace(parameters=[*named, *keywords])


train.__dict__["__signature__"] = _with_settings(inspect.signature(train))


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model from its file; nothing of the file is executed.

    Parameters
    ----------
    path : str or path object
        A file that `save` or `netsharp run` wrote, or CNTK a model (.dnn) in its first format.

    Returns
    -------
    Model
        A model that answers with the same bits as the one that was saved.

    Raises
    ------
    ModelError
        The file is not a model, is damaged, or was written by a newer version.
    OSError
        It cannot be read.

    Since
    -----
    0.1
    """
    return read_model(file_name(path))


def save(model: Model | FittedEstimator, path: str | os.PathLike[str]) -> None:
    """Write a model into a file, whole or not at all.

    Parameters
    ----------
    model : Model or estimator
        What `train` or `load` returned, or a fitted estimator, whose ``model_`` is written.
    path : str or path object
        The file, as a rule with the suffix `.safetensors`; one that is there is replaced.

    Returns
    -------
    None

    Raises
    ------
    ModelError
        It cannot be written.
    ValueError
        It is an estimator that was not fitted, or no model at all.

    Since
    -----
    0.1
    """
    save_model(trained_model(model, "saved"), file_name(path))


def predict(model: Model | str | os.PathLike[str], x: npt.ArrayLike) -> npt.NDArray[Any]:
    """Answer rows of features.

    Parameters
    ----------
    model : Model, str or path object
        A model, or the path of its file.
    x : array-like of shape (rows, columns)
        The features, numbers, in the order of the training; they are taken as the model's
        ``settings.dtype``.  ``model.predict(x).probabilities`` has the probability of each class.

    Returns
    -------
    ndarray of shape (rows,)
        Names of classes as text, or numbers as float64 for a regression.

    Raises
    ------
    ValueError
        The features have another shape.
    ModelError
        The file is not a model, or there is no memory for its network.

    Since
    -----
    0.1
    """
    trained = load(model) if isinstance(model, str | os.PathLike) else model
    return np.asarray(trained.predict(rows_of(trained, x)).predicted)


def rows_of(model: Model, x: Any) -> Any:
    """Return rows that have the columns or the features of a model, or its inputs by their names.

    Raises ValueError for arrays of another shape.
    """
    if is_frame(x) or isinstance(x, Mapping):
        return x
    matrix = np.asarray(x)
    needed = (model.encoding.features, len(model.encoding.columns))
    if matrix.ndim != 2 or matrix.shape[1] not in needed:
        raise ValueError(
            f"The features have the shape {matrix.shape}; the model needs rows of "
            f"{model.encoding.features} features."
        )
    return matrix


def trained_model(model: object, done: str) -> Model:
    """Return a model, or that of a fitted estimator; ``done`` names the operation for a message.

    Raises ValueError where there is none.
    """
    trained = model if isinstance(model, Model) else getattr(model, "model_", None)
    if not isinstance(trained, Model):
        kind = type(model).__name__
        fit = " Call fit first." if hasattr(model, "fit") else ""
        raise ValueError(f"{kind} holds no trained model that could be {done}.{fit}")
    return trained
