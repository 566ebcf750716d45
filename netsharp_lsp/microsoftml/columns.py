"""The columns that a formula means: of a frame, or of vectors made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.excerpt import excerpt
from netsharp_lsp.importing.columns import formula_columns
from netsharp_lsp.microsoftml.frames import check_column, column_names
from netsharp_lsp.microsoftml.refused import shown
from netsharp_lsp.microsoftml.values import ColumnVectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Vectors = Mapping[str, tuple[str, ...]]


class ChosenColumns(NamedTuple):
    """The label's column, and those of the features in their order."""

    label: str
    features: tuple[str, ...]


def chosen(formula: str, data: object, transforms: Sequence[object] | None) -> ChosenColumns:
    """Return the columns of a frame that a formula means.

    ``transforms`` may hold what `concat` returned.  Raises ValueError, a sentence, for an
    invalid formula, for terms other than columns, and for data other than a frame.
    """
    names = column_names(data)
    vectors = _vectors(transforms, names)
    if not isinstance(formula, str):
        raise ValueError(f"formula must be a text such as 'y ~ a + b', found {shown(formula)}.")
    read = formula_columns(formula)
    if read is None:
        raise ValueError(
            f"{shown(formula)} is not a formula: write the label, '~' and columns, 'y ~ a + b'."
        )
    if read.terms or read.label is None:
        raise ValueError(
            f"The formula's term '{excerpt(read.terms[0])}' is not a column. Interactions and "
            "functions cannot be taken: add their values as columns beforehand."
        )
    if read.columns is None:
        features = [name for name in names if name not in (read.label, *read.exclude)]
    else:
        features = [one for term in read.columns for one in vectors.get(term, (term,))]
    for name in read.exclude:
        check_column(name, names, "which the formula leaves out")
    for name in (read.label, *features):
        check_column(name, names, "which the formula names")
    if read.label in features:
        raise ValueError(f"'{excerpt(read.label)}' is on both sides of the formula. Remove one.")
    twice = next((name for name in features if features.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"The formula names '{excerpt(twice)}' twice. Leave one out.")
    if not features:
        raise ValueError(f"There is no column beside the label '{read.label}' to learn from.")
    return ChosenColumns(read.label, tuple(features))


def _vectors(transforms: object, names: Sequence[Any]) -> Vectors:
    """Return the columns of the vectors of all transforms, in which those made before may stand."""
    made: dict[str, tuple[str, ...]] = {}
    for one in _transforms(transforms):
        for vector, parts in one.columns.items():
            made[vector] = tuple(_columns_of(vector, parts, made, names))
    return made


def _transforms(given: object) -> Iterable[ColumnVectors]:
    """Return the vectors of ml_transforms; raises ValueError for others than `concat`."""
    several = [] if given is None else given
    if not isinstance(several, list | tuple):
        raise ValueError(
            "ml_transforms must be a list of what concat(...) returns, as in "
            f"[concat({{'Features': ['a', 'b']}})], found {shown(given)}."
        )
    for one in several:
        if not isinstance(one, ColumnVectors):
            raise ValueError(f"ml_transforms takes what concat(...) returns, found {shown(one)}.")
    return several


def _columns_of(
    vector: str, parts: Iterable[str], made: Vectors, names: Sequence[Any]
) -> Iterable[str]:
    """Yield the columns that the parts of a vector stand for."""
    for part in parts:
        if part in made:
            yield from made[part]
        else:
            check_column(part, names, f"which the vector '{excerpt(vector)}' of concat names")
            yield part
