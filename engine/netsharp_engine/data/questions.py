"""Facts about a table that a checker needs before training: features after encoding, classes.

Only what the answer needs is read: the header alone where all features are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from netsharp_engine.data.encoding import Encoding
from netsharp_engine.data.reading.arrays import idx_feature_count
from netsharp_engine.data.reading.files import file_kind, find_files
from netsharp_engine.data.reading.options import ReadOptions, resolve_roles
from netsharp_engine.data.reading.read import Guess, guessed_roles, read_table
from netsharp_engine.data.reading.sources import open_source, open_sources
from netsharp_engine.data.split import split_rows


def feature_count(
    paths: str | Sequence[str],
    options: ReadOptions | None = None,
    *,
    directory: str = ".",
    unknown: bool = True,
    validation: float | None = None,
    seed: int = 0,
) -> int:
    """Return the number of features that a network gets from these files, after encoding.

    Files are read whole only when a column is categorical, or its first rows hold text alone.
    ``validation`` and ``seed`` are those of the run, since levels are those of the training rows.
    Raises DataError.
    """
    options = options or ReadOptions()
    files = find_files(paths, directory)
    if file_kind(files[0]) == "idx":
        return idx_feature_count(files[0])
    source = open_source(files[0], options)
    guess = Guess(source.texts, source.counts)
    roles = guessed_roles(source, options, guess, need_label=False)
    if not roles.categorical:
        return len(roles.features)
    table = read_table(files, options, need_label=False)
    train, _ = split_rows(table, validation, seed)
    return Encoding.fit(table, train, unknown=unknown, missing="zero").features


def class_names(
    paths: str | Sequence[str], options: ReadOptions | None = None, *, directory: str = "."
) -> tuple[str, ...]:
    """Return the classes of the label column, sorted; every row's label is read. Raises
    DataError.
    """
    options = replace(options or ReadOptions(), task="classification")
    files = find_files(paths, directory)
    first = open_sources(files[:1], options)[0]
    roles = resolve_roles(first, options)
    keep_one = roles.features[:1]
    dropped = tuple(first.names[index] for index in roles.features if index not in keep_one)
    lean = replace(
        options,
        exclude=(*options.exclude, *dropped),
        categorical=tuple(first.names[index] for index in keep_one),
        weight=None if roles.weight is None else options.weight,
    )
    table = read_table(files, lean)
    return table.classes or ()
