"""Bombs of tables: delimited text and Parquet."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable

from tests.bounds.bombs import MEBI, Bomb, Files, of_files
from tests.bounds.table.trained import HEADER, KNOWS, NETWORK, ROWS, TRAIN, small_model

#: What is done with a table; the model knows the columns x, y and label.
ON_TABLES = (
    f"{TRAIN} TABLE",
    "predict small.safetensors --quiet --data TABLE",
    "evaluate small.safetensors --quiet --data TABLE",
    f"describe a.nn {KNOWS} TABLE",
    f"check a.nn {KNOWS} TABLE",
)


def of_table(
    name: str, table: Callable[[int], bytes], most: int, least: int = 64, file: str = "t.csv"
) -> list[Bomb]:
    """Bombs of one table for everything that reads tables."""

    def files(size: int) -> Files:
        return {"a.nn": NETWORK, file: table(size), "small.safetensors": small_model()}

    return [
        bomb
        for command in ON_TABLES
        for bomb in of_files("table", name, command.replace("TABLE", file), files, most, least)
    ]


def _delimited() -> list[Bomb]:
    def columns(n: int) -> bytes:
        names = b",".join(b"c%d" % i for i in range(n))
        return names + b",x,y,label\n" + (b"1," * n + b"1,2,a\n" + b"2," * n + b"2,1,b\n") * 4

    def bare_columns(n: int) -> bytes:
        return (b"1," * n + b"1,2,0\n" + b"2," * n + b"2,1,1\n") * 4

    def labels(n: int) -> bytes:
        return HEADER + b"".join(b"1,2,l%d\n" % i for i in range(n))

    def levels(n: int) -> bytes:
        return HEADER + b"".join(b"v%d,2,%d\n" % (i, i % 2) for i in range(n))

    def compressed(n: int) -> bytes:
        return gzip.compress(HEADER + ROWS + b"1,2,a\n" * n, 1)

    def of_zeros(n: int) -> bytes:
        return gzip.compress(HEADER + ROWS + b"\0" * n, 1)

    return [
        *of_table("a line of digits", lambda n: HEADER + ROWS + b"1" * n + b",2,a\n", 2**23),
        *of_table("a line of cells", lambda n: HEADER + ROWS + b"1," * n + b"a\n", 2**22),
        *of_table("a line without an end", lambda n: HEADER + ROWS + b"x" * n, 2**25),
        *of_table("a first line without an end", lambda n: b"x" * n, 2**25),
        *of_table("a long name", lambda n: b"x" * n + HEADER + ROWS, 2**22),
        *of_table("columns", columns, 2**16),
        *of_table("columns without names", bare_columns, 2**16),
        *of_table("columns of one name", lambda n: b"x," * n + HEADER + ROWS, 2**20),
        *of_table("a bad cell behind rows", lambda n: HEADER + ROWS * n + b"1,bad,a\n", 2**17),
        *of_table("a short row behind rows", lambda n: HEADER + ROWS * n + b"1\n", 2**17),
        *of_table("a bad byte behind rows", lambda n: HEADER + ROWS * n + b"1,2,\xff\n", 2**17),
        *of_table("an open quote before rows", lambda n: HEADER + b'"1,2,a\n' + ROWS * n, 2**18),
        *of_table("an open quote in a name", lambda n: b'"' + HEADER + ROWS * n, 2**18),
        *of_table("an open quote behind rows", lambda n: HEADER + ROWS * n + b'1,"2,a\n', 2**17),
        *of_table("open quotes", lambda n: HEADER + ROWS + b'1,2,"a\n' * n, 2**20),
        *of_table("quotes", lambda n: HEADER + ROWS + b'"' * n, 2**23),
        *of_table("quoted cells", lambda n: HEADER + b'"1","2","a"\n' * n, 2**17),
        *of_table("a long cell", lambda n: HEADER + ROWS + b'1,2,"' + b"x" * n + b'"\n', 2**22),
        *of_table(
            "a cell of lines", lambda n: HEADER + ROWS + b'1,2,"' + b"\n" * n + b'"\n', 2**22
        ),
        *of_table("long labels", lambda n: HEADER + ROWS + b"1,2," + b"x" * n + b"\n", 2**22),
        *of_table("a long number", lambda n: HEADER + ROWS + b"1,1e" + b"9" * n + b",a\n", 2**22),
        *of_table("zero bytes", lambda n: HEADER + ROWS + b"\0" * n, 2**23),
        *of_table("rows of zero bytes", lambda n: HEADER + ROWS + b"\0,\0,\0\n" * n, 2**20),
        *of_table("labels", labels, 2**17),
        *of_table("levels", levels, 2**17),
        *of_table("blank lines", lambda n: HEADER + ROWS + b"\n" * n, 2**22),
        *of_table("blank rows", lambda n: HEADER + ROWS + b" , ,\n" * n, 2**19),
        *of_table("returns", lambda n: (HEADER + ROWS).replace(b"\n", b"\r") + b"\r" * n, 2**22),
        *of_table("missing cells", lambda n: HEADER + ROWS + b"1,,a\n" * n, 2**18),
        *of_table("compressed rows", compressed, 2**18, file="t.csv.gz"),
        *of_table("compressed zero bytes", of_zeros, 2**25, file="t.csv.gz"),
    ]


def _parquet() -> list[Bomb]:
    def written(**columns: object) -> bytes:
        import pyarrow as pa
        from pyarrow import parquet

        stream = io.BytesIO()
        parquet.write_table(pa.table(columns), stream)
        return stream.getvalue()

    def row_group(n: int) -> bytes:
        import pyarrow as pa

        numbers = pa.array([0.0]).take(pa.array([0] * n))
        return written(
            x=numbers, y=numbers, label=pa.array(["a", "b"] * (n // 2) + ["a"] * (n % 2))
        )

    def nested(n: int) -> bytes:
        import pyarrow as pa

        value: object = 1.0
        for _ in range(min(n, 60)):
            value = [value]
        return written(x=pa.array([value] * 8), y=[1.0] * 8, label=["a", "b"] * 4)

    def long_list(n: int) -> bytes:
        return written(x=[[1.0] * n] * 8, y=[1.0] * 8, label=["a", "b"] * 4)

    def labels(n: int) -> bytes:
        return written(x=[1.0] * n, y=[2.0] * n, label=[f"l{i}" for i in range(n)])

    def long_labels(n: int) -> bytes:
        return written(x=[1.0] * 8, y=[2.0] * 8, label=["a" * n, "b" * n] * 4)

    def repeated_labels(n: int) -> bytes:
        """One text of a MiB in a dictionary, which every row names."""
        return written(
            x=[1.0] * n, y=[2.0] * n, label=["a" * MEBI, "b"] * (n // 2) + ["b"] * (n % 2)
        )

    def columns(n: int) -> bytes:
        some = {f"c{i}": [1.0] * 8 for i in range(n)}
        return written(**some, x=[1.0] * 8, y=[2.0] * 8, label=["a", "b"] * 4)

    def lying(n: int) -> bytes:
        """A table that lacks its last `8 + n` bytes, of its footer."""
        return written(x=[1.0] * 8, y=[2.0] * 8, label=["a", "b"] * 4)[: -8 - n]

    def of(name: str, table: Callable[[int], bytes], most: int, least: int = 64) -> list[Bomb]:
        return of_table(f"Parquet: {name}", table, most, least, file="t.parquet")

    return [
        *of("a row group", row_group, 2**21),
        *of("nested lists", nested, 64, 2),
        *of("long lists", long_list, 2**18),
        *of("labels", labels, 2**17),
        *of("long labels", long_labels, 2**21),
        *of("a repeated label", repeated_labels, 2**10, 8),
        *of("columns", columns, 2**12, 16),
        *of("cut off", lying, 256, 2),
    ]


BOMBS: tuple[Bomb, ...] = (
    *_delimited(),
    *_parquet(),
)
