"""Tables of data: reading, encoding, normalising, splitting.  It knows no network."""

from __future__ import annotations

from .encoding import Encoding, Feature
from .errors import DataError
from .files import ProgressCallback, ReadProgress, find_files
from .normalizers import Normalizer, fit_normalizer
from .options import ReadOptions
from .questions import class_names, feature_count
from .read import read_table
from .split import split_rows
from .stream import EncodedRows, stream_rows
from .table import Column, Table

__all__ = [
    "Column",
    "DataError",
    "EncodedRows",
    "Encoding",
    "Feature",
    "Normalizer",
    "ProgressCallback",
    "ReadOptions",
    "ReadProgress",
    "Table",
    "class_names",
    "feature_count",
    "find_files",
    "fit_normalizer",
    "read_table",
    "split_rows",
    "stream_rows",
]
