"""UCIFastReader: columns of numbers with labels, trained to the digits of the text format."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_engine.cntk.samples.columns import (
    ColumnOptions,
    LabelColumn,
    NumberColumns,
    read_columns,
    survey_columns,
)
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.data import DataError
from tests.cntk.training.experiments import CONFIGURATION, made, refused, run

STREAMS = (NumberColumns("x", 1, 2), LabelColumn("y", 0, 3, ("cat", "dog", "7")))


def read(folder: Path, data: bytes, options: ColumnOptions = ColumnOptions()) -> Sequences:  # noqa: B008
    path = folder / "data.txt"
    path.write_bytes(data)
    return read_columns(str(path), STREAMS, "float64", options)


#: Files that are read silently: the features, and the indices of labels.
READ = {
    "a line": (b"cat 1 2\n", [[1, 2]], [0]),
    "tabs, blanks and more columns": (b" dog\t1  2 x y\n", [[1, 2]], [1]),
    "line ends of Windows": (b"cat 1 2\r\ndog 3 4\r\n", [[1, 2], [3, 4]], [0, 1]),
    "empty lines": (b"cat 1 2\n\n\ndog 3 4\n", [[1, 2], [3, 4]], [0, 1]),
    "a label of digits": (b"7 1 2\n", [[1, 2]], [2]),
    "signs and exponents": (b"cat -1.25 +2e-1\n", [[-1.25, 0.2]], [0]),
    "a mark of UTF-8": (b"\xef\xbb\xbfcat 1 2\n", [[1, 2]], [0]),
}
#: Files that cannot be used, and words of the sentence.
REFUSED = {
    "nothing": (b"", "the file is empty"),
    "empty lines alone": (b"\n\n", "holds no sample"),
    "few columns": (b"cat 1 2\ncat 1\n", "line 2: has 2 columns; the reader needs 3"),
    "a blank line": (b"cat 1 2\n \n", "line 2: has 0 columns"),
    "no number": (b"cat 1 2\ncat 1 x\n", "line 2, column 7: 'x' is not a number"),
    "a point without digits": (b"cat .5 2\n", "line 1, column 5: '.5' is not a number"),
    "a point at the end": (b"cat 5. 2\n", "'5.' is not a number"),
    "infinity": (b"cat inf 2\n", "'inf' is not a number"),
    "an unknown label": (b"cat 1 2\ndig 1 2\n", "line 2, column 1: 'dig' is not a label of 'y'"),
    "a label that is meant": (b"dgo 1 2\n", "Did you mean 'dog'?"),
    "a number spelt otherwise": (b"7.0 1 2\n", "'7.0' is not a label"),
    "UTF-16": (b"\xff\xfec\0", "UTF-16"),
}


@pytest.mark.parametrize("name", READ)
def test_read(name: str, tmp_path: Path) -> None:
    data, x, y = READ[name]
    found = read(tmp_path, data)
    assert found.values["x"].tolist() == x
    assert found.values["y"].tolist() == [[float(one == place) for one in range(3)] for place in y]
    assert (found.chunks, found.total, found.warnings) == ([len(x)], len(x), [])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    data, words = REFUSED[name]
    with pytest.raises(DataError) as raised:
        read(tmp_path, data)
    assert words in str(raised.value)
    assert "data.txt" in str(raised.value)
    assert "maxErrors" not in str(raised.value)


def test_a_last_line_that_does_not_end_is_lost_with_a_word(tmp_path: Path) -> None:
    found = read(tmp_path, b"cat 1 2\ndog 3 4")
    assert found.total == 1
    assert "line 2, column 7: the last line does not end" in found.warnings[0]


def test_other_marks_stand_between_columns_and_before_decimals(tmp_path: Path) -> None:
    found = read(tmp_path, b"cat;1,5;2\ndog; 3;4,25\n", ColumnOptions(b";", b","))
    assert found.values["x"].tolist() == [[1.5, 2], [3, 4.25]]
    with pytest.raises(DataError, match=r"column 5: '1\.5' is not a number"):
        read(tmp_path, b"cat;1.5;2\n", ColumnOptions(b";", b","))


def test_everything_that_is_wrong_is_found_at_once(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(b"cat a b\ndig 1 2\ncat 1 2\ncat\n")
    faults = survey_columns(str(path), STREAMS).faults
    assert [(one.line, one.start, one.end) for one in faults] == [
        *((1, 4, 5), (1, 6, 7), (2, 0, 3), (4, 0, 0))
    ]


TEXT = 'reader = { file = "data.ctf" ; input = {\n    features = { dim = 2 ; format = "dense" } ;'
COLUMNS = """reader = { readerType = "UCIFastReader" ; file = "data.txt" MORE
        features = { dim = 2 ; start = 0 } ;
        labels = { start = 2 ; dim = 1 ; labelDim = 3 ; labelMappingFile = "names.txt" } }
