"""The regressor: one number for each row, or several."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin

from netsharp_lsp.estimators.base import NetSharpEstimator

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt


class NetSharpRegressor(RegressorMixin, NetSharpEstimator):  # type: ignore[misc]
    """A Net# network that predicts numbers.

    Its parameters are those of `NetSharpClassifier`, except ``class_weight``, and the setting
    ``scale_label``: whether the numbers are learned at mean 0 and deviation 1.

    Attributes
    ----------
    spec_ : str
        The text of the network that was trained.
    model_ : the trained model
    n_iter_ : int
        Epochs trained.
    loss_curve_ : list of float
        The mean loss of each epoch.

    Since
    -----
    0.1
    """

    _task = "regression"

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: predictions of several numbers a row are supported."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Train from new weights on features [rows, columns], numbers or a frame, and numbers
        [rows] or [rows, outputs].

        Raises ValueError for unsuitable data or parameters.
        """
        return self._trained(X, y, sample_weight, first=True)

    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Train one epoch more on these rows."""
        return self._trained(X, y, sample_weight, first=not hasattr(self, "model_"), epochs=1)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return a number for each row [rows], or several [rows, outputs]; NaN for rows that
        cannot be answered.
        """
        features = self._features(X)
        return np.asarray(self.model_.predict(features).predicted, dtype=np.float64)

    def _trained(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        weights: npt.ArrayLike | None,
        *,
        first: bool,
        epochs: int | None = None,
    ) -> Self:
        features, targets = self._checked(X, y, reset=first)
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = targets[:, 0]
        dtype = self._numeric_type(features) if first else self.model_.settings.dtype
        table = self._table(features, dtype, weights, targets=targets.astype(np.float64))
        if not first:
            return self._fit_further(table)
        settings = self._settings(dtype)
        if epochs is not None:
            settings = replace(settings, epochs=epochs, validation=None, patience=0)
        return self._fit(table, settings)
