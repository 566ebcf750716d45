"""The columns that a formula means: of a frame, or of vectors made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from netsharp_engine.data.errors import nearest
from netsharp_engine.data.frames import frame_names, is_frame
from netsharp_lsp.importing.columns import formula_columns
from netsharp_lsp.microsoftml.values import ColumnVectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ChosenColumns(NamedTuple):
    """The label's column, and those of the features in their order."""

    label: str
    features: tuple[str, ...]


def chosen(formula: str, data: object, transforms: Sequence[object] | None) -> ChosenColumns:
    """Return the columns of a frame that a formula means.

    ``transforms`` may hold what `concat` returned.  Raises ValueError, a sentence, for what is no
    formula, for terms that are no columns, and for data that are no frame.
    """
    columns = column_names(data)
    vectors = _vectors(transforms or ())
    if not isinstance(formula, str):
        raise ValueError(f"The formula must be a text such as 'y ~ a + b', found {formula!r}.")
    read = formula_columns(formula)
    if read is None:
        raise ValueError(
            f"{formula!r} is no formula: write the label, '~' and columns, 'y ~ a + b'."
        )
    if read.terms or read.label is None:
        raise ValueError(
            f"The formula's term '{read.terms[0]}' is no column. Interactions and functions "
            "cannot be taken: put what they give into a column of its own beforehand."
        )
    if read.columns is None:
        features = [name for name in columns if name not in (read.label, *read.exclude)]
    else:
        features = [one for term in read.columns for one in vectors.get(term, (term,))]
    for name in read.exclude:
        if name not in columns:
            hint = nearest(name, [str(one) for one in columns])
            raise ValueError(
                f"The data have no column '{name}', which the formula leaves out.{hint}"
            )
    for name in (read.label, *features):
        if name not in columns:
            hint = nearest(name, [str(one) for one in columns])
            raise ValueError(f"The data have no column '{name}', which the formula names.{hint}")
    if read.label in features:
        raise ValueError(f"'{read.label}' stands on both sides of the formula. Leave one out.")
    twice = next((name for name in features if features.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"The formula names '{twice}' twice. Leave one out.")
    if not features:
        raise ValueError(f"There is no column beside the label '{read.label}' to learn from.")
    return ChosenColumns(read.label, tuple(features))


def column_names(data: object) -> list[Any]:
    """Return the names of a frame's columns; ValueError for what is no frame."""
    if not is_frame(data):
        raise ValueError(
            f"The data must be a data frame, found {type(data).__name__}. Read files and tables of "
            "a database into one first."
        )
    return frame_names(data) or []


def _vectors(transforms: Sequence[object]) -> Mapping[str, tuple[str, ...]]:
    """The vectors of all transforms; ValueError for a transform that makes none."""
    made: dict[str, tuple[str, ...]] = {}
    for one in transforms:
        if not isinstance(one, ColumnVectors):
            raise ValueError(f"ml_transforms takes what concat(...) returns, found {one!r}.")
        made |= one.columns
    return made
