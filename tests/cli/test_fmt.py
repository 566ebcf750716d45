"""`netsharp fmt` in real processes: in place, --check, --diff, stdin, lines, encodings."""

from __future__ import annotations

import pathlib
import stat

import pytest

from tests.cli.command_line import netsharp

UGLY = b"Input A[3];\noutput R [2]softmax from A all;\n"
NEAT = b"input A [3];\noutput R [2] softmax from A all;\n"


def write(folder: pathlib.Path, name: str, data: bytes) -> pathlib.Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_files_are_formatted_in_place(tmp_path: pathlib.Path) -> None:
    ugly = write(tmp_path, "ugly.nn", UGLY)
    neat = write(tmp_path, "neat.netsharp", NEAT)
    before = neat.stat().st_mtime_ns
    answer = netsharp("fmt", cwd=tmp_path)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == "netsharp: 1 file reformatted, 1 file unchanged.\n"
    assert ugly.read_bytes() == NEAT
    assert neat.stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["neat.netsharp", "ugly.nn"]


def test_the_mode_of_a_file_is_kept(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, "a.nn", UGLY)
    path.chmod(0o640)
    assert netsharp("fmt", "a.nn", cwd=tmp_path).code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.read_bytes() == NEAT


def test_check_names_what_would_change(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, "a.nn", UGLY)
    answer = netsharp("fmt", "--check", "a.nn", cwd=tmp_path)
    assert (answer.code, answer.out) == (1, "would reformat a.nn\n")
    assert answer.err == "netsharp: 1 file would be reformatted.\n"
    assert path.read_bytes() == UGLY
    path.write_bytes(NEAT)
    answer = netsharp("fmt", "--check", "a.nn", cwd=tmp_path)
    assert (answer.code, answer.out) == (0, "")


def test_diff_shows_what_would_change(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, "a.nn", UGLY)
    answer = netsharp("fmt", "--diff", "a.nn", cwd=tmp_path)
    assert answer.code == 1
    assert answer.out.splitlines() == [
        "--- a.nn",
        "+++ a.nn",
        "@@ -1,2 +1,2 @@",
        "-Input A[3];",
        "-output R [2]softmax from A all;",
        "+input A [3];",
        "+output R [2] softmax from A all;",
    ]
    assert path.read_bytes() == UGLY


def test_stdin_goes_to_stdout(tmp_path: pathlib.Path) -> None:
    for data in (UGLY, NEAT):
        answer = netsharp("fmt", "-", cwd=tmp_path, stdin=data)
        assert (answer.code, answer.raw, answer.err) == (0, NEAT, "")
    answer = netsharp("fmt", "-", "--check", "--stdin-filename", "x.nn", cwd=tmp_path, stdin=UGLY)
    assert (answer.code, answer.out) == (1, "would reformat x.nn\n")


def test_lines_limit_what_changes(tmp_path: pathlib.Path) -> None:
    text = b"input  A[1];\ninput  B[1];\ninput  C[1];\ninput  D[1];\n"
    answer = netsharp("fmt", "-", "--lines", "2", "--lines", "4-9", cwd=tmp_path, stdin=text)
    assert answer.raw == b"input  A[1];\ninput B [1];\ninput  C[1];\ninput D [1];\n"


@pytest.mark.parametrize("lines", ["0-2", "3-2", "two", "-"])
def test_lines_that_are_none_are_refused(tmp_path: pathlib.Path, lines: str) -> None:
    answer = netsharp("fmt", "-", f"--lines={lines}", cwd=tmp_path, stdin=UGLY)
    assert (answer.code, answer.out) == (2, "")
    assert "--lines" in answer.err


def test_lines_need_one_file(tmp_path: pathlib.Path) -> None:
    paths = [write(tmp_path, name, UGLY) for name in ("a.nn", "b.nn")]
    answer = netsharp("fmt", "--lines", "1", "a.nn", "b.nn", cwd=tmp_path)
    assert answer.code == 2
    assert answer.err == "netsharp: --lines needs one file, but 2 are given.\n"
    assert [path.read_bytes() for path in paths] == [UGLY, UGLY]


