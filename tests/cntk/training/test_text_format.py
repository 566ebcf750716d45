"""CNTK's text format: what is read, what is skipped with a warning, and what ends a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_engine.cntk.samples.text_format import Sequences, TextOptions, TextStream, read_text
from netsharp_engine.data import DataError
from netsharp_engine.program import Sparse

STREAMS = [TextStream("x", "x", 2), TextStream("y", "why", 1)]
GOOD = b"|x 1 2 |why 3\n"


def read(folder: Path, data: bytes, options: TextOptions = TextOptions()) -> Sequences:  # noqa: B008
    path = folder / "data.ctf"
    path.write_bytes(data)
    return read_text(str(path), STREAMS, "float32", options)


#: Files that are read silently, and what their streams hold.
READ = {
    "a line": (GOOD, [[1, 2]], [[3]]),
    "streams in any order": (b"|why 3|x 1 2\n", [[1, 2]], [[3]]),
    "tabs and blanks": (b"|x\t1  2\t |why 3 \n", [[1, 2]], [[3]]),
    "line ends of Windows": (b"|x 1 2 |why 3\r\n|x 4 5|why 6\r\n", [[1, 2], [4, 5]], [[3], [6]]),
    "a mark of UTF-8": (b"\xef\xbb\xbf" + GOOD, [[1, 2]], [[3]]),
    "a comment": (b"|x 1 2 |# no |why 3\n", [[1, 2]], [[3]]),
    "a comment with numbers": (b"|x 1 2 |why 3 |#1 2 3\n", [[1, 2]], [[3]]),
    "signs": (b"|x -1 +2 |why -0\n", [[-1, 2]], [[0]]),
    "fractions": (b"|x 1.5 2. |why 0.25\n", [[1.5, 2]], [[0.25]]),
    "exponents": (b"|x 1e1 2.5E-1 |why 1e+2\n", [[10, 0.25]], [[100]]),
    "ids, one a line": (b"1 |x 1 2 |why 3\n2 |x 4 5 |why 6\n", [[1, 2], [4, 5]], [[3], [6]]),
    "an id that comes back": (
        b"1 |x 1 2 |why 3\n2 |x 4 5 |why 6\n1 |x 7 8 |why 9\n",
        [[1, 2], [4, 5], [7, 8]],
        [[3], [6], [9]],
    ),
    "sequences of several lines": (
        b"1 |x 1 2 |why 3\n1 |x 4 5 |why 6\n2 |x 7 8|why 9\n",
        [[1, 2], [4, 5], [7, 8]],
        [[3], [6], [9]],
    ),
    "lines without an id among ids": (
        b"1 |x 1 2 |why 3\n|x 4 5\n|# none\t|x 7 8\n",
        [[1, 2], [4, 5], [7, 8]],
        [[3]],
    ),
    "a comment alone on a line of a sequence": (
        b"1 |x 1 2 |why 3\n|x 4 5 |# one more |why 6\n",
        [[1, 2], [4, 5]],
        [[3], [6]],
    ),
    "control characters between columns": (b"|x 1 2\x01|why 3\x02\n", [[1, 2]], [[3]]),
}
#: Files with faults that are skipped: options, a word of the warning, the first stream.
WARNED = {
    "an unknown stream": (
        b"|x 1 2 |why 3 |z 4\n",
        0,
        "'z' is not an input of the reader",
        [[1, 2]],
    ),
    "an unknown stream twice": (b"|x 1 2 |why 3 |z 4 |w 5\n", 0, "'w'", [[1, 2]]),
    "a misspelt stream": (b"|x 1 2 |why 3 |wy 4\n", 0, "Did you mean 'why'?", [[1, 2]]),
    "a short sample": (b"|x 1 |why 3\n", 0, "has 1 of 2 numbers", [[1, 0]]),
    "an empty sample": (b"|x |why 3\n", 0, "has 0 of 2 numbers", [[0, 0]]),
    "a long sample": (b"|x 1 2 3 |why 3\n" + GOOD, 1, "its dim is 2", [[1, 2]]),
    "a long sample of another stream": (
        b"|x 1 2 |why 3 4\n" + GOOD,
        1,
        "line 1, column 15: a sample of 'why' has 2 numbers, and its dim is 1",
        [[1, 2]],
    ),
    "two samples of the second stream": (
        b"|x 1 2 |why 3 |why 4\n" + GOOD,
        1,
        "column 16: the line has more than one sample of 'why'",
        [[1, 2]],
    ),
    "a comment without a column": (GOOD + b"|# nothing\n", 1, "holds no column", [[1, 2]]),
    "a short sample in a sequence": (
        b"1 |x 1 2 |why 3\n1 |x 4 |why 5\n",
        0,
        "line 2, column 4: a sample of 'x' has 1 of 2 numbers",
        [[1, 2], [4, 0]],
    ),
    "lines that are more than samples": (
        b"1 |x 1 2 |why 3\n1 |x 1 2\n2 |x 3 4\n2 |why 5\n",
        1,
        "line 3: the sequence has 2 lines, and no stream more than 1 samples",
        [[1, 2], [1, 2], [3, 4]],
    ),
    "not a number": (b"|x 1 a |why 3\n" + GOOD, 1, "'a' in column 'x' is not a number", [[1, 2]]),
    "two samples": (b"|x 1 2 |x 1 2 |why 3\n" + GOOD, 1, "more than one sample of 'x'", [[1, 2]]),
    "a line without columns": (GOOD + b"\n", 1, "holds no column", [[1, 2]]),
    "a last line that does not end": (GOOD + b"|x 4 5 |why 6", 1, "does not end", [[1, 2]]),
    "words before the first column": (GOOD + b"no |x 4 5 |why 6\n", 1, "'no' is before", None),
    "a column without a name": (b"| 1 |x 1 2 |why 3\n" + GOOD, 1, "no name", [[1, 2]]),
}
#: Files that cannot be used, and a word of the sentence.
REFUSED = {
    "nothing": (b"", "the file is empty"),
    "a mark alone": (b"\xef\xbb\xbf", "the file is empty"),
    "UTF-16": (b"\xff\xfe|\0x\0", "UTF-16"),
    "the other UTF-16": (b"\xfe\xff\0|\0x", "UTF-16"),
    "a point without digits before": (b"|x .5 1 |why 3\n", "'.5'"),
    "an exponent without digits": (b"|x 1e 1 |why 3\n", "'1e'"),
    "not a number": (b"|x nan 1 |why 3\n", "'nan'"),
    "infinity": (b"|x inf 1 |why 3\n", "'inf'"),
    "an underscore": (b"|x 1_0 1 |why 3\n", "'1_0'"),
    "hexadecimal": (b"|x 0x1 1 |why 3\n", "'0x1'"),
    "a long sample of a sequence": (b"1 |x 1 2 |why 3\n1 |x 1 2 3\n", "line 2, column 10: a sam"),
    "a last line with an id": (b"1 |x 1 2 |why 3\n2 |x 1 2 |why 3", "line 2, column 15: the last"),
    "a sparse sample": (b"|x 0:1 1:2 |why 3\n", "'0:1'"),
    "a stream that is missing": (GOOD + b"|x 1 2\n", "line 2: the sequence has no sample of 'why'"),
    "a long sample": (b"|x 1 2 3 |why 3\n", "maximum number of allowed errors"),
    "a last line that does not end": (GOOD + b"|x 4 5 |why 6", "line 2, column 13: the last line"),
    "lines that are fewer than samples": (
        b"1 |x 1 2\n1 |why 3\n",
        "line 1: the sequence has 2 lines, and no",
    ),
    "a sequence without a stream": (
        GOOD * 2 + b"|x 1 2\n" + GOOD,
        "line 3: the sequence has no sample of 'why'",
    ),
    "bytes that are no text": (b"|x \xff 1 |why 3\n", "not a number"),
    "a zero byte": (b"|x 1\x00 1 |why 3\n", "not a number"),
}


@pytest.mark.parametrize("name", READ)
def test_read(name: str, tmp_path: Path) -> None:
    data, x, y = READ[name]
    found = read(tmp_path, data)
    assert found.values["x"].tolist() == x
    assert found.values["y"].tolist() == y
    assert found.warnings == []


@pytest.mark.parametrize("name", WARNED)
def test_passed_over_with_a_word(name: str, tmp_path: Path) -> None:
    data, errors, word, x = WARNED[name]
    found = read(tmp_path, data, TextOptions(most_errors=errors))
    assert any(word in one and "data.ctf, line" in one for one in found.warnings), found.warnings
    if x is not None:
        assert found.values["x"].tolist() == x
    if errors:
        with pytest.raises(DataError, match="maximum number of allowed errors"):
            read(tmp_path, data)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    data, word = REFUSED[name]
    with pytest.raises(DataError) as raised:
        read(tmp_path, data)
    assert word in str(raised.value)
    assert "data.ctf" in str(raised.value)


def test_errors_are_allowed_up_to_their_number(tmp_path: Path) -> None:
    data = (b"|x 1 a |why 3\n" * 3) + GOOD
    assert len(read(tmp_path, data, TextOptions(most_errors=3)).warnings) == 3
    with pytest.raises(DataError, match="line 3, column 6: 'a'"):
        read(tmp_path, data, TextOptions(most_errors=2))


def test_ids_can_be_left_out(tmp_path: Path) -> None:
    data = b"1 |x 1 2 |why 3\n1 |x 4 5 |why 6\n"
    assert read(tmp_path, data, TextOptions(skip_ids=True)).values["x"].tolist() == [[1, 2], [4, 5]]


def test_a_file_is_cut_into_chunks_of_whole_sequences(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD * 5, TextOptions(chunk=2 * len(GOOD))).chunks == [2, 2, 1]
    assert read(tmp_path, GOOD * 5, TextOptions(chunk=1)).chunks == [1] * 5
    assert read(tmp_path, GOOD * 5).chunks == [5]


def test_many_warnings_are_reported_as_one(tmp_path: Path) -> None:
    warnings = read(tmp_path, b"|x 1 |why 3\n" * 10_000).warnings
    assert len(warnings) == 21
    assert "9,980 more warnings" in warnings[-1]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_text(str(tmp_path / "no.ctf"), STREAMS, "float32")
    with pytest.raises(DataError, match="cannot be read"):
        read_text(str(tmp_path), STREAMS, "float32")


def sparse(folder: Path, data: bytes, options: TextOptions = TextOptions()) -> Sequences:  # noqa: B008
    path = folder / "data.ctf"
    path.write_bytes(data)
    streams = [TextStream("x", "x", 5, sparse=True), TextStream("y", "why", 1)]
    return read_text(str(path), streams, "float64", options)


def test_sequences_of_sparse_samples(tmp_path: Path) -> None:
    found = sparse(tmp_path, b"7 |x 1:2 4:0.5 |why 1\n7 |x\n7 |x 0:-1\n8 |x 4:1 |why 2\n")
    values = found.values["x"]
    assert isinstance(values, Sparse)
    assert values.values.tolist() == [2, 0.5, -1, 1]
    assert values.columns.tolist() == [1, 4, 0, 4]
    assert values.starts.tolist() == [0, 2, 2, 3, 4]
    assert found.lines is not None
    assert (found.lines.tolist(), found.chunks, found.total) == ([3, 1], [2], 4)
    assert {name: one.tolist() for name, one in found.lengths.items()} == {"y": [1, 1]}


def test_sparse_samples_may_be_empty(tmp_path: Path) -> None:
    values = sparse(tmp_path, b"|x |why 1\n|why 2 |x\n|x 4:1 |why 3\n").values["x"]
    assert isinstance(values, Sparse)
    assert values.starts.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("sample", "word"),
    [
        (b"5:1", "the index 5 in column 'x' is not below its dim, 5"),
        (b"123456789012345678901234567890:1", "is not below its dim"),
        (b"1", "'1' in column 'x' is not an index with a number"),
        (b"1:", "'1:' in column"),
        (b":1", "':1' in column"),
        (b"1:2 3", "'3' in column"),
        (b"-1:2", "'-1:2' in column"),
        (b"1:nan", "'1:nan' in column"),
        (b"1: 2", "'1:' in column"),
    ],
)
def test_sparse_samples_that_are_none(sample: bytes, word: str, tmp_path: Path) -> None:
    data = b"|x " + sample + b" |why 1\n|x 1:1 |why 2\n"
    with pytest.raises(DataError, match="line 1") as raised:
        sparse(tmp_path, data)
    assert word in str(raised.value)
    assert sparse(tmp_path, data, TextOptions(most_errors=1)).total == 1


def test_chunks_hold_whole_sequences(tmp_path: Path) -> None:
    data = b"".join(b"%d |x 1 2 |why 3\n" % (number // 3) for number in range(12))
    size = len(data) // 4
    assert read(tmp_path, data, TextOptions(chunk=2 * size)).chunks == [2, 2]
    assert read(tmp_path, data, TextOptions(chunk=size - 1)).chunks == [1, 1, 1, 1]


def test_frames_take_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match="line 2: the line continues the sequence of the one before"
    ):
        read(tmp_path, b"1 |x 1 2 |why 3\n1 |x 4 5 |why 6\n", TextOptions(frames=True))
