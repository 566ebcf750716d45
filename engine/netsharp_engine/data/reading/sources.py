"""Opens the source that fits a file's content and checks that several files are one table."""

from __future__ import annotations

from collections.abc import Sequence

from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.data.reading.arrays import open_idx, open_npy, open_npz
from netsharp_engine.data.reading.delimited import DelimitedSource
from netsharp_engine.data.reading.files import file_kind
from netsharp_engine.data.reading.options import ReadOptions
from netsharp_engine.data.reading.parquet import ParquetSource
from netsharp_engine.data.reading.request import Source
from netsharp_engine.excerpt import excerpt


def open_source(
    path: str, options: ReadOptions, *, labels: str | None = None, expected: Sequence[str] = ()
) -> Source:
    """Return the source for one file, chosen by its first bytes; raises DataError."""
    kind = "idx" if labels is not None else file_kind(path, named=options.encoding is not None)
    if kind == "idx":
        return open_idx(path, labels)
    if kind == "npz":
        weight = options.weight if isinstance(options.weight, str) else None
        label = options.label if isinstance(options.label, str) else None
        return open_npz(path, label=label, weight=weight)
    if kind == "npy":
        return open_npy(path)
    if kind == "parquet":
        return ParquetSource(path)
    names = expected or options.expected_names()
    return DelimitedSource(
        path,
        delimiter=options.delimiter,
        header=options.header,
        expected=names,
        decimal=options.decimal,
        encoding=options.encoding,
    )


def open_sources(paths: Sequence[str], options: ReadOptions) -> list[Source]:
    """Return the sources of several files that are one table; raises DataError when they are
    not.
    """
    labels: Sequence[str | None] = options.labels or [None] * len(paths)
    if len(labels) != len(paths):
        raise DataError(
            f"{len(paths)} image files need as many label files; 'labels' names {len(labels)}."
        )
    sources: list[Source] = []
    for path, label_path in zip(paths, labels, strict=True):
        expected = sources[0].names if sources and sources[0].named else ()
        source = open_source(path, options, labels=label_path, expected=expected)
        if sources:
            check_same_columns(sources[0], source)
        sources.append(source)
    return sources


def check_same_columns(first: Source, other: Source) -> None:
    """Raise DataError unless ``other`` has the columns of ``first``, in any order if named."""
    if first.named and other.named:
        known, there = frozenset(first.names), frozenset(other.names)
        for name in first.names:
            if name not in there:
                hint = nearest(name, other.names)
                raise DataError(
                    f"{other.path} has no column '{excerpt(name)}', which {first.path} has.{hint}"
                )
        extra = [name for name in other.names if name not in known]
        if extra:
            raise DataError(
                f"{other.path} has a column '{excerpt(extra[0])}', which {first.path} has not."
            )
    elif len(first.names) != len(other.names):
        raise DataError(
            f"{other.path} has {len(other.names)} columns, {first.path} has {len(first.names)}."
        )
    elif first.named != other.named:
        named = first if first.named else other
        bare = other if first.named else first
        raise DataError(
            f"{named.path} has a header and {bare.path} has none. "
            "Set header = true or false if this was guessed wrongly."
        )
