"""The compiled twin of reading tables against the careful reading: the same bits and faults."""

from __future__ import annotations

import gzip
import math
import random
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from netsharp_engine.cells import MISSING
from netsharp_engine.data import DataError, Encoding, ReadOptions, read_table
from netsharp_engine.data.reading import compiled, delimited
from netsharp_engine.data.reading.compiled import BlockReader, PlainRows
from netsharp_engine.data.reading.delimited import DelimitedSource
from netsharp_engine.data.reading.faults import TableFaults
from netsharp_engine.data.reading.files import Meter
from netsharp_engine.data.reading.request import Request
from netsharp_engine.data.stream import RowQuery, stream_rows
from tests.conftest import SEED

TWINS = Path(__file__).resolve().parents[2] / "engine" / "netsharp_engine" / "twins"


def cells(text: str, between: str = " ") -> Sequence[str]:
    """Cells that are written one after the other."""
    return text.split(between)


#: What cells are made of: plain numbers, then what is a number all the same, then what is none.
NUMBERS = cells("0 -0 +7 1.5 -130.31572 0.12345678901234567 1e5 2E-3 .5 5. 007")
ODD_NUMBERS = (
    *cells("nan -nan NaN inf -Infinity 1e400 -1e400 1e-400 5e-324 2.5e-310 9007199254740993"),
    *cells("179769313486231580793e289 0.1000000000000000055511151231257827 -0.0e-99"),
    *cells("123456789012345678901234567890 1e0000000000000000000005 0e999999999999"),
    *(" 7 ", "\t8", "9 \t", "0." + "0" * 30 + "1", "1" + "0" * 1300, "0" * 25, "0" * 25 + "1.5"),
)
NO_NUMBERS = (
    *cells("NA n/a #N/A Null none ? x 0x1p3 1_0 1__0 _1 1e e5 . - +-1 1.2.3 1,5 ,5 1.5,2 --1 1e+"),
    *("", " ", "1 2", "1e5.5", "infin", "nane", "1d5", "é", "\u0661\u0662", "a b", "\0", "1\0"),
    *("\u00a0", "\u00a05", "\x0b5", "\x1c", "\x85", "\ufeff1"),
)
#: Cells in which ~ stands for a quote.
QUOTED = (
    *cells("~q~ ~~ ~7~ ~1.5~ ~NA~ ~é~ ~a~~b~ ~~~~ ~a;b,c|d~ ~1,5~ ~1.5,2~"),
    *cells("~ a~b ~a~b ~1~~2~ ~0x1~"),
    *cells("~ 5~/~ ~/ ~x~/~-0~ /~x~ /~a\nb~/~a\r\nb~/~\u00a0~/\t~x~/~1_0~/~nan~/~inf~/~a", "/"),
)
TEXTS = ("red", "green", " blue", "blue", "", "é", "NA", "7", "7.0", "a" * 30, "red ", "\u00a0red")


class Shape(NamedTuple):
    """How a table of the fuzz is written and asked for."""

    delimiter: str
    newline: str
    width: int
    request: Request
    comma: bool
    encoding: str


def shape_of(chosen: random.Random) -> Shape:
    width = chosen.choice((1, 2, 2, 3, 5))
    columns = list(range(width))
    chosen.shuffle(columns)
    first, second = sorted(chosen.choices(range(width + 1), k=2))
    numeric, text = tuple(columns[:first]), tuple(columns[first:second])
    if chosen.random() < 0.1:
        text = (*text, *columns[:1], *columns[:1])
    either = columns[second] if second < width and chosen.random() < 0.7 else None
    delimiter = chosen.choice((",", ",", ",", ";", "\t", "|", " ", "e", "é", ":"))
    return Shape(
        delimiter,
        chosen.choice(("\n", "\n", "\n", "\r\n", "\r\n", "\r")),
        width,
        Request(numeric, text, either),
        delimiter != "," and chosen.random() < 0.3,
        chosen.choice(("utf-8",) * 6 + ("cp1252", "utf-16")),
    )


