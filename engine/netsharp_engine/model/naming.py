"""The names of the columns of a model's answers, wherever they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_engine.data.encoding import Encoding
    from netsharp_engine.model.trained import Model


def number_names(model: Model) -> tuple[str, ...]:
    """Return the name of each number of a regression: its label, or from 1 on where it has none."""
    output = model.graph.output
    return names_of_numbers(model.encoding, 0 if output is None else output.size)


def answer_names(model: Model) -> tuple[str, ...]:
    """Return the names of the columns that `netsharp predict` writes: `predicted`, with a
    probability of each class; of several numbers one column each.
    """
    return names_of_answers(model.classes, number_names(model))


def names_of_numbers(encoding: Encoding, count: int) -> tuple[str, ...]:
    """Return the names of the ``count`` numbers of a regression."""
    if encoding.more_labels:
        return tuple(map(str, (encoding.label, *encoding.more_labels)))
    return tuple(str(place + 1) for place in range(count))


def names_of_answers(classes: Sequence[str] | None, numbers: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns of answers: of classes, or of numbers by their names."""
    if classes is not None:
        return ("predicted", *(f"probability_{name}" for name in classes))
    return ("predicted",) if len(numbers) == 1 else tuple(f"predicted_{one}" for one in numbers)
