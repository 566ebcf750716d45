"""`netsharp check --read-data`: every bad line of all data at once, by file, line and column."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from netsharp_engine.limits import DATA_FAULTS
from tests.cli.command_line import netsharp
from tests.cntk.cli.experiments import checked
from tests.conftest import PIPES
from tests.costs import spent_by_children, within

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

LINE, WHOLE = "CK124", "CK125"
READER = """\
    reader = {
        file = "FILE" ; MORE
        input = { x = { dim = 2 ; format = dense } ; y = { dim = 3 ; format = sparse } }
    }
"""
COLUMNS = """\
    reader = {
        readerType = UCIFastReader ; file = "FILE"
        x = { dim = 2 ; start = 1 } ; y = { labelDim = 3 ; labelMappingFile = "names.txt" }
    }
"""


def configuration(*readers: str) -> str:
    """A configuration with a command for each reader, which reads and does no more."""
    names = [f"T{number}" for number in range(len(readers))]
    blocks = (
        f'{name} = {{\n    action = test ; modelPath = "m"\n{reader}}}\n'
        for name, reader in zip(names, readers, strict=True)
    )
    return f"command = {':'.join(names)}\n" + "".join(blocks)


def of(file: str, more: str = "", text: str = READER) -> str:
    return text.replace("FILE", file).replace("MORE", more)


def reported(found: list[dict[str, Any]], *codes: str) -> list[tuple[object, ...]]:
    return [
        (one["file"], one["start"]["line"], one["start"]["column"], one["severity"])
        for one in found
        if one["code"] in (codes or (LINE,))
    ]


def written(folder: Path, text: str, **files: bytes) -> None:
    (folder / "run.cntk").write_text(text)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def test_data_are_read_only_where_someone_asks(tmp_path: Path) -> None:
    written(tmp_path, configuration(of("a")), a=b"|x one two |y 7:1\n")
    answer, found = checked(tmp_path, "run.cntk")
    assert (answer.code, reported(found)) == (0, [])
    answer, found = checked(tmp_path, "--read-data", "run.cntk")
    assert (answer.code, reported(found)) == (1, [("a", 1, 4, "error"), ("a", 1, 15, "error")])


def test_every_bad_line_of_every_command_is_reported_at_once(tmp_path: Path) -> None:
    good = b"|x 1 2 |y 0:1\n"
    bad = good * 99 + b"|x 1 2 3 |y\n" + good + b"|x 1 .5 |y 3:1\n" + good
    written(
        tmp_path,
        configuration(of("a"), of("b"), of("a")),
        a=bad,
        b="|x ää 1 |y 1\n|y 0:1\n|x 1 2 |y 0:1".encode(),
    )
    answer, found = checked(tmp_path, "--read-data", "run.cntk")
    assert answer.code == 1
    assert reported(found) == [
        *(("a", 100, 8, "error"), ("a", 102, 6, "error"), ("a", 102, 12, "error")),
        *(("b", 1, 4, "error"), ("b", 1, 12, "error"), ("b", 2, 1, "error")),
        ("b", 3, 13, "error"),
    ]
    (wide, *_) = (one for one in found if one["file"] == "b")
    assert wide["end"] == {"line": 1, "column": 6}
    assert wide["message"] == "'ää' in column 'x' is not a number."


def test_what_is_passed_over_is_a_warning(tmp_path: Path) -> None:
    data = b"|x 1 |y\n|x 1 2 |y |z 1\n|x 1 a |y\n|x 1 b |y\n"
    written(tmp_path, configuration(of("a", "maxErrors = 2")), a=data)
    _, found = checked(tmp_path, "--read-data", "run.cntk")
    assert reported(found) == [("a", n, c, "warning") for n, c in ((1, 2), (2, 12), (3, 6), (4, 6))]
    # What one command passes over stops another.
    readers = of("a", "maxErrors = 2"), of("a", "maxErrors = 1")
    written(tmp_path, configuration(*readers))
    _, found = checked(tmp_path, "--read-data", "run.cntk")
    assert [one[3] for one in reported(found)] == ["warning", "warning", "error", "error"]


def test_columns_are_read_too(tmp_path: Path) -> None:
    data = b"cat 1 2\ndog 1 x\n\nbird 3\ncow 1e2 -3\ncat 1 2"
    written(tmp_path, configuration(of("c", text=COLUMNS)), c=data)
    (tmp_path / "names.txt").write_text("cat\ndog\n\nbird\n")
    _, found = checked(tmp_path, "--read-data", "run.cntk")
    assert reported(found) == [
        *(("c", 2, 7, "error"), ("c", 4, 1, "error"), ("c", 5, 1, "error")),
        ("c", 6, 7, "warning"),
    ]


def test_data_that_cannot_be_read_are_reported_where_they_are_named(tmp_path: Path) -> None:
    written(
        tmp_path,
        configuration(of("none"), of("empty"), of("wide"), of("folder"), of("../outside")),
        empty=b"",
        wide=b"\xff\xfe|\0",
    )
    (tmp_path / "folder").mkdir()
    (tmp_path.parent / "outside").write_bytes(b"|x 1 2 |y\n")
    answer, found = checked(tmp_path, "--read-data", "run.cntk")
    assert answer.code == 1
    assert reported(found, WHOLE, LINE) == [
        *(("run.cntk", 5 + 7 * number, 17, "error") for number in range(4)),
        ("run.cntk", 33, 17, "warning"),
    ]
    assert "empty" in next(one["message"] for one in found if one["start"]["line"] == 12)


COMPOSED = """\
    reader = { deserializers = (
        { type = CNTKTextFormatDeserializer ; module = CNTKTextFormatReader ; file = "a" ; input = {
            x = { dim = 2 ; format = dense } } } :
        { type = ImageDeserializer ; module = ImageReader ; file = "b" ; input = {
            p = { transforms = ( { type = Transpose } ) } ; q = { labelDim = 3 } } } :
        { type = CNTKTextFormatDeserializer ; module = CNTKTextFormatReader ; file = "c" ; input = {
            y = { dim = 3 ; format = sparse } } } )
    }