"""


def in_columns(folder: Path, more: str = "") -> Path:
    """The experiment with the same data in columns, all readers included."""
    made(folder)
    lines = []
    for line in (folder / "data.ctf").read_text().splitlines():
        labels, features = (one.split() for one in line.split("|")[1:])
        lines.append(" ".join((*features[1:], "abc"[labels[1:].index("1")])))
    (folder / "data.txt").write_text("\n".join(lines) + "\n")
    (folder / "names.txt").write_text("a\nb\nc\n")
    parts = CONFIGURATION.split("reader = ")
    text = parts[0] + "".join(COLUMNS + part.split("} } }", 1)[1] for part in parts[1:])
    (folder / "net.cntk").write_text(text.replace("MORE", more))
    (folder / "data.ctf").unlink()
    return folder


def test_columns_are_trained_to_the_digits_of_the_text_format(tmp_path: Path) -> None:
    plain = made(tmp_path / "plain")
    text = (plain / "net.cntk").read_text()
    changed = text.replace('file = "data.ctf"', 'file = "data.ctf" ; randomize = none')
    (plain / "net.cntk").write_text(changed)
    columns = in_columns(tmp_path / "columns", "; randomize = none")
    reported = []
    for folder in (plain, columns):
        answer, follower = run(folder)
        assert answer.code == 0, answer.complaints
        assert follower.notices == []
        figures = [
            {key: one.get(key) for key in ("event", "loss", "evaluation", "samples")}
            for one in follower.events
        ]
        written = (folder / "out" / "told.PosteriorProb").read_bytes()
        reported.append((figures, (folder / "out" / "net.dnn").read_bytes(), written))
    assert reported[0] == reported[1]


def test_a_shuffled_epoch_holds_every_sample_and_says_whose_order_it_is(tmp_path: Path) -> None:
    answer, follower = run(in_columns(tmp_path), "command=learn")
    assert answer.code == 0
    assert [one["samples"] for one in follower.epochs] == [150, 300, 450, 600]
    assert any("their order differs" in one for one in follower.notices)


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ('labelMappingFile = "names.txt"', 'labelMappingFile = "none.txt"', "createLabelMap"),
        ('labelMappingFile = "names.txt"', 'labelMappingFile = "/etc/passwd"', "outside"),
        ('labelMappingFile = "names.txt"', "", "labelMappingFile"),
        ("dim = 2 ; start = 0", "dim = 0 ; start = 0", "has 0 numbers per sample"),
        ("dim = 2 ; start = 0", "dim = 2 ; start = -1", "must not be negative"),
        ("start = 2 ; dim = 1", "labelType = odd ; start = 2 ; dim = 1", "cannot be 'odd'"),
        ("dim = 2 ; start = 0", 'dim = 2 ; file = "names.txt"', "in the same file"),
        ('file = "data.txt"', 'file = "data.txt" ; customDelimiter = "."', "cannot separate both"),
        ('file = "data.txt"', 'file = "data.txt" ; allowMapCreation = true', "allowMapCreation"),
        ('file = "data.txt"', 'file = "/etc/passwd"', "outside"),
    ],
)
def test_what_cannot_be_read_is_reported_before_anything_is_done(
    before: str, after: str, word: str, tmp_path: Path
) -> None:
    message = refused(in_columns(tmp_path), before, after)
    assert any(word in one for one in message), message


def test_labels_may_be_numbers(tmp_path: Path) -> None:
    folder = in_columns(tmp_path)
    names = {"a": "1 0 0", "b": "0 1 0", "c": "0 0 1"}
    lines = [line.split() for line in (folder / "data.txt").read_text().splitlines()]
    text = "\n".join(f"{x} {y} {names[label]}" for x, y, label in lines) + "\n"
    (folder / "data.txt").write_text(text)
    path = folder / "net.cntk"
    before = 'start = 2 ; dim = 1 ; labelDim = 3 ; labelMappingFile = "names.txt"'
    after = "start = 2 ; dim = 3 ; labelType = regression"
    path.write_text(path.read_text().replace(before, after))
    answer, follower = run(folder)
    assert answer.code == 0, answer.complaints
    _, other = run(in_columns(tmp_path / "named"))
    assert [one["loss"] for one in other.epochs] == [one["loss"] for one in follower.epochs]
