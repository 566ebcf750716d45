"""`rx_neural_network`: the original's call, trained by the engine with the host's defaults."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.data.frames import texts_of
from netsharp_engine.data.labels import Labels, class_names
from netsharp_engine.data.table import Table
from netsharp_engine.host_arguments import ARGUMENTS, LOSSES, NORMALIZERS, OPTIMIZERS, TASKS
from netsharp_engine.train import prepare
from netsharp_lsp.context import Context
from netsharp_lsp.importing.networks import host_network
from netsharp_lsp.microsoftml.columns import ChosenColumns, chosen
from netsharp_lsp.microsoftml.refused import refuse_arguments
from netsharp_lsp.microsoftml.values import HostLoss, HostOptimizer, Math, sgd_optimizer
from netsharp_lsp.specification import (
    keyword_settings,
    output_form,
    read_specification,
    refuse_errors,
)
from netsharp_lsp.trained import trained

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_engine.model import Model
    from netsharp_engine.train import TrainingSettings

#: What settings of a run are called by this call.
CALLED = {row.key: row.python for row in (*ARGUMENTS, *OPTIMIZERS) if row.key and row.python}


@dataclass(frozen=True, slots=True)
class NeuralNetwork:
    """A trained network, as `rx_predict` takes it; it can be pickled and copied.

    ``model_`` is what `netsharp.save` writes; ``label`` and ``features`` are columns of the frame
    that it was trained on, ``method`` is "binary", "multiClass" or "regression".
    """

    model_: Model
    formula: str
    method: str
    label: str
    features: tuple[str, ...]

    def summary(self) -> str:
        """Return what was trained, on what, and how good it is, line by line."""
        return "\n".join(
            (
                f"Neural network, {self.method}",
                f"formula: {self.formula.strip()}",
                repr(self.model_),
                self.model_.specification.rstrip(),
            )
        )

    def __repr__(self) -> str:
        return f"Neural network, {self.method}: {self.formula.strip()}\n{self.model_!r}"


def rx_neural_network(
    formula: str,
    data: Any,
    method: str = "binary",
    num_hidden_nodes: int = 100,
    num_iterations: int = 100,
    optimizer: HostOptimizer | None = None,
    net_definition: str | os.PathLike[str] | None = None,
    init_wts_diameter: float = 0.1,
    max_norm: float = 0,
    acceleration: Math | None = None,
    mini_batch_size: int = 1,
    normalize: str = "Auto",
    ml_transforms: Sequence[object] | None = None,
    ml_transform_vars: Sequence[str] | None = None,
    row_selection: object = None,
    transforms: object = None,
    transform_objects: object = None,
    transform_function: object = None,
    transform_variables: object = None,
    transform_packages: object = None,
    transform_environment: object = None,
    blocks_per_read: int | None = None,
    report_progress: int | None = None,
    verbose: int = 1,
    ensemble: object = None,
    compute_context: object = None,
    *,
    loss_function: HostLoss | str | None = None,
) -> NeuralNetwork:
    """Train a network on a data frame as Microsoft's `rx_neural_network` did.

    ``formula`` is "label ~ a + b" or "label ~ .", ``method`` "binary", "multiClass" or
    "regression", ``net_definition`` a text of Net# or the path of a file, without which there is
    one hidden layer.  ``optimizer`` is what `sgd_optimizer` or `adadelta_optimizer` return,
    ``normalize`` "Auto", "Yes", "No" or "Warn", ``ml_transforms`` a list of what `concat` returns,
    ``verbose`` 0 to be quiet.  Rows with a missing value are left out of the training.  Initial
    weights and the order of rows are the same in each call.  No result depends on
    ``acceleration``, ``blocks_per_read``, ``report_progress`` and ``ml_transform_vars``; other
    arguments are refused by name.

    Raises SpecificationError, DataError, TrainingError, and ValueError for arguments that cannot
    be, each with a sentence.
    """
    refuse_arguments("rx_neural_network", locals())
    columns = chosen(formula, data, ml_transforms)
    task = _one_of("method", method, TASKS)
    settings = keyword_settings(
        {
            "host": "rx",
            "task": task,
            "missing": "drop",
            "hidden_nodes": num_hidden_nodes,
            "epochs": num_iterations,
            "batch_size": mini_batch_size,
            "init_diameter": init_wts_diameter,
            "max_norm": max_norm,
            "normalizer": _one_of("normalize", normalize, NORMALIZERS),
            **_loss(loss_function),
            **_rule(optimizer),
        },
        CALLED,
    )
    text = net_definition if net_definition is not None else host_network(task)
    table = _table(data, columns, task, settings)
    if normalize.lower() == "warn" and np.any(np.abs(table.numbers) > 1):
        warnings.warn(
            "The features have values beyond -1 and 1 and are not normalised: normalize='Yes' "
            "does it.",
            UserWarning,
            2,
        )
    model = _trained(text, table, settings, verbose=verbose)
    return NeuralNetwork(model, formula, method, *columns)


def _trained(
    specification: str | os.PathLike[str], table: Table, settings: TrainingSettings, *, verbose: int
) -> Model:
    text = read_specification(specification)
    refuse_errors(text, Context())
    rows = prepare(table, settings, output=output_form(text))
    for note in rows.notes:
        warnings.warn(note, UserWarning, 3)
    result = trained(text, rows, rows.settings, verbose=bool(verbose))
    if result.doubt:
        warnings.warn(result.doubt, UserWarning, 3)
    return result.model


def _table(data: Any, columns: ChosenColumns, task: str, settings: TrainingSettings) -> Table:
    """The rows of a frame: its features, and the label as numbers or as classes in their order."""
    table = Table.from_arrays(data[list(columns.features)], dtype=settings.dtype)
    column = data[columns.label]
    if task == "regression":
        return replace(table, label=columns.label, targets=_numbers(column, columns.label))
    levels, codes = _classes(column, columns.label)
    if len(levels) < 2 or (task == "binary" and len(levels) > 2):
        needed = "two classes" if task == "binary" else "at least two classes"
        hint = " method='multiClass' takes more." if len(levels) > 2 else ""
        raise ValueError(
            f"The label '{columns.label}' has {len(levels):,} classes; {needed} are needed.{hint}"
        )
    return replace(
        table,
        label=columns.label,
        classes=class_names(levels),
        class_codes=codes,
        labels=Labels.aligned(levels),
    )


def _numbers(column: Any, label: str) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"The label '{label}' of a regression must be numbers.") from None


def _classes(column: Any, label: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """The classes of a label in their order, and the class of each row, -1 where it is missing.

    The order is that of the levels of a categorical column, of all of them, else the natural one.
    """
    if str(getattr(column, "dtype", "")) == "category":
        return np.asarray(column.cat.categories), np.asarray(column.cat.codes, dtype=np.int32)
    values = np.asarray(column)
    if values.dtype.kind == "O":
        values = np.array(texts_of(label, values)) if _holds_texts(values) else values
    missing = values == "" if values.dtype.kind == "U" else _absent(values)
    levels, found = np.unique(_plain(values[~missing]), return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[~missing] = found
    return levels, codes


def _holds_texts(values: npt.NDArray[Any]) -> bool:
    return any(isinstance(value, str) for value in values.tolist())


def _absent(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where numbers or objects are missing: None, NaN, and pandas' NA, which equals nothing."""
    if values.dtype.kind != "O":
        return np.asarray(values != values)
    return np.array(
        [one is None or not isinstance(one == one, bool) or one != one for one in values]
    )


def _plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Objects that are all of one plain type as an array of it."""
    return np.array(values.tolist()) if values.dtype.kind == "O" and len(values) else values


def _one_of(name: str, given: object, known: Mapping[str, str]) -> str:
    found = known.get(given.lower()) if isinstance(given, str) else None
    if found is None:
        raise ValueError(f"{name} must be one of {', '.join(known)}, found {given!r}.")
    return found


def _rule(optimizer: object) -> dict[str, object]:
    if optimizer is None:
        optimizer = sgd_optimizer()
    if not isinstance(optimizer, HostOptimizer):
        raise ValueError(
            f"optimizer must be sgd_optimizer(...) or adadelta_optimizer(...), found {optimizer!r}."
        )
    return {"optimizer": optimizer.name, **optimizer.settings}


def _loss(given: object) -> dict[str, object]:
    if given is None:
        return {}
    if isinstance(given, HostLoss):
        return {"loss": given.name}
    return {"loss": _one_of("loss_function", given, LOSSES)}