def test_line_ends_follow_the_majority(tmp_path: pathlib.Path) -> None:
    mixed = b"input A[3];\r\n\r\noutput R [2]softmax\n from A all;\r\n"
    answer = netsharp("fmt", "-", cwd=tmp_path, stdin=mixed)
    assert answer.raw == NEAT.replace(b";\no", b";\r\n\r\no").replace(b"all;\n", b"all;\r\n")


@pytest.mark.parametrize(("name", "end"), [("lf", b"\n"), ("crlf", b"\r\n"), ("cr", b"\r")])
def test_line_ends_as_requested(tmp_path: pathlib.Path, name: str, end: bytes) -> None:
    text = b"input A[3]; /* x\r\ny */\noutput R [2]softmax from A all;\r\n"
    wanted = NEAT.replace(b";\no", b"; /* x\ny */\no").replace(b"\n", end)
    answer = netsharp("fmt", "-", "--line-ending", name, cwd=tmp_path, stdin=text)
    assert (answer.code, answer.raw) == (0, wanted)
    (tmp_path / "netsharp.toml").write_text(f'line-ending = "{name}"\n')
    assert netsharp("fmt", "-", cwd=tmp_path, stdin=text).raw == wanted
    assert netsharp("fmt", "-", "--isolated", cwd=tmp_path, stdin=NEAT).raw == NEAT


def test_a_byte_order_mark_is_kept(tmp_path: pathlib.Path) -> None:
    answer = netsharp("fmt", "-", cwd=tmp_path, stdin=b"\xef\xbb\xbf" + UGLY)
    assert answer.raw == b"\xef\xbb\xbf" + NEAT


@pytest.mark.parametrize(
    ("mark", "encoding"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")]
)
def test_utf16_is_written_back_with_a_warning(
    tmp_path: pathlib.Path, mark: bytes, encoding: str
) -> None:
    path = write(tmp_path, "a.nn", mark + UGLY.decode().encode(encoding))
    answer = netsharp("fmt", "a.nn", cwd=tmp_path)
    assert answer.code == 0
    assert "a.nn: The file is UTF-16" in answer.err
    assert path.read_bytes() == mark + NEAT.decode().encode(encoding)


def test_other_bytes_are_an_error_with_the_offset(tmp_path: pathlib.Path) -> None:
    bad = write(tmp_path, "bad.nn", b"input A[3]; // caf\xe9\n")
    good = write(tmp_path, "good.nn", UGLY)
    answer = netsharp("fmt", "bad.nn", "good.nn", "none.nn", cwd=tmp_path)
    assert answer.code == 2
    assert "bad.nn: Byte 18 (0xE9, on line 1) is not UTF-8" in answer.err
    assert "none.nn: cannot be read" in answer.err
    assert bad.read_bytes() == b"input A[3]; // caf\xe9\n"
    assert good.read_bytes() == NEAT


def test_broken_declarations_are_left_and_named(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, "a.nn", UGLY + b"hidden  H[ from A\n")
    answer = netsharp("fmt", "a.nn", cwd=tmp_path)
    assert answer.code == 0
    assert answer.err.startswith("netsharp: a.nn: left as it is where the syntax is broken, at ")
    assert path.read_bytes() == NEAT + b"hidden  H[ from A\n"


def test_excluded_folders_are_left_unchanged(tmp_path: pathlib.Path) -> None:
    (tmp_path / "netsharp.toml").write_text('exclude = ["old"]\n')
    old = write(tmp_path, "old/a.nn", UGLY)
    new = write(tmp_path, "new/a.nn", UGLY)
    assert netsharp("fmt", ".", cwd=tmp_path).code == 0
    assert (old.read_bytes(), new.read_bytes()) == (UGLY, NEAT)


def test_many_files_give_what_each_would(tmp_path: pathlib.Path) -> None:
    paths = [write(tmp_path, f"{index}.nn", UGLY) for index in range(45)]
    answer = netsharp("fmt", cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "netsharp: 45 files reformatted.\n")
    assert {path.read_bytes() for path in paths} == {NEAT}


def test_unusable_settings_are_reported_and_nothing_is_written(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, "a.nn", UGLY)
    (tmp_path / "netsharp.toml").write_text('line-ending = "native"\n')
    answer = netsharp("fmt", "a.nn", cwd=tmp_path)
    assert answer.code == 2
    assert "line-ending" in answer.err
    assert path.read_bytes() == UGLY