"""


def test_every_file_of_a_reader_of_several_is_read(tmp_path: Path) -> None:
    """Not the first alone that is wrong; and one that is not there hides no other."""
    files = {"a": b"0 |x 1 2\n1 |x 1 oh\n", "b": b"none.ppm\t0\nnone.ppm\t7\n", "c": b"0 |y 9:1\n"}
    written(tmp_path, configuration(COMPOSED), **files)
    answer, found = checked(tmp_path, "--read-data", "run.cntk")
    assert answer.code == 1
    assert {(one[0], one[1]) for one in reported(found)} == {("a", 2), ("b", 1), ("b", 2), ("c", 1)}
    (tmp_path / "a").unlink()
    answer, found = checked(tmp_path, "--read-data", "run.cntk")
    assert {(one[0], one[1]) for one in reported(found)} == {("b", 1), ("b", 2), ("c", 1)}
    assert ("run.cntk", 5) in [one[:2] for one in reported(found, WHOLE)]


@PIPES
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    written(tmp_path, configuration(of("pipe")))
    answer, found = checked(tmp_path, "--read-data", "run.cntk")
    assert answer.code == 1
    (one,) = (one for one in found if one["code"] == WHOLE)
    assert "pipe" in one["message"]


def test_a_reader_that_is_not_read_is_reported_with_the_way_out(tmp_path: Path) -> None:
    reader = '    reader = { readerType = LibSVMBinaryReader ; file = "a" }\n'
    written(tmp_path, configuration(reader), a=b"\0")
    answer, found = checked(tmp_path, "--read-data", "run.cntk")
    assert reported(found, WHOLE) == [("run.cntk", 4, 29, "warning")]
    (one,) = (one for one in found if one["code"] == WHOLE)
    assert "text format" in one["message"]
    assert answer.code == 1


def test_findings_of_data_are_chosen_by_their_codes(tmp_path: Path) -> None:
    written(tmp_path, configuration(of("a")), a=b"|x one 2 |y\n")
    answer, found = checked(tmp_path, "--read-data", "--ignore", LINE, "run.cntk")
    assert (answer.code, reported(found)) == (0, [])


def test_of_very_many_bad_lines_some_are_reported_and_the_others_counted(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    lines = 100_000
    written(tmp_path, configuration(of("a")), a=b"|x one 2 |y 0:1\n" * lines)
    answer, found = within(
        20, lambda: checked(tmp_path, "--read-data", "run.cntk"), spent_by_children
    )
    assert len(reported(found)) == DATA_FAULTS.most
    assert f"a: {lines - DATA_FAULTS.most:,} more findings" in answer.err


@pytest.mark.parametrize("form", ["text", "concise", "sarif", "github", "gitlab", "junit"])
def test_every_report_shows_lines_of_data(form: str, tmp_path: Path) -> None:
    long = b"|x 1 " + b"7" * 3_000 + b"x |y\n"
    data = b"|x 1 2 |y\n" * 41 + long + "|x 1 ö |y\n".encode()
    written(tmp_path, configuration(of("a")), a=data)
    answer = netsharp("check", "--read-data", f"--format={form}", "run.cntk", cwd=tmp_path)
    assert answer.code == 1
    assert "42" in answer.out
    assert "43" in answer.out
