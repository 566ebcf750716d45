"""The base of classifier and regressor: parameters, checks of data, training, saving of figures.

They train with the engine and follow scikit-learn's conventions; they know no files.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    _check_y,
    check_is_fitted,
    validate_data,
)

from netsharp_engine.data.frames import is_frame, named_columns
from netsharp_engine.data.table import Table
from netsharp_engine.train import TrainingError, prepare, train_further
from netsharp_lsp.context import Context
from netsharp_lsp.estimators.networks import layered
from netsharp_lsp.specification import (
    keyword_settings,
    read_specification,
    refusals,
    refuse_errors,
)
from netsharp_lsp.trained import table_maker, trained

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from netsharp_engine.data.labels import Labels
    from netsharp_engine.model import Model
    from netsharp_engine.train import TrainingData, TrainingResult, TrainingSettings
    from netsharp_lsp.notebooks.watching import Callback

#: Parameters that are settings of the engine, under their names there.
SETTINGS = (
    *("optimizer", "learning_rate", "momentum", "nesterov", "weight_decay", "max_norm"),
    *("clip_norm", "clip_value", "dropout"),
    *("schedule", "schedule_epochs", "schedule_factor", "schedule_least"),
    *("batch_size", "shuffle", "normalizer", "loss", "scale_label", "init", "init_diameter"),
    *("missing", "threads", "dtype", "device", "precision"),
)
#: The parameters that are settings under other names: those of scikit-learn's networks.
CALLED = {
    "epochs": "max_iter",
    "patience": "n_iter_no_change",
    "validation": "validation_fraction",
    "class_weights": "class_weight",
    "seed": "random_state",
}


class NetSharpEstimator(BaseEstimator):  # type: ignore[misc]
    """The base of classifier and regressor; see `NetSharpClassifier`."""

    def __init__(
        self,
        specification: str | os.PathLike[str] | None = None,
        *,
        hidden_layer_sizes: int | Sequence[int] | None = None,
        optimizer: str = "adam",
        learning_rate: float | None = None,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
        max_norm: float = 0.0,
        clip_norm: float = 0.0,
        clip_value: float = 0.0,
        dropout: float | Mapping[str, float] | None = None,
        schedule: str = "constant",
        schedule_epochs: int | None = None,
        schedule_factor: float | None = None,
        schedule_least: float | None = None,
        max_iter: int = 200,
        batch_size: int | str = "auto",
        shuffle: bool = True,
        normalizer: str = "robust",
        loss: str = "auto",
        scale_label: bool = True,
        init: str | None = None,
        init_diameter: float | None = None,
        missing: str = "error",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        threads: int | str = 1,
        dtype: str = "auto",
        device: str = "cpu",
        precision: str | None = None,
        verbose: bool = False,
        callbacks: Callback | Sequence[Callback] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.specification = specification
        self.hidden_layer_sizes = hidden_layer_sizes
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.nesterov = nesterov
        self.weight_decay = weight_decay
        self.max_norm = max_norm
        self.clip_norm = clip_norm
        self.clip_value = clip_value
        self.dropout = dropout
        self.schedule = schedule
        self.schedule_epochs = schedule_epochs
        self.schedule_factor = schedule_factor
        self.schedule_least = schedule_least
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.normalizer = normalizer
        self.loss = loss
        self.scale_label = scale_label
        self.init = init
        self.init_diameter = init_diameter
        self.missing = missing
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.threads = threads
        self.dtype = dtype
        self.device = device
        self.precision = precision
        self.verbose = verbose
        self.callbacks = callbacks
        self.random_state = random_state

    _task = ""

    def __sklearn_tags__(self) -> Any:
        """Return the tags by which scikit-learn decides how to test an estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[Any]:
        """Return the name of each feature [features] after the encoding of the columns.

        An indicator of a category is "column=level", that of unknown ones "column=?", that of
        missing numbers "column=missing".  ``input_features`` is not used.
        """
        check_is_fitted(self, "model_")
        return np.array(self.model_.encoding.names, dtype=object)

    def _settings(self, dtype: str, class_weights: object = None) -> TrainingSettings:
        given: dict[str, object] = {name: getattr(self, name) for name in SETTINGS}
        given |= {"task": self._task, "epochs": self.max_iter, "class_weights": class_weights}
        if self.batch_size == "auto":
            del given["batch_size"]
        if self.dtype == "auto":
            given["dtype"] = dtype
        if self.early_stopping:
            given |= self._stopping()
        random = self.random_state
        if isinstance(random, int | np.integer):
            given["seed"] = int(random)
        else:
            given["seed"] = int(check_random_state(random).randint(np.iinfo(np.int32).max))
        return keyword_settings(given, CALLED)

    def _stopping(self) -> dict[str, object]:
        """Return the settings of early stopping, which needs some rows and some patience."""
        for name in ("validation_fraction", "n_iter_no_change"):
            value = getattr(self, name)
            if isinstance(value, int | float) and value <= 0:
                raise ValueError(f"{name} must be above 0 for early_stopping, found {value!r}.")
        fraction = self.validation_fraction
        if not isinstance(fraction, int | float | np.number) or not fraction < 1:
            raise ValueError(f"validation_fraction must be below 1, found {fraction!r}.")
        return {"validation": self.validation_fraction, "patience": self.n_iter_no_change}

    def _specified(self) -> str | os.PathLike[str]:
        """Return the given specification, or one made from the sizes of hidden layers."""
        if self.specification is None:
            return layered(self.hidden_layer_sizes, self._task)
        if self.hidden_layer_sizes is not None:
            raise ValueError(
                "hidden_layer_sizes and specification both say what the network is. Leave one "
                "of them out."
            )
        return self.specification

    def _fit(self, table: Table, settings: TrainingSettings) -> Self:
        """Train from new weights.

        Rows of weight 0 are left out, so that they change no range of a feature either.
        """
        text = read_specification(self._specified())
        refuse_errors(text, Context())
        self.spec_ = text.decode()
        weights = table.weights
        if weights is not None and np.any(weights > 0) and not np.all(weights > 0):
            table = table.only(np.flatnonzero(weights > 0))
        data = prepare(table, settings)
        result = trained(text, data, settings, callbacks=self.callbacks, verbose=self.verbose)
        return self._keep(result)

    def _fit_further(self, table: Table) -> Self:
        model: Model = self.model_
        data: TrainingData = prepare(table, model.settings, fitted=model)
        with refusals(model.specification.encode()):
            return self._keep(train_further(model, data, tables=table_maker(model.settings)))

    def _keep(self, result: TrainingResult) -> Self:
        if result.status == "diverged":
            raise TrainingError(result.message)
        if result.doubt:
            warnings.warn(result.doubt, ConvergenceWarning, 4)
        self.model_: Model = result.model
        self.n_iter_ = len(result.history)
        self.loss_curve_ = [event["loss"] for event in result.history]
        return self

    def _table(
        self,
        features: Any,
        dtype: str,
        weights: npt.ArrayLike | None,
        *,
        classes: tuple[tuple[str, ...], npt.NDArray[Any], Labels | None] | None = None,
        targets: npt.NDArray[np.float64] | None = None,
    ) -> Table:
        """Return checked data as a table; ``classes`` are names, the code of each row, labels."""
        table = Table.from_arrays(features, weights=self._weights(weights, features), dtype=dtype)
        if classes is not None:
            names, codes, labels = classes
            table = replace(table, classes=names, class_codes=codes.astype(np.int32), labels=labels)
        return replace(table, targets=targets)

    def _weights(
        self, weights: npt.ArrayLike | None, features: Any
    ) -> npt.NDArray[np.float64] | None:
        if weights is None:
            return None
        rows = np.empty((len(features), 0))
        checked: npt.NDArray[np.float64] = _check_sample_weight(weights, rows, dtype=np.float64)
        if np.any(checked < 0):
            row = int(np.argmax(checked < 0))
            raise ValueError(
                f"sample_weight must be at least 0, found {checked[row]:g} in row {row + 1}."
            )
        return checked

    def _numeric_type(self, features: Any) -> str:
        """Return the type of numbers that suits checked data: float32 where all of it is."""
        if not is_frame(features):
            return str(features.dtype.name)
        arrays = [values for _, values in named_columns(features)]
        single = all(values.dtype == np.float32 for values in arrays)
        return "float32" if single else "float64"

    def _features(self, features: Any) -> Any:
        """Return checked rows to predict: a frame with the columns of the training, or numbers."""
        check_is_fitted(self, "model_")
        if is_frame(features):
            self._check_columns(features, reset=False)
            return features
        if not self.model_.encoding.plain:
            return np.asarray(features, dtype=object)
        return validate_data(self, features, reset=False, **self._accepted())

    def _accepted(self) -> dict[str, Any]:
        finite = True if self.missing == "error" else "allow-nan"
        return {"dtype": (np.float64, np.float32), "ensure_all_finite": finite}

    def _checked(self, features: Any, labels: Any, *, reset: bool) -> tuple[Any, npt.NDArray[Any]]:
        """Return checked features, a frame or numbers, and labels [rows] or numbers
        [rows, outputs]."""
        numeric = self._task == "regression"
        kinds = {"multi_output": numeric, "y_numeric": numeric}
        if is_frame(features):
            self._check_columns(features, reset=reset)
            if labels is None:
                raise ValueError(
                    f"This {type(self).__name__} estimator requires y to be passed, but the "
                    "target y is None."
                )
            checked = _check_y(labels, estimator=self, **kinds)
            check_consistent_length(features, checked)
            return features, checked
        accepted = self._accepted()
        found: tuple[Any, npt.NDArray[Any]] = validate_data(
            self, features, labels, reset=reset, **accepted, **kinds
        )
        return found

    def _check_columns(self, frame: Any, *, reset: bool) -> None:
        """Take the names of a frame's columns, or compare them with those of the training: any
        order of these is as good.
        """
        names = [name for name, _ in named_columns(frame)]
        fitted = getattr(self, "feature_names_in_", None)
        if reset:
            self.n_features_in_ = len(names)
            if all(isinstance(name, str) for name in names):
                self.feature_names_in_ = np.array(names, dtype=object)
            elif fitted is not None:
                del self.feature_names_in_
        elif fitted is not None and set(names) != set(fitted.tolist()):
            _check_feature_names(self, frame, reset=False)
        elif len(names) != self.n_features_in_:
            raise ValueError(
                f"X has {len(names)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
