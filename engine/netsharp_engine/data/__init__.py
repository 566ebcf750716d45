"""Tables of data: reading, encoding, normalising, splitting. It must not know networks."""

from __future__ import annotations

from netsharp_engine.data.encoding import Encoding, Feature
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.normalizers import Normalizer, fit_normalizer
from netsharp_engine.data.questions import class_names, feature_count
from netsharp_engine.data.reading.files import ProgressCallback, ReadProgress, find_files
from netsharp_engine.data.reading.options import ReadOptions
from netsharp_engine.data.reading.read import read_table
from netsharp_engine.data.split import split_rows
from netsharp_engine.data.stream import EncodedRows, stream_rows
from netsharp_engine.data.table import Column, Table

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