def text_of(chosen: random.Random, shape: Shape) -> bytes:
    """Rows that are plain except for a few cells, or a few bytes."""
    odd, texts = chosen.choice((0, 0, 0.01, 0.1)), chosen.random() < 0.5
    quotes, strange = chosen.choice((0, 0, 0.2, 1)), chosen.choice((0, 0, 0.02))
    kinds = [
        TEXTS
        if texts and column not in shape.request.numeric and chosen.random() < 0.8
        else NUMBERS
        for column in range(shape.width)
    ]

    def cell(kind: Sequence[str]) -> str:
        if chosen.random() < odd:
            kind = chosen.choice((ODD_NUMBERS, ODD_NUMBERS, NO_NUMBERS, ("1", "x" * 500)))
        found = chosen.choice(kind)
        if chosen.random() < strange:
            found = chosen.choice(QUOTED).replace("~", '"')
        if '"' not in found and chosen.random() < quotes:
            found = f'"{found}"'
        return found.replace(".", ",") if shape.comma and chosen.random() < 0.99 else found

    rows = [shape.delimiter.join(map(cell, kinds)) for _ in range(chosen.randint(1, 60))]
    for _ in range(chosen.choice((0, 0, 0, 1, 3))):
        at = chosen.randrange(len(rows))
        rows[at] = chosen.choice(
            ("", " ", rows[at] + shape.delimiter, rows[at] + "\r", "1", rows[at] * 2)
        )
    text = shape.newline.join(rows) + chosen.choice((shape.newline, shape.newline, ""))
    data = bytearray(text.encode(shape.encoding, "replace"))
    for _ in range(chosen.choice((0, 0, 0, 0, 1, 4)) if data else 0):
        data[chosen.randrange(len(data))] = chosen.choice(b'\0\r\n"\xff\xc3\x80,;.-e 09\t')
    return bytes(data)


def bits(values: object) -> object:
    """Numbers as they are to the last bit, texts as they are."""
    if isinstance(values, np.ndarray):
        return values.shape, values.dtype.str, values.tobytes()
    return None if values is None else list(values)  # type: ignore[call-overload]


def chunks_of(path: Path, shape: Shape, gathers: bool) -> object:
    """All that reading a file gives, or the sentence."""
    gathered = TableFaults() if gathers else None
    try:
        source = DelimitedSource(
            str(path),
            delimiter=shape.delimiter,
            header=False,
            decimal="comma" if shape.comma else "point",
        )
        if len(source.names) != shape.width:
            return source.names
        request = shape.request
        asked = Request(request.numeric, request.text, request.either, gathered)
        found = [
            (
                chunk.count,
                bits(np.ascontiguousarray(chunk.numbers)),
                [bits(texts) for texts in chunk.texts],
                bits(None if chunk.either is None else np.ascontiguousarray(chunk.either))
                if isinstance(chunk.either, np.ndarray)
                else bits(chunk.either),
                list(chunk.lines),
            )
            for chunk in source.chunks(asked, Meter([], None))
        ]
    except DataError as error:
        return str(error)
    message = str(gathered.error(str(path))) if gathered else None
    return found, message, source.remarks


def both(
    monkeypatch: pytest.MonkeyPatch, outcome: Callable[..., object], *given: object
) -> tuple[object, object]:
    """What comes with the twin, and without it."""
    found = outcome(*given)
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "twins", None)
        return found, outcome(*given)


def first_difference(found: object, without: object) -> object:
    """Where two outcomes part, for a person to look at."""
    if isinstance(found, tuple | list) and isinstance(without, tuple | list):
        for one, other in zip(found, without, strict=False):
            if one != other:
                return first_difference(one, other)
    return found, without


