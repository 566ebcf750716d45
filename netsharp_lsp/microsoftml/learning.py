"""`rx_neural_network`, trained by the engine with the host's defaults."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.data.labels import Labels, class_names
from netsharp_engine.data.table import Table
from netsharp_engine.excerpt import excerpt
from netsharp_engine.host_arguments import ARGUMENTS, LOSSES, NORMALIZERS, OPTIMIZERS, TASKS
from netsharp_engine.train import prepare
from netsharp_lsp.context import Context
from netsharp_lsp.importing.networks import host_network
from netsharp_lsp.microsoftml.columns import ChosenColumns, chosen
from netsharp_lsp.microsoftml.labels import classes_of, numbers_of
from netsharp_lsp.microsoftml.refused import is_true, refuse_arguments, shown
from netsharp_lsp.microsoftml.values import HostLoss, HostOptimizer, Math, sgd_optimizer
from netsharp_lsp.microsoftml.wording import in_words_of_the_call, refusals_of_the_call
from netsharp_lsp.specification import (
    keyword_settings,
    output_form,
    read_specification,
    refuse_errors,
)
from netsharp_lsp.trained import trained

if TYPE_CHECKING:
    from netsharp_engine.model import Model
    from netsharp_engine.train import TrainingSettings

#: The settings of a run by the arguments of this call.
CALLED = {row.key: row.python for row in (*ARGUMENTS, *OPTIMIZERS) if row.key and row.python}


@dataclass(frozen=True, slots=True, eq=False)
class NeuralNetwork:
    """A trained network, as `rx_predict` takes it; it can be pickled and copied, and equals itself.

    ``model_`` is what `netsharp.save` writes; ``label`` and ``features`` are columns of the frame
    that it was trained on, ``method`` is "binary", "multiClass" or "regression".
    """

    model_: Model
    formula: str
    method: str
    label: str
    features: tuple[str, ...]

    def summary(self) -> str:
        """Return a summary of the network, its data and its metrics, line by line."""
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
    ``verbose`` 0 to be quiet.  Rows with a missing number, truth or label are left out of the
    training; a missing text is a level of its own, that of unknown ones.  Initial weights and the
    order of rows are the same in each call.  No result depends on ``acceleration``,
    ``blocks_per_read``, ``report_progress`` and ``ml_transform_vars``; other arguments are refused
    by name.

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
    text = _definition(net_definition, task)
    with refusals_of_the_call():
        table = _table(data, columns, task, settings)
    if normalize.lower() == "warn" and np.any(np.abs(table.numbers) > 1):
        warnings.warn(
            "The features have values beyond -1 and 1 and are not normalised: normalize='Yes' "
            "does it.",
            UserWarning,
            2,
        )
    loud = is_true("verbose", verbose)
    with refusals_of_the_call():
        model = _trained(text, table, settings, verbose=loud)
    return NeuralNetwork(model, formula, method, *columns)


def _definition(given: object, task: str) -> bytes:
    """Return the Net# text of a call; SpecificationError where it has errors."""
    if given is None:
        given = host_network(task)
    if not isinstance(given, str | os.PathLike):
        raise ValueError(
            "net_definition must be a text of Net#, or the path of a file with one, found "
            f"{type(given).__name__}."
        )
    text = read_specification(given)
    refuse_errors(text, Context())
    return text


def _trained(text: bytes, table: Table, settings: TrainingSettings, *, verbose: bool) -> Model:
    rows = prepare(table, settings, output=output_form(text))
    for note in rows.notes:
        warnings.warn(in_words_of_the_call(note), UserWarning, 3)
    result = trained(text, rows, rows.settings, verbose=verbose)
    if result.doubt:
        warnings.warn(in_words_of_the_call(result.doubt), UserWarning, 3)
    return result.model


def _table(data: Any, columns: ChosenColumns, task: str, settings: TrainingSettings) -> Table:
    """Return a frame's rows: features, and the label as numbers or as classes in order."""
    table = Table.from_arrays(data[list(columns.features)], dtype=settings.dtype)
    column, label = data[columns.label], columns.label
    if task == "regression":
        return replace(table, label=label, targets=numbers_of(column, label))
    levels, codes = classes_of(column, label)
    _check_count(label, len(levels), len(np.unique(codes[codes >= 0])), task)
    return replace(
        table,
        label=label,
        classes=class_names(levels),
        class_codes=codes,
        labels=Labels.aligned(levels),
    )


def _check_count(label: str, count: int, used: int, task: str) -> None:
    """Refuse a label of too few classes or too many, ``used`` of which occur."""
    if count == 2 or (task != "binary" and count > 2):
        return
    needed = "two classes" if task == "binary" else "at least two classes"
    hint = " method='multiClass' takes more." if count > 2 else ""
    if used == 2 and count > 2:
        hint = " Only two of them occur: take the other levels out of the column's categories."
    noun = "class" if count == 1 else "classes"
    raise ValueError(
        f"The label '{excerpt(label)}' has {count:,} {noun}; {needed} are needed.{hint}"
    )


def _one_of(name: str, given: object, known: Mapping[str, str]) -> str:
    found = known.get(given.lower()) if isinstance(given, str) else None
    if found is None:
        raise ValueError(f"{name} must be one of {', '.join(known)}, found {shown(given)}.")
    return found


def _rule(optimizer: object) -> dict[str, object]:
    if optimizer is None:
        optimizer = sgd_optimizer()
    if not isinstance(optimizer, HostOptimizer):
        raise ValueError(
            "optimizer must be sgd_optimizer(...) or adadelta_optimizer(...), found "
            f"{shown(optimizer)}."
        )
    return {"optimizer": optimizer.name, **optimizer.settings}


def _loss(given: object) -> dict[str, object]:
    if given is None:
        return {}
    if isinstance(given, HostLoss):
        return {"loss": given.name}
    return {"loss": _one_of("loss_function", given, LOSSES)}
