"""`rx_predict`: scores of rows, in columns that are named as the original named them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.data.errors import nearest
from netsharp_lsp.microsoftml.columns import column_names
from netsharp_lsp.microsoftml.learning import NeuralNetwork
from netsharp_lsp.microsoftml.refused import refuse_arguments

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
    ``Score``.  Rows with a missing value have no answer.  Before them stand the columns of the
    network, with ``write_model_vars``, and those of ``extra_vars_to_write``; ``suffix`` is added
    to the names of the scores.  ``overwrite``, ``data_threads``, ``blocks_per_read``,
    ``report_progress`` and ``verbose`` change nothing.

    Raises ValueError for arguments that cannot be, DataError for columns that do not fit.
    """
    refuse_arguments("rx_predict", locals())
    if not isinstance(model, NeuralNetwork):
        raise ValueError(
            f"model must be what rx_neural_network returned, found {type(model).__name__}."
        )
    there = column_names(data)
    for name in model.features:
        if name not in there:
            hint = nearest(name, [str(one) for one in there])
            raise ValueError(f"The data have no column '{name}', which the network needs.{hint}")
    predictions = model.model_.predict(data[list(model.features)])
    scores = {f"{name}{suffix or ''}": values for name, values in _scores(model, predictions)}
    kept = _kept(model, there, write_model_vars, extra_vars_to_write, set(scores))
    twice = next((name for name in kept if name in scores), None)
    if twice is not None:
        raise ValueError(f"'{twice}' is a column and a score. Give the scores a suffix.")
    return type(data)({name: data[name] for name in kept} | scores)


def _scores(model: NeuralNetwork, predictions: Predictions) -> list[tuple[str, npt.NDArray[Any]]]:
    """The columns of scores by their names."""
    predicted, chances = np.asarray(predictions.predicted), predictions.probabilities
    if chances is None:
        return [("Score", predicted)]
    label = ("PredictedLabel", predicted)
    if model.method.lower() == "binary":
        second = chances[:, 1]
        inside = np.clip(second, NEAREST, 1 - NEAREST)
        return [label, ("Score", np.log(inside) - np.log1p(-inside)), ("Probability", second)]
    return [label, *((f"Score.{place}", each) for place, each in enumerate(chances.T))]


def _kept(
    model: NeuralNetwork,
    there: Sequence[Any],
    whole: bool,
    extra: Sequence[str] | None,
    scores: set[str],
) -> list[str]:
    """The columns that are handed on, each once; names of scores are there anyhow."""
    kept = [one for one in (model.label, *model.features) if one in there] if whole else []
    names = [extra] if isinstance(extra, str) else list(extra or ())
    stems = {name.partition(".")[0] for name in scores}
    for name in names:
        if name in there:
            kept.append(name)
        elif name not in scores | stems:
            hint = nearest(name, [str(one) for one in there])
            raise ValueError(f"extra_vars_to_write names '{name}', which is no column.{hint}")
    return list(dict.fromkeys(kept))
