"""Net# networks as scikit-learn estimators; needs the extra `netsharp[sklearn]`.

They train with the engine and follow scikit-learn's conventions; files are not their matter.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from netsharp_engine.data import Table
from netsharp_engine.data.table import translate_classes
from netsharp_engine.train import (
    TrainingError,
    prepare,
    read_settings,
    train,
    train_further,
)
from netsharp_lsp.specification import graph_of, read_specification, refusals

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from netsharp_engine.model import Model
    from netsharp_engine.train import TrainingData, TrainingResult, TrainingSettings

#: The network of an estimator without a specification: the hosts' own, all sizes automatic.
DEFAULT_CLASSIFIER = """\
input Data auto;
hidden Hidden auto sigmoid from Data all;
output Result auto softmax from Hidden all;
"""
DEFAULT_REGRESSOR = """\
input Data auto;
hidden Hidden auto sigmoid from Data all;
output Result auto linear from Hidden all;
"""

#: `batch_size="auto"`: all rows, but not more than these.
LARGEST_AUTO_BATCH = 200
#: Parameters that are not settings of the engine.
OWN_PARAMETERS = frozenset(("specification", "random_state"))


class NetSharpEstimator(BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share; see `NetSharpClassifier`."""

    def __init__(
        self,
        specification: str | os.PathLike[str] | None = None,
        *,
        hidden_nodes: int = 100,
        optimizer: str = "adam",
        learning_rate: float = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
        max_norm: float = 0.0,
        epochs: int = 200,
        batch_size: int | str = "auto",
        shuffle: bool = True,
        normalizer: str = "minmax",
        loss: str = "auto",
        init_diameter: float = 0.5,
        validation: float | None = None,
        patience: int = 0,
        threads: int = 1,
        dtype: str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.specification = specification
        self.hidden_nodes = hidden_nodes
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.nesterov = nesterov
        self.weight_decay = weight_decay
        self.max_norm = max_norm
        self.epochs = epochs
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.normalizer = normalizer
        self.loss = loss
        self.init_diameter = init_diameter
        self.validation = validation
        self.patience = patience
        self.threads = threads
        self.dtype = dtype
        self.random_state = random_state

    _default_specification = ""

    def _settings(self, task: str, features: npt.NDArray[Any]) -> TrainingSettings:
        given = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in OWN_PARAMETERS and value is not None
        }
        if self.batch_size == "auto":
            given["batch_size"] = min(LARGEST_AUTO_BATCH, len(features))
        if self.dtype == "auto":
            given["dtype"] = features.dtype.name
        random = self.random_state
        if isinstance(random, int | np.integer):
            seed = int(random)
        else:
            seed = int(check_random_state(random).randint(np.iinfo(np.int32).max))
        read = read_settings({}, {**given, "task": task, "seed": seed})
        if isinstance(read, list):
            raise ValueError(" ".join(read))
        return read

    def _fit(
        self,
        features: npt.NDArray[Any],
        labels: npt.NDArray[Any],
        weights: npt.NDArray[np.float64] | None,
        settings: TrainingSettings,
        classes: int = 0,
    ) -> Self:
        """Train from new weights; `classes` counts those that may come, from 0 on.

        Rows of weight 0 are left out, so that they change no range of a feature either.
        """
        if weights is not None and np.any(weights > 0):
            kept = weights > 0
            features, labels, weights = features[kept], labels[kept], weights[kept]
        table = self._table(features, labels, weights, settings)
        if classes:
            names = tuple(str(code) for code in range(classes))
            codes = translate_classes(table, names)
            table = replace(table, classes=names, class_codes=codes)
        data = prepare(table, settings)
        text = read_specification(self.specification or self._default_specification)
        graph = graph_of(text, data.context())
        with refusals(text):
            return self._keep(train(graph, data, settings, specification=text.decode()))

    def _fit_further(
        self,
        features: npt.NDArray[Any],
        labels: npt.NDArray[Any],
        weights: npt.NDArray[np.float64] | None,
    ) -> Self:
        model: Model = self.model_
        table = self._table(features, labels, weights, model.settings)
        data: TrainingData = prepare(table, model.settings, fitted=model)
        with refusals(model.specification.encode()):
            return self._keep(train_further(model, data))

    def _table(
        self,
        features: npt.NDArray[Any],
        labels: npt.NDArray[Any],
        weights: npt.NDArray[np.float64] | None,
        settings: TrainingSettings,
    ) -> Table:
        task = "regression" if settings.regression else "classification"
        return Table.from_arrays(features, labels, weights=weights, task=task, dtype=settings.dtype)

    def _keep(self, result: TrainingResult) -> Self:
        if result.status == "diverged":
            raise TrainingError(result.message)
        self.model_: Model = result.model
        self.n_iter_ = len(result.history)
        self.loss_curve_ = [event["loss"] for event in result.history]
        return self

    def _features(self, features: npt.ArrayLike) -> npt.NDArray[Any]:
        check_is_fitted(self, "model_")
        checked: npt.NDArray[Any] = validate_data(
            self, features, reset=False, dtype=(np.float64, np.float32)
        )
        return checked

    def _checked(
        self, features: npt.ArrayLike, labels: npt.ArrayLike, *, numeric: bool, reset: bool
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        checked: tuple[npt.NDArray[Any], npt.NDArray[Any]] = validate_data(
            self,
            features,
            labels,
            reset=reset,
            dtype=(np.float64, np.float32),
            y_numeric=numeric,
        )
        return checked

    def _weights(
        self, weights: npt.ArrayLike | None, features: npt.NDArray[Any]
    ) -> npt.NDArray[np.float64] | None:
        if weights is None:
            return None
        checked: npt.NDArray[np.float64] = _check_sample_weight(weights, features, dtype=np.float64)
        return checked


class NetSharpClassifier(ClassifierMixin, NetSharpEstimator):  # type: ignore[misc]
    """A Net# network that tells classes apart.

    Parameters
    ----------
    specification : str or path object, optional
        Net# text, or the path of a file; without it one hidden layer of
        ``hidden_nodes`` sigmoids and a softmax.
    hidden_nodes, optimizer, learning_rate, momentum, nesterov, weight_decay, max_norm, epochs, \
    batch_size, shuffle, normalizer, loss, init_diameter, validation, patience, threads, dtype :
        Settings of the engine, as in a run file.
    random_state : int, RandomState or None
        Where all random choices start.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    model_ : the trained model; ``netsharp.save`` writes it to a file.
    n_iter_ : int
        Epochs trained.
    loss_curve_ : list of float
        The mean loss of each epoch.

    Since
    -----
    0.1
    """

    _default_specification = DEFAULT_CLASSIFIER

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Train from new weights on features [rows, columns] and labels [rows].

        Raises ValueError for unsuitable data or parameters.
        """
        features, labels = self._checked(X, y, numeric=False, reset=True)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"A classifier needs labels of at least two classes, found one class: "
                f"{self.classes_[0]!r}."
            )
        weights = self._weights(sample_weight, features)
        settings = self._settings("classification", features)
        return self._fit(features, codes, weights, settings, len(self.classes_))

    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Train one epoch more; the first call must name all ``classes``.

        Raises ValueError for labels that are none of them.
        """
        first = not hasattr(self, "model_")
        features, labels = self._checked(X, y, numeric=False, reset=first)
        check_classification_targets(labels)
        if first:
            self.classes_ = np.unique(np.asarray(classes if classes is not None else labels))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} is not the same as on the first call: {self.classes_!r}."
            )
        strange = np.setdiff1d(labels, self.classes_)
        if len(strange):
            raise ValueError(f"The labels hold {strange[0]!r}, which is none of the classes.")
        codes = np.searchsorted(self.classes_, labels)
        weights = self._weights(sample_weight, features)
        if not first:
            return self._fit_further(features, codes, weights)
        settings = replace(self._settings("classification", features), epochs=1)
        return self._fit(features, codes, weights, settings, len(self.classes_))

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The probability of each class [rows, classes], in the order of ``classes_``."""
        features = self._features(X)
        predictions = self.model_.predict(features)
        assert predictions.probabilities is not None
        assert self.model_.classes is not None
        order = np.argsort([int(name) for name in self.model_.classes])
        return predictions.probabilities[:, order]

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        chosen = self.predict_proba(X).argmax(axis=1)
        answers: npt.NDArray[Any] = self.classes_[chosen]
        return answers


class NetSharpRegressor(RegressorMixin, NetSharpEstimator):  # type: ignore[misc]
    """A Net# network that predicts a number; parameters as for `NetSharpClassifier`.

    Attributes
    ----------
    model_ : the trained model
    n_iter_ : int
        Epochs trained.
    loss_curve_ : list of float
        The mean loss of each epoch.

    Since
    -----
    0.1
    """

    _default_specification = DEFAULT_REGRESSOR

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Train from new weights on features [rows, columns] and numbers [rows].

        Raises ValueError for unsuitable data or parameters.
        """
        features, targets = self._checked(X, y, numeric=True, reset=True)
        weights = self._weights(sample_weight, features)
        return self._fit(features, targets, weights, self._settings("regression", features))

    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Train one epoch more on these rows."""
        first = not hasattr(self, "model_")
        features, targets = self._checked(X, y, numeric=True, reset=first)
        weights = self._weights(sample_weight, features)
        if not first:
            return self._fit_further(features, targets, weights)
        settings = replace(self._settings("regression", features), epochs=1)
        return self._fit(features, targets, weights, settings)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """A number for each row."""
        features = self._features(X)
        return np.asarray(self.model_.predict(features).predicted, dtype=np.float64)