@pytest.mark.drawn
@pytest.mark.parametrize("part", range(24))
def test_both_read_alike(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same chunks of whatever bytes, also in blocks of a few bytes, and the same faults."""
    print(f"seed {SEED}")
    chosen = random.Random(f"{SEED} {part}")
    path = tmp_path / "data.csv"
    good = 0
    for _ in range(250):
        shape = shape_of(chosen)
        path.write_bytes(text_of(chosen, shape))
        faults = chosen.random() < 0.5
        with monkeypatch.context() as patch:
            patch.setattr(delimited, "CHUNK_BYTES", chosen.choice((7, 20, 100, 1 << 18)))
            patch.setattr(delimited, "SLOW_CELLS", chosen.choice((1, 7, 40, 1 << 16)))
            patch.setattr(delimited, "PIECE_BYTES", chosen.choice((30, 1 << 26, 1 << 26)))
            found, without = both(patch, chunks_of, path, shape, faults)
        assert found == without, (first_difference(found, without), shape, path.read_bytes())
        good += not isinstance(found, str)
    assert good > 80, good


@pytest.mark.parametrize("gathers", [False, True])
@pytest.mark.parametrize("odd", ["", "1;2;3\n", '"a";"1\n', "NA;\xff\n"])
def test_a_file_that_was_cut_off_says_the_same(
    gathers: bool, odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows before the end are read, and what is wrong in them is reported first."""
    chosen = random.Random(SEED)
    rows = [f'"{chosen.random()}";{chosen.random()}\n' for _ in range(9000)]
    path = tmp_path / "data.csv"
    text = "".join(rows) + odd + "".join(rows[:20])
    path.write_bytes(gzip.compress(text.encode("latin-1"))[:-9])
    shape = Shape(";", "\n", 2, Request((0, 1)), False, "utf-8")
    found, without = both(monkeypatch, chunks_of, path, shape, gathers)
    assert found == without
    assert isinstance(found, str)


def table_of(path: Path, options: ReadOptions) -> object:
    """All that a table has and a stream of its rows gives, or the sentence."""
    query = RowQuery(str(path), options, keep=("c",), labelled=True)
    try:
        table = read_table(str(path), options)
        encoding = Encoding.fit(table, missing=options.missing)
        query = query._replace(classes=table.classes or ())
        rows = [
            [bits(part) for part in (each.features, each.class_codes, each.targets, each.weights)]
            + [list(texts) for texts in each.kept]
            for each in stream_rows(query, encoding)
        ]
    except DataError as error:
        return str(error)
    arrays = (
        table.numbers,
        *table.codes,
        table.class_codes,
        table.targets,
        table.weights,
        table.held_out,
    )
    return table.columns, table.classes, table.notes, list(map(bits, arrays)), rows


def test_tables_are_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With columns for every part, faults gathered, and a limit of rows within a block."""
    print(f"seed {SEED}")
    chosen = random.Random(SEED)
    path = tmp_path / "data.csv"
    sentences = 0
    for _ in range(150):
        odd = chosen.choice((0, 0, 0.002, 0.05))
        labels = chosen.choice(
            (("1", "2", "3"), ("yes", "no", " no"), ("1.0", "1", "2", "1e300", "x"))
        )
        kinds = (NUMBERS, NUMBERS, TEXTS[:4], labels, ("1", "0.5", "2"), ("0", "1", "train", "val"))
        more = (*ODD_NUMBERS, *NO_NUMBERS)
        cells = (
            [chosen.choice(more if chosen.random() < odd else kind) for kind in kinds]
            for _ in range(chosen.randint(1, 80))
        )
        lines = ("a,b,c,label,w,v", *map(",".join, cells))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        options = ReadOptions(
            label="label",
            weight=chosen.choice((None, "w")),
            split=chosen.choice((None, None, "v")),
            categorical=chosen.choice(((), ("c",), ("b", "c"))),
            columns=chosen.choice(((), (), ("c", "a"))),
            exclude=chosen.choice(((), ("v",), ("v", "w"))),
            missing=chosen.choice(("error", "mean", "indicator", "drop")),
            task=chosen.choice(("classification", "classification", "regression")),
            rows=chosen.choice((None, None, 5, 40)),
            dtype=chosen.choice(("float32", "float64")),
        )
        with monkeypatch.context() as patch:
            patch.setattr(delimited, "CHUNK_BYTES", chosen.choice((50, 300, 1 << 18)))
            patch.setattr(delimited, "SLOW_CELLS", chosen.choice((20, 100, 1 << 16)))
            found, without = both(patch, table_of, path, options)
        assert found == without, (first_difference(found, without), options, path.read_bytes())
        sentences += isinstance(found, str)
    assert 25 < sentences < 125, sentences


def read(cells: Sequence[str], point: str = ".") -> npt.NDArray[np.float64] | None:
    """The numbers that the twin reads, or None."""
    text = "".join(f"{cell};\n" for cell in cells).encode()
    found = BlockReader(";", point, 2, (0,), ()).read(text, len(cells))
    return found.numbers[:, 0] if isinstance(found, PlainRows) else None


def written_numbers(chosen: random.Random) -> Iterator[str]:
    """Decimal numbers as people and programs write them, and those that are hardest to round."""
    for _ in range(60_000):
        digits = "".join(chosen.choices("0123456789", k=chosen.randint(1, 24)))
        at = chosen.randint(0, len(digits))
        text = chosen.choice(("", "-", "+")) + digits[:at] + chosen.choice(("", ".")) + digits[at:]
        yield text + chosen.choice(
            ("", "", f"e{chosen.randint(-99, 99)}", f"E+{chosen.randint(0, 330)}")
        )
    for _ in range(60_000):
        value = struct.unpack("d", chosen.randbytes(8))[0]
        if value == value and abs(value) != float("inf"):
            yield repr(value)
        value = chosen.choice((-1, 1)) * 10 ** chosen.uniform(-60, 60)
        yield repr(value)
        yield f"{value:.{chosen.randint(10, 19)}e}"
        yield f"{chosen.gauss(0, 100):.{chosen.randint(0, 19)}f}"
    for _ in range(30_000):
        # Halfway between two numbers, and the next decimal numbers on both sides of it.
        whole, power = chosen.randrange(2**52, 2**53), chosen.randint(-60, 60)
        half = Fraction(2 * whole + 1) * Fraction(2) ** power
        exponent = len(str(int(half))) - 19 if half >= 1 else -18 - len(str(int(1 / half)))
        near = int(half / Fraction(10) ** exponent)
        for each in (near - 1, near, near + 1):
            yield f"{each}e{exponent}"


def test_numbers_are_those_of_python() -> None:
    """To the last bit, whatever they are."""
    print(f"seed {SEED}")
    cells = [*written_numbers(random.Random(SEED)), *NUMBERS, *ODD_NUMBERS]
    cells = [cell for cell in cells if len(cell) < 1000]
    wanted = np.array([float(cell) for cell in cells])
    for point in ".,":
        found = read([cell.replace(".", point) for cell in cells], point)
        assert found is not None
        differ = np.flatnonzero(found.view(np.uint64) != wanted.view(np.uint64))
        assert not len(differ), [(cells[place], found[place]) for place in differ[:5]]


@pytest.mark.parametrize("cell", NO_NUMBERS)
def test_what_is_no_number_is_none(cell: str) -> None:
    """A missing value, or refused; what is nearly a number, too."""
    found = read(["1", cell, "2"])
    stripped = cell.strip(" \t")
    if stripped.casefold() in MISSING:
        assert found is not None
        assert found.tobytes() == np.array([1, float("nan"), 2]).tobytes()
    else:
        assert found is None


def test_powers_are_cut_off() -> None:
    """Each is the first 64 bits of its number, as the rounding takes for granted."""
    source = (TWINS / "decimal.h").read_text(encoding="utf-8")
    table = re.findall(r"0x([0-9a-f]{16})\)", source.partition("first_bits[")[2].partition("};")[0])
    assert len(table) == 129
    for power, bits_found in enumerate(table, -64):
        number = int(bits_found, 16)
        assert 2**63 <= number < 2**64
        exact = Fraction(10) ** power
        shift = math.floor(math.log2(10) * power) - 63
        assert number <= exact / Fraction(2) ** shift < number + 1, power


def test_plain_tables_are_read_by_the_twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise nothing above says anything: missing values, texts, letters of any kind, too."""
    monkeypatch.setattr(delimited._Reading, "_plain", None)
    path = tmp_path / "data.csv"
    for text in (
        "a,b,label\n1,2,x\n3,4.5,y\n",
        "a,b,label\r\n1,,x\r\nNA,nan,é\r\n",
        "a;b;label\n1,5;2;x\n;3;1,5",
        "a\tb\tlabel\r1\tred\tx\r2\tgréen\ty\r",
    ):
        path.write_bytes(text.encode())
        table = read_table(str(path), ReadOptions(label="label", missing="mean"))
        assert table.rows == 2
    path.write_bytes("a,b,label\n1,2,x\n3,4,\xe9\n".encode("latin-1"))
    assert read_table(str(path), ReadOptions(label="label")).classes == ("x", "é")
    # The careful reading gets no lines after the first quote.
    monkeypatch.setattr(delimited._Reading, "_slow", lambda self, lines, _: iter(list(lines)))
    path.write_text('"a","b","label"\n"1",2,"x"\n3,"a""b", "é"\n4,"",x\n', encoding="utf-8")
    table = read_table(str(path), ReadOptions(label="label", categorical=("b",)))
    assert table.columns[1].levels == ("2", 'a"b')
    assert table.numbers.tolist() == [[1], [3], [4]]
    assert table.classes == ("x", "é")


def test_texts_that_fall_together_are_kept_apart() -> None:
    """More texts than places are looked at, and texts that come again."""
    texts = [f"t{number % 700}" for number in range(2000)]
    found = BlockReader(",", ".", 1, (), (0,)).read("".join(f"{t}\n" for t in texts).encode(), 2000)
    assert isinstance(found, PlainRows)
    assert list(found.texts[0]) == texts
    assert found.texts[0].levels[:700] == texts[:700]


def test_what_makes_no_sense_is_refused() -> None:
    assert compiled.twins is not None
    read, numbers, codes = compiled.twins.table_read, np.empty((2, 1)), np.empty((1, 2), np.int32)
    kinds = np.array([0, -1], np.int32), np.array([-1, 0], np.int32)
    sizes = ord(","), ord("."), 2, 1, 1, -1
    assert read(b"1,a\n2,b\n", *sizes, numbers, codes, *kinds) == (2, 8, -1, 0, (["a", "b"],))
    assert read(b"1,a\n2,b\n3,a\n", *sizes, numbers, codes, *kinds)[:2] == (2, 8)
    with pytest.raises(ValueError, match="out of range"):
        read(b"1,a\n", *sizes[:2], 9, *sizes[3:], numbers, codes, *kinds)
    with pytest.raises(ValueError, match="a column is out of range"):
        read(b"1,a\n", *sizes, numbers, codes, kinds[0] + 1, kinds[1])
    with pytest.raises(ValueError, match="an array is too short"):
        read(b"1,a\n", *sizes, numbers[:1], codes, *kinds)
    with pytest.raises(ValueError, match="an array is too short"):
        read(b"1,a\n", *sizes, numbers, codes, kinds[0], kinds[1][:1])
    with pytest.raises(TypeError, match="another number of arguments"):
        read(b"1,a\n")
