"""Reads NumPy archives (.npz, .npy) and IDX files (the MNIST format) as tables.

A row's values are flattened row-major.  Pickled objects are never loaded.
"""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import number_name, positional_names
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.reading.files import Meter, open_bytes, read_bytes
from netsharp_engine.data.reading.request import Chunk, Request
from netsharp_engine.data.storage.stores import mapped
from netsharp_engine.excerpt import excerpt
from netsharp_engine.memory import free_memory, shown_bytes
from netsharp_engine.plain_files import open_plain

CHUNK_NUMBERS = 1 << 19
#: The most arrays of an archive that are named.
LISTED = 12
try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without
    LZMAError = zipfile.BadZipFile  # type: ignore[misc, assignment]
#: What reading a damaged archive or array raises: its parts are of several modules, an encrypted
#: part is a RuntimeError, and a head with an open bracket a TokenError.
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    tokenize.TokenError,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
#: Deflate makes 1032 bytes of one at most (zlib's technical notes); a little more for headers.
LARGEST_GZIP_RATIO = 1100
#: The bytes of an array from which on it is mapped.
LARGE_ARRAY = 1 << 26
COPIED_AT_ONCE = 1 << 20
#: The head of an archive's part, with the lengths of the two texts that follow it.
ZIP_HEAD = struct.Struct("<26xHH")
#: What reads the head of an array by its version.
NPY_HEADS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
FEATURE_KEYS = ("x", "X", "features", "data", "images", "x_train", "X_train", "arr_0")
LABEL_KEYS = ("y", "Y", "label", "labels", "target", "targets", "y_train", "arr_1")
IDX_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


