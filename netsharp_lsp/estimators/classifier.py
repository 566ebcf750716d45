"""The classifier: labels of any type become classes of a network, and come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from netsharp_engine.data.labels import Labels, class_names
from netsharp_lsp.estimators.base import NetSharpEstimator

if TYPE_CHECKING:
    import os
    from typing import Self

    import numpy.typing as npt

    from netsharp_engine.data.table import Table
    from netsharp_lsp.notebooks.watching import Callback


class NetSharpClassifier(ClassifierMixin, NetSharpEstimator):  # type: ignore[misc]
    """A Net# network that classifies.

    Parameters
    ----------
    specification : str or path object, optional
        Net# text, or the path of a file; without it full layers of sigmoids and a softmax.
    hidden_layer_sizes : int or sequence of int, optional
        The nodes of each hidden layer where there is no specification, by default (100,).
    max_iter : int
        Epochs: passes over the training rows.
    early_stopping : bool
        Keep ``validation_fraction`` of the rows from training, and stop when the loss on them has
        not become smaller for ``n_iter_no_change`` epochs; the weights are those of the best one.
    missing : {"error", "mean", "zero", "drop", "indicator"}
        What a missing number becomes: see the setting of that name.
    class_weight : dict of label to float, or "balanced", optional
        What the classes count in the loss.
    verbose : bool
        Show the progress of the training: a bar in a notebook, some lines elsewhere.
    callbacks : function or sequence of functions, optional
        Each gets the event of every epoch, a dict; a true answer ends the training.
    dropout : float or dict of layer to float, optional
        Share of the nodes that each step of training leaves out; a prediction leaves out none.
    clip_norm, clip_value : float
        Limit of the gradient's norm, or of each of its numbers; 0 is none.
    schedule : {"constant", "step", "cosine", "plateau"}
        How the learning rate falls from epoch to epoch, with ``schedule_epochs``,
        ``schedule_factor`` and ``schedule_least``.
    optimizer, learning_rate, momentum, nesterov, weight_decay, max_norm, batch_size, shuffle, \
    normalizer, loss, init, init_diameter, threads, dtype, device, precision :
        Settings of the engine, as in a run file; "auto" and None are what a run takes.
    random_state : int, RandomState or None
        Where all random choices start.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    spec_ : str
        The text of the network that was trained.
    model_ : the trained model; ``netsharp.save`` writes it to a file.
    n_iter_ : int
        Epochs trained.
    loss_curve_ : list of float
        The mean loss of each epoch.

    Since
    -----
    0.1
    """

    _task = "classification"

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
        init: str | None = None,
        init_diameter: float | None = None,
        missing: str = "error",
        class_weight: Mapping[Any, float] | str | None = None,
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
        super().__init__(
            specification,
            hidden_layer_sizes=hidden_layer_sizes,
            optimizer=optimizer,
            learning_rate=learning_rate,
            momentum=momentum,
            nesterov=nesterov,
            weight_decay=weight_decay,
            max_norm=max_norm,
            clip_norm=clip_norm,
            clip_value=clip_value,
            dropout=dropout,
            schedule=schedule,
            schedule_epochs=schedule_epochs,
            schedule_factor=schedule_factor,
            schedule_least=schedule_least,
            max_iter=max_iter,
            batch_size=batch_size,
            shuffle=shuffle,
            normalizer=normalizer,
            loss=loss,
            init=init,
            init_diameter=init_diameter,
            missing=missing,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            threads=threads,
            dtype=dtype,
            device=device,
            precision=precision,
            verbose=verbose,
            callbacks=callbacks,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Train from new weights on features [rows, columns], numbers or a frame, and labels
        [rows].

        Raises ValueError for unsuitable data or parameters.
        """
        features, labels = self._checked(X, y, reset=True)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise ValueError(
                f"A classifier needs labels of at least two classes, found one class: "
                f"{self.classes_[0]!r}."
            )
        dtype = self._numeric_type(features)
        table = self._labelled(features, labels, sample_weight, dtype)
        return self._fit(table, self._settings(dtype, self._class_weights()))

    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Train one epoch more; the first call must name all ``classes``.

        Raises ValueError for labels that are none of them, and where the first call names none.
        """
        first = not hasattr(self, "model_")
        if first and classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit: later rows may have "
                "others than these."
            )
        if self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" is not known before all rows are: give partial_fit a '
                "dict of weights."
            )
        features, labels = self._checked(X, y, reset=first)
        check_classification_targets(labels)
        if first:
            self.classes_ = np.unique(np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} is not the same as on the first call: {self.classes_!r}."
            )
        strange = np.setdiff1d(labels, self.classes_)
        if len(strange):
            raise ValueError(f"The labels hold {strange[0]!r}, which is none of the classes.")
        dtype = self._numeric_type(features) if first else self.model_.settings.dtype
        table = self._labelled(features, labels, sample_weight, dtype)
        if not first:
            return self._fit_further(table)
        settings = self._settings(dtype, self._class_weights())
        return self._fit(table, replace(settings, epochs=1, validation=None, patience=0))

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the probability of each class [rows, classes], in the order of ``classes_``.

        Rows that cannot be answered, with ``missing="drop"``, have NaN.
        """
        features = self._features(X)
        predictions = self.model_.predict(features)
        assert predictions.probabilities is not None
        return predictions.probabilities

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the most probable class [rows]; None for rows that cannot be answered."""
        shares = self.predict_proba(X)
        absent = np.isnan(shares).any(axis=1)
        answers: npt.NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        if absent.any():
            answers = answers.astype(object)
            answers[absent] = None
        return answers

    def _labelled(
        self, features: Any, labels: npt.NDArray[Any], weights: npt.ArrayLike | None, dtype: str
    ) -> Table:
        names, codes = class_names(self.classes_), np.searchsorted(self.classes_, labels)
        named = (names, codes, Labels.aligned(self.classes_))
        return self._table(features, dtype, weights, classes=named)

    def _class_weights(self) -> object:
        """Return the weights of classes by their names in the network."""
        given = self.class_weight
        if not isinstance(given, Mapping):
            return given
        names = dict(zip(self.classes_.tolist(), class_names(self.classes_), strict=True))
        absent = [label for label in given if label not in names]
        if absent:
            raise ValueError(
                f"class_weight names {absent[0]!r}, which is none of the classes: "
                f"{self.classes_.tolist()!r}."
            )
        return {names[label]: weight for label, weight in given.items()}
