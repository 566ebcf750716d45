"""Reads Parquet files batch by batch, when the extra ``netsharp[data]`` (pyarrow) is installed.

It knows column types, not what the columns are for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import number_name
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.reading.files import Meter, total_size
from netsharp_engine.data.reading.request import Chunk, Request
from netsharp_engine.excerpt import excerpt
from netsharp_engine.plain_files import open_plain

BATCH_CELLS = 1 << 19


class ParquetSource:
    """One Parquet file; see ``request.Source``."""

    line_word = "row"
    named = True
    label: str | None = None
    typed = True
    counts = False
    doubles: tuple[str, ...] = ()

    def __init__(self, path: str) -> None:
        self.remarks: list[str] = []
        self.path = path
        self._file = _open(path)
        self.names = tuple(str(name) for name in self._file.schema_arrow.names)
        if not self.names or not self._file.metadata.num_rows:
            raise DataError(f"{path} has no rows.")
        kinds = enumerate(self._file.schema_arrow)
        self.texts = frozenset(index for index, field in kinds if _is_text(field.type))

    def chunks(self, request: Request, meter: Meter) -> Iterator[Chunk]:
        """Yield all rows; lines are row numbers from 1. Raises DataError where the file is
        damaged.
        """
        either = () if request.either is None else (request.either,)
        wanted = [self.names[column] for column in (*request.numeric, *request.text, *either)]
        rows_at_once = max(BATCH_CELLS // max(len(wanted), 1), 1)
        done, rows, size = 0, self._file.metadata.num_rows, total_size([self.path])
        import pyarrow as pa

        try:
            for batch in self._file.iter_batches(batch_size=rows_at_once, columns=wanted):
                meter.add_rows(batch.num_rows)
                yield self._chunk(request, batch, done)
                done += batch.num_rows
                meter.at(size * done // rows)
        except (pa.ArrowException, OSError) as error:
            raise _damaged(self.path, error) from None

    def _chunk(self, request: Request, batch: Any, before: int) -> Chunk:
        numbers = np.empty((batch.num_rows, len(request.numeric)))
        for target, column in enumerate(request.numeric):
            numbers[:, target] = self._numbers(batch, column, request)
        texts = tuple(self._texts(batch, column) for column in request.text)
        either = None if request.either is None else self._either(batch, request.either)
        lines = range(before + 1, before + batch.num_rows + 1)
        return Chunk(batch.num_rows, numbers, texts, either, lines)

    def _numbers(self, batch: Any, column: int, request: Request) -> npt.NDArray[np.float64]:
        values = batch.column(self.names[column])
        result = _as_numbers(values)
        if result is not None:
            return result
        name = self.names[column]
        sentence = (
            f"{self.path}, column '{name}': the type is {_type(values)}, not a number. If it "
            f'holds categories, name it: categorical = ["{name}"].'
        )
        if request.faults is None:
            raise DataError(sentence)
        request.faults.add_sentence(sentence)
        return np.zeros(batch.num_rows)

    def _texts(self, batch: Any, column: int) -> list[str]:
        import pyarrow as pa

        values = batch.column(self.names[column])
        if not pa.types.is_dictionary(values.type):
            return [_cell_text(value) for value in values.to_pylist()]
        # A text that many rows name is there once.
        texts = [_cell_text(value) for value in values.dictionary.to_pylist()]
        codes = values.indices.to_pylist()
        return ["" if code is None else texts[code] for code in codes]

    def _either(self, batch: Any, column: int) -> npt.NDArray[np.float64] | list[str]:
        numbers = _as_numbers(batch.column(self.names[column]))
        return self._texts(batch, column) if numbers is None else numbers


def _is_text(kind: Any) -> bool:
    """Return whether a column of a type holds text, which may be kept once for many rows."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _type(values: Any) -> Any:
    """Return the type of the values themselves, however they are stored."""
    import pyarrow as pa

    kind = values.type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if value != value else number_name(value)
    return str(value).strip()


def _as_numbers(values: Any) -> npt.NDArray[np.float64] | None:
    import pyarrow as pa

    kind = values.type
    numeric = (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    )
    if not numeric:
        return None
    result: npt.NDArray[np.float64] = values.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return result


def _damaged(path: str, error: Exception) -> DataError:
    return DataError(f"{path} is a damaged Parquet file ({excerpt(error, 120)}). Save it again.")


def _open(path: str) -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise DataError(
            f"{path} is a Parquet file; reading it needs pyarrow. "
            'Install it with: pip install "netsharp[data]"'
        ) from None
    import pyarrow as pa

    try:
        opened = parquet.ParquetFile(open_plain(path))
        texts = [
            field.name
            for field in opened.schema_arrow
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        if not texts:
            return opened
        return parquet.ParquetFile(open_plain(path), read_dictionary=texts)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from None
