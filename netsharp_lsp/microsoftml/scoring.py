"""`rx_predict`: scores of rows, in columns that are named as the original named them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.data.errors import nearest
from netsharp_engine.excerpt import excerpt
from netsharp_lsp.microsoftml.frames import check_column, column_names, scored
from netsharp_lsp.microsoftml.learning import NeuralNetwork
from netsharp_lsp.microsoftml.refused import is_true, items_of, refuse_arguments, shown
from netsharp_lsp.microsoftml.wording import refusals_of_the_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from netsharp_engine.model import Predictions

#: A probability nearer to 0 or 1 than any float32 is taken to be so far off, so that the log of
#: its odds is a number.
NEAREST = 2.0**-26


def rx_predict(
    model: NeuralNetwork,
    data: Any,
    output_data: object = None,
    write_model_vars: bool = False,
    extra_vars_to_write: Sequence[str] | None = None,
    suffix: str | None = None,
    overwrite: bool = False,
    data_threads: int | None = None,
    blocks_per_read: int | None = None,
    report_progress: int | None = None,
    verbose: int = 1,
    compute_context: object = None,
) -> Any:
    """Return a frame with the scores of the rows of another, in their order and with their index.

    Of two classes there are ``PredictedLabel``, ``Score`` (the logarithm of the odds of the second
    class) and ``Probability`` (its probability); of more ``PredictedLabel`` and ``Score.0``,
    ``Score.1``, ... (the probability of each class, in the order of the classes); of a regression
    ``Score``.  Rows with a missing number or truth have no answer: None, and NaN for numbers.
    Before the scores stand the columns of the network, with ``write_model_vars``, and those of
    ``extra_vars_to_write``; ``suffix`` is added to the names of the scores.  ``overwrite``,
    ``data_threads``, ``blocks_per_read``, ``report_progress`` and ``verbose`` change nothing.

    Raises ValueError for arguments that cannot be, DataError for columns that do not fit.
    """
    refuse_arguments("rx_predict", locals())
    if not isinstance(model, NeuralNetwork):
        raise ValueError(
            f"model must be what rx_neural_network returned, found {type(model).__name__}."
        )
    if not isinstance(suffix, str | None) or not (suffix or "").isprintable():
        raise ValueError(f"suffix must be a text such as '.nn', found {shown(suffix)}.")
    return scored_frame(
        model,
        data,
        whole=is_true("write_model_vars", write_model_vars),
        extra=_named(extra_vars_to_write),
        suffix=suffix or "",
        named=None,
    )


def scored_frame(
    model: NeuralNetwork,
    data: Any,
    *,
    whole: bool,
    extra: Sequence[str],
    suffix: str,
    named: Sequence[str] | None,
) -> Any:
    """Return the result of `rx_predict`; the scores of more than two classes are named by
    ``named``, or else by the positions of the classes.
    """
    there = column_names(data)
    for name in model.features:
        check_column(name, there, "which the network needs")
    with refusals_of_the_call():
        predictions = model.model_.predict(data[list(model.features)])
    scores = {f"{name}{suffix}": each for name, each in _scores(model, predictions, named)}
    kept = _kept(model, there, whole, extra, set(scores))
    twice = next((name for name in kept if name in scores), None)
    if twice is not None:
        raise ValueError(f"'{excerpt(twice)}' is a column and a score. Give the scores a suffix.")
    return scored(data, kept, scores, _labels(model))


def _labels(model: NeuralNetwork) -> npt.NDArray[Any]:
    """Return all labels that the network answers; none of a regression."""
    labels = model.model_.labels
    return np.array([] if labels is None else labels.values, dtype=object)


def _named(extra: object) -> list[str]:
    """Return the names in extra_vars_to_write; raises ValueError for values other than texts."""
    given = () if extra is None else (extra,) if isinstance(extra, str) else items_of(extra)
    names = (extra,) if given is None else given
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None:
        raise ValueError(
            "extra_vars_to_write must be a list of names of columns, such as ['a', 'b'], found "
            f"{shown(wrong)}."
        )
    return [str(name) for name in names]


def _scores(
    model: NeuralNetwork, predictions: Predictions, named: Sequence[str] | None
) -> list[tuple[str, npt.NDArray[Any]]]:
    """Return the columns of scores by their names."""
    predicted, chances = np.asarray(predictions.predicted), predictions.probabilities
    if chances is None:
        return [("Score", predicted)]
    label = ("PredictedLabel", predicted)
    if model.method.lower() == "binary":
        second = chances[:, 1]
        inside = np.clip(second, NEAREST, 1 - NEAREST)
        return [label, ("Score", np.log(inside) - np.log1p(-inside)), ("Probability", second)]
    names = range(chances.shape[1]) if named is None else named
    return [label, *((f"Score.{name}", each) for name, each in zip(names, chances.T, strict=True))]


def _kept(
    model: NeuralNetwork, there: Sequence[Any], whole: bool, extra: Sequence[str], scores: set[str]
) -> list[str]:
    """Return the columns that are handed on, each once; names of scores are there anyhow."""
    kept = [one for one in (model.label, *model.features) if one in there] if whole else []
    stems = {name.partition(".")[0] for name in scores}
    for name in extra:
        if name in there:
            kept.append(name)
        elif name not in scores | stems:
            hint = nearest(name, [str(one) for one in there])
            raise ValueError(
                f"extra_vars_to_write names '{excerpt(name)}', which is not a column.{hint}"
            )
    for name in kept:
        check_column(name, there, "which is to be handed on")
    return list(dict.fromkeys(kept))