class ArraySource:
    """Arrays of equal length as one table; see ``request.Source``.

    ``features`` is [rows, ...]; ``extras`` are one-dimensional columns (labels, weights) that
    follow the features under their own names.
    """

    line_word = "row"
    named = False
    typed = True
    counts = False
    doubles: tuple[str, ...] = ()

    def __init__(
        self,
        path: str,
        features: npt.NDArray[np.generic],
        extras: Mapping[str, npt.NDArray[np.generic]],
        label: str | None,
    ) -> None:
        self.path = path
        self.label = label
        rows = features.shape[0]
        self._features = features.reshape(rows, int(np.prod(features.shape[1:])))
        self._extras = list(extras.values())
        _check_numbers(path, self._features)
        for name, values in extras.items():
            _check_extra(path, name, values, rows)
        self.names = (*positional_names(self._features.shape[1]), *extras)
        self.remarks: list[str] = []
        width = self._features.shape[1]
        self.texts = frozenset(
            width + place
            for place, values in enumerate(self._extras)
            if values.dtype.kind not in "biuf"
        )

    def chunks(self, request: Request, meter: Meter) -> Iterator[Chunk]:
        """Yield all rows; lines are row numbers from 1. Raises DataError for text where numbers are
        needed.
        """
        rows, width = self._features.shape
        step = max(CHUNK_NUMBERS // max(width, 1), 1)
        size = os.path.getsize(self.path)
        for start in range(0, rows, step):
            stop = min(start + step, rows)
            meter.add_rows(stop - start)
            yield self._chunk(request, start, stop)
            meter.at(size * stop // rows)

    def _chunk(self, request: Request, start: int, stop: int) -> Chunk:
        width = self._features.shape[1]
        block = self._features[start:stop]
        numbers = np.empty((stop - start, len(request.numeric)))
        if request.numeric == tuple(range(width)):
            numbers[...] = block
        else:
            for target, column in enumerate(request.numeric):
                numbers[:, target] = self._column_numbers(column, start, stop)
        texts = tuple(self._texts(column, start, stop) for column in request.text)
        either: npt.NDArray[np.float64] | list[str] | None = None
        if request.either is not None:
            values = self._column(request.either, start, stop)
            if values.dtype.kind in "biuf":
                either = values.astype(np.float64)
            else:
                either = [str(value).strip() for value in values]
        lines = range(start + 1, stop + 1)
        return Chunk(stop - start, numbers, texts, either, lines)

    def _column(self, column: int, start: int, stop: int) -> npt.NDArray[np.generic]:
        width = self._features.shape[1]
        if column < width:
            return self._features[start:stop, column]
        return self._extras[column - width][start:stop]

    def _column_numbers(self, column: int, start: int, stop: int) -> npt.NDArray[np.float64]:
        values = self._column(column, start, stop)
        if values.dtype.kind not in "biuf":
            raise DataError(
                f"{self.path}: the array '{self.names[column]}' holds text; numbers are needed."
            )
        return values.astype(np.float64)

    def _texts(self, column: int, start: int, stop: int) -> list[str]:
        values = self._column(column, start, stop)
        if values.dtype.kind not in "biuf":
            return [str(value).strip() for value in values]
        return ["" if value != value else number_name(float(value)) for value in values.tolist()]


def _check_numbers(path: str, features: npt.NDArray[np.generic]) -> None:
    if features.dtype.kind not in "biuf":
        raise DataError(f"{path}: the features have the type {features.dtype}; numbers are needed.")
    if not features.size:
        raise DataError(f"{path} has no rows: its features have the shape {features.shape}.")


def _check_extra(path: str, name: str, values: npt.NDArray[np.generic], rows: int) -> None:
    if values.shape != (rows,):
        raise DataError(
            f"{path}: the array '{name}' has the shape {values.shape}; one value for each of the "
            f"{rows} rows is needed."
        )


def open_npz(path: str, *, label: str | None = None, weight: str | None = None) -> ArraySource:
    """Return a .npz archive as a source: the features under x (or features, data, images), labels
    under y or label.

    ``label`` and ``weight`` may name arrays. Raises DataError.
    """
    arrays = load_npz(path)
    features = next((key for key in FEATURE_KEYS if key in arrays), None)
    if features is None:
        wide = [key for key, array in arrays.items() if array.ndim > 1]
        if len(wide) != 1:
            raise DataError(
                f"{path} has the arrays {_listed(arrays)}: "
                "name the features 'x' and the labels 'y'."
            )
        features = wide[0]
    rows = arrays[features].shape[0] if arrays[features].ndim else 0
    chosen = next((key for key in (label, *LABEL_KEYS) if key in arrays), None)
    extras = {
        key: array
        for key, array in arrays.items()
        if key in (chosen, label, weight) or (array.ndim == 1 and array.shape[0] == rows)
    }
    extras.pop(features, None)
    if arrays[features].ndim < 2:
        raise DataError(
            f"{path}: the array '{features}' has the shape {arrays[features].shape}; "
            "features need one row per sample."
        )
    return ArraySource(path, arrays[features], extras, chosen)


def _listed(arrays: Mapping[str, npt.NDArray[np.generic]]) -> str:
    some = [f"{excerpt(key)} {list(array.shape)}" for key, array in islice(arrays.items(), LISTED)]
    return ", ".join(some) + (f" and {len(arrays) - LISTED} more" * (len(arrays) > LISTED))


def load_npz(path: str) -> dict[str, npt.NDArray[np.generic]]:
    """Return all arrays of a .npz archive by name; DataError where it is damaged or holds others.
    They keep their shapes and dtypes.
    """
    loaded: dict[str, Any] = {}
    try:
        with np.load(path, allow_pickle=False) as archive:
            large = _mapped_arrays(path, archive.zip)
            _check_room(path, archive.zip, large)
            loaded = {key: large[key] if key in large else archive[key] for key in archive.files}
    except DataError:
        raise
    except ValueError as error:
        if "pickle" in str(error) or "Object arrays" in str(error):
            raise DataError(
                f"{path} holds Python objects, which are never loaded. Save plain arrays of "
                "numbers or text."
            ) from None
        raise DataError(
            f"{path} is a damaged .npz file ({excerpt(error, 120)}). Save it again."
        ) from None
    except UNREADABLE as error:
        raise DataError(
            f"{path} is a damaged .npz file ({excerpt(error, 120)}). Save it again."
        ) from None
    arrays = {key: value for key, value in loaded.items() if isinstance(value, np.ndarray)}
    if len(arrays) < len(loaded):
        other = next(key for key in loaded if key not in arrays)
        raise DataError(
            f"{path} holds '{excerpt(other)}', which is not an array. Save arrays alone."
        )
    return arrays


def _damaged(path: str, kind: str, error: Exception) -> DataError:
    return DataError(f"{path} is a damaged .{kind} file ({excerpt(error, 120)}). Save it again.")


def _mapped_arrays(path: str, archive: zipfile.ZipFile) -> dict[str, npt.NDArray[np.generic]]:
    """Return the large arrays of an archive, mapped: from the archive, or from an unpacked file.

    Their checksums are compared. Arrays that cannot be mapped are left to be read.
    """
    found = {}
    for member in archive.infolist():
        if member.file_size >= LARGE_ARRAY and member.filename.endswith(".npy"):
            array = _mapped_array(path, archive, member)
            if array is not None:
                found[member.filename.removesuffix(".npy")] = array
    return found


def _mapped_array(
    path: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo
) -> npt.NDArray[np.generic] | None:
    with ExitStack() as stack:
        packed = stack.enter_context(archive.open(member))
        if member.compress_type == zipfile.ZIP_STORED:
            while packed.read(COPIED_AT_ONCE):
                pass  # All of it, so that its checksum is compared.
            stream: IO[bytes] = stack.enter_context(open_plain(path))
            stream.seek(member.header_offset)
            head = stream.read(ZIP_HEAD.size)
            stream.seek(sum(ZIP_HEAD.unpack(head)), os.SEEK_CUR)
        else:
            try:
                stream = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(packed, stream, COPIED_AT_ONCE)
            except OSError:  # The disk has no room, either.
                return None
            stream.seek(0)
        version = np.lib.format.read_magic(stream)
        if version not in NPY_HEADS:
            return None
        shape, in_columns, dtype = NPY_HEADS[version](stream)
        if dtype.hasobject or in_columns or 0 in shape:
            return None
        return mapped(stream, dtype, shape, stream.tell())


def _check_room(path: str, archive: zipfile.ZipFile, large: Mapping[str, Any]) -> None:
    """Refuse an archive whose arrays, by its own account, do not fit into memory."""
    known = {f"{key}.npy" for key in large}
    members = (each for each in archive.infolist() if each.filename not in known)
    size, free = sum(member.file_size for member in members), free_memory()
    if free is not None and size > free:
        raise DataError(
            f"{path} holds {shown_bytes(size)}, and {shown_bytes(free)} of memory are free. "
            "Split it, or save the table as Parquet or CSV, which are read in parts."
        )


def open_npy(path: str) -> ArraySource:
    """Return a single array [rows, columns] as a source; it has no label array. Raises
    DataError.
    """
    try:
        with np.errstate(over="ignore"):
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except UNREADABLE as error:
        raise DataError(
            f"{path} is a damaged .npy file ({excerpt(error, 120)}). Save it again."
        ) from None
    if array.ndim < 2:
        raise DataError(
            f"{path} holds an array of the shape {array.shape}; one row per sample is needed."
        )
    return ArraySource(path, array, {}, None)


def open_idx(path: str, labels: str | None) -> ArraySource:
    """Return IDX images (any number of dimensions) with their label file, both possibly gzipped.

    Without ``labels`` the file beside it with ``labels-idx1`` for ``images-idx3`` is taken. Raises
    DataError. Source: the description of the format on the MNIST database's page.
    """
    images = read_idx(path)
    label_path = labels or beside_labels(path)
    if label_path is None:
        return ArraySource(path, images, {}, None)
    values = read_idx(label_path)
    if values.ndim != 1:
        raise DataError(
            f"{label_path} has {values.ndim} dimensions {list(values.shape)}; "
            "a label file has one. Are images and labels exchanged?"
        )
    if values.shape[0] != images.shape[0]:
        raise DataError(
            f"{label_path} has {values.shape[0]} labels for the {images.shape[0]} images of {path}."
        )
    return ArraySource(path, images, {"label": values}, "label")


def beside_labels(path: str) -> str | None:
    """Return the label file that belongs to an IDX image file by MNIST's way of naming, if it
    exists.
    """
    folder, name = os.path.split(path)
    for images, labels in (("images-idx3", "labels-idx1"), ("images.idx3", "labels.idx1")):
        candidate = os.path.join(folder, name.replace(images, labels))
        if images in name and os.path.exists(candidate):
            return candidate
    return None


def read_idx(path: str) -> npt.NDArray[np.generic]:
    """Return the array of an IDX file, in the shape and the dtype that its header gives; raises
    DataError for a wrong magic number or a wrong length.
    """
    with open_bytes(path) as stream:
        magic = read_bytes(path, stream, 4)
        if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in IDX_DTYPES or not magic[3]:
            raise DataError(
                f"{path} is not an IDX file: it starts with {magic.hex(' ')}, an IDX file with "
                "00 00, the type of its numbers and the count of dimensions."
            )
        sizes = read_bytes(path, stream, 4 * magic[3])
        if len(sizes) < 4 * magic[3]:
            raise DataError(f"{path} ends inside its header: it was cut off. Copy it again.")
        shape = struct.unpack(f">{magic[3]}I", sizes)
        dtype = np.dtype(IDX_DTYPES[magic[2]])
        expected = dtype.itemsize
        for size in shape:
            expected *= size
        data = read_bytes(path, stream, min(expected, most_bytes(path)) + 1)
    if len(data) != expected:
        more = "more than" if len(data) > expected else f"{len(data)} of"
        raise DataError(
            f"{path} has {more} the {expected} bytes that its header {list(shape)} names. "
            "Copy it again."
        )
    return np.frombuffer(data, dtype).reshape(shape)


def most_bytes(path: str) -> int:
    """Return an upper bound of a file's content in bytes, so that a false header cannot ask for all
    memory.
    """
    return os.path.getsize(path) * LARGEST_GZIP_RATIO


def idx_feature_count(path: str) -> int:
    """Return the values per row of an IDX file, from its header alone. Raises DataError."""
    with open_bytes(path) as stream:
        head = read_bytes(path, stream, 4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in IDX_DTYPES:
            raise DataError(f"{path} is not an IDX file: it starts with {head.hex(' ')}.")
        sizes = read_bytes(path, stream, 4 * head[3])
    if len(sizes) < 4 * head[3]:
        raise DataError(f"{path} ends inside its header: it was cut off. Copy it again.")
    count = 1
    for size in struct.unpack(f">{head[3]}I", sizes)[1:]:
        count *= size
    return count
