"""The parts of MicrosoftML that are not here: arguments and functions, each with an alternative."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, NoReturn

from netsharp_engine.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Arguments that are refused, and what to do in their place.
ARGUMENTS = {
    "row_selection": "Select rows of the frame beforehand: data[data.age > 20].",
    "transforms": "Compute the columns of the frame beforehand.",
    "transform_objects": "Compute the columns of the frame beforehand.",
    "transform_function": "Call it on the frame beforehand.",
    "transform_variables": "They belong to transform_function: call that on the frame beforehand.",
    "transform_packages": "Import them beforehand.",
    "transform_environment": "Compute the columns of the frame beforehand.",
    "ensemble": "Train several networks on samples of the rows and average their scores.",
    "compute_context": "All is computed in this process: read the rows of a database into a frame.",
    "output_data": "Write the frame that comes back: scores.to_csv('scores.csv').",
}
_TREES = "HistGradientBoostingClassifier or HistGradientBoostingRegressor of sklearn.ensemble"
_PIXELS = "numpy and Pillow: one column a pixel"
_TEXTS = "TfidfVectorizer of sklearn.feature_extraction.text"
#: Other functions of Microsoft's package, and the alternative to each.
FUNCTIONS = {
    "rx_fast_trees": _TREES,
    "rx_fast_forest": "RandomForestClassifier or RandomForestRegressor of sklearn.ensemble",
    "rx_fast_linear": "SGDClassifier or SGDRegressor of sklearn.linear_model",
    "rx_logistic_regression": "LogisticRegression of sklearn.linear_model",
    "rx_oneclass_svm": "OneClassSVM of sklearn.svm",
    "rx_ensemble": "VotingClassifier or BaggingClassifier of sklearn.ensemble",
    "rx_featurize": "the functions of pandas",
    "load_image": _PIXELS,
    "resize_image": _PIXELS,
    "extract_pixels": _PIXELS,
    "featurize_image": "a network of torchvision.models",
    "featurize_text": _TEXTS,
    "n_gram": _TEXTS,
    "n_gram_hash": "HashingVectorizer of sklearn.feature_extraction.text",
    "get_sentiment": "a classifier trained on texts of yours",
    "categorical": "nothing: columns of texts and categories are taken as they are",
    "categorical_hash": "FeatureHasher of sklearn.feature_extraction",
    "select_columns": "data[['a', 'b']] of the frame",
    "drop_columns": "data.drop(columns=['a'])",
    "count_select": "VarianceThreshold of sklearn.feature_selection",
    "mutualinformation_select": "SelectKBest of sklearn.feature_selection",
    "hinge_loss": "log_loss()",
    "smoothed_hinge_loss": "log_loss()",
    "poisson_loss": "squared_loss()",
}


def shown(value: object) -> str:
    """Return how a message shows an invalid value: the value, shortened, or its type."""
    if isinstance(value, str):
        return f"'{excerpt(value)}'"
    if value is None or isinstance(value, bytes | int | float | complex):
        return excerpt(value)
    return type(value).__name__


def is_true(name: str, given: object) -> bool:
    """Return a truth value that was given. Raises ValueError, which names the argument, for other
    values.
    """
    if not isinstance(given, Integral) and type(given).__name__ != "bool":
        raise ValueError(f"{name} must be True or False, found {shown(given)}.")
    return bool(given)


def items_of(given: object) -> tuple[object, ...] | None:
    """Return the items of an iterable; None for any other value."""
    try:
        return tuple(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def refuse_arguments(function: str, given: Mapping[str, object]) -> None:
    """Raise ValueError for the first argument that has a value and is not here."""
    for name, way in ARGUMENTS.items():
        if given.get(name) is not None:
            raise ValueError(f"{function} does not take {name} here. {way}")


def function_of(name: str) -> Callable[..., Any]:
    """Return a function of MicrosoftML that is not here: to call it raises ValueError.

    A script that only imports it works.  Raises AttributeError for an unknown name.
    """
    way = FUNCTIONS.get(name)
    if way is None:
        raise AttributeError(f"module 'netsharp.microsoftml' has no attribute '{name}'")

    def absent(*_given: object, **_named: object) -> NoReturn:
        raise ValueError(f"{name} is not part of netsharp. In its place: {way}.")

    absent.__name__ = absent.__qualname__ = name
    return absent
