"""`netsharp check` in real processes: fixes that are shown or written, and baselines."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess

import pytest

from tests.cli.command_line import netsharp
from tests.cli.test_check import CLEAN, FAULTY, IDLE, reported, write


@pytest.mark.parametrize(
    ("mark", "encoding", "line_end"),
    [(b"", "utf-8", "\n"), (b"\xef\xbb\xbf", "utf-8", "\r\n"), (b"\xff\xfe", "utf-16-le", "\r")],
)
def test_fix_keeps_encoding_mark_and_line_ends(
    tmp_path: pathlib.Path, mark: bytes, encoding: str, line_end: str
) -> None:
    def stored(text: str) -> bytes:
        return mark + text.replace("\n", line_end).encode(encoding)

    file = tmp_path / "a.nn"
    file.write_bytes(stored(IDLE))
    file.chmod(0o640)
    answer = netsharp("check", "a.nn", "--fix", "--select", "NS126", cwd=tmp_path)
    assert answer.code == 0
    assert "a.nn: fixed NS126 1x." in answer.err
    assert file.read_bytes() == stored(CLEAN)
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a.nn"]


def test_diff_shows_and_writes_nothing(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=IDLE, b=CLEAN)
    answer = netsharp("check", "--diff", "--select", "NS126", cwd=tmp_path)
    assert answer.code == 1
    assert answer.out.splitlines() == [
        "--- a.nn",
        "+++ a.nn",
        "@@ -1,2 +1,2 @@",
        "-input A [3]; // netsharp: ignore[NS050]",
        "+input A [3];",
        " output R [2] softmax from A all;",
    ]
    assert (tmp_path / "a.nn").read_text() == IDLE
    assert netsharp("check", "--diff", "b.nn", "--select", "NS126", cwd=tmp_path).code == 0


def test_diff_can_be_applied_by_patch(tmp_path: pathlib.Path) -> None:
    if shutil.which("patch") is None:
        pytest.skip("patch is not installed")
    write(tmp_path, a=IDLE.rstrip("\n").replace("\n", "\r\n"))
    answer = netsharp("check", "--diff", "a.nn", "--select", "NS126", cwd=tmp_path)
    subprocess.run(["patch", "--binary", "-s"], input=answer.raw, cwd=tmp_path, check=True)
    assert (tmp_path / "a.nn").read_bytes() == CLEAN.rstrip("\n").replace("\n", "\r\n").encode()


def test_a_fixed_stdin_goes_to_stdout(tmp_path: pathlib.Path) -> None:
    answer = netsharp("check", "-", "--fix", "--select", "NS126", cwd=tmp_path, stdin=IDLE.encode())
    assert (answer.code, answer.out) == (0, CLEAN)
    assert "nothing found" in answer.err


def test_a_file_that_cannot_be_written_stays_whole(tmp_path: pathlib.Path) -> None:
    write(tmp_path, locked__a=IDLE)
    folder = tmp_path / "locked"
    folder.chmod(0o500)
    try:
        try:
            (folder / "probe").write_text("")
        except PermissionError:
            answer = netsharp("check", "locked/a.nn", "--fix", cwd=tmp_path)
            assert answer.code == 2
            assert "locked/a.nn: cannot be written: Permission denied." in answer.err
            assert (folder / "a.nn").read_text() == IDLE
        else:
            pytest.skip("this user may write anywhere")
    finally:
        folder.chmod(0o700)


def test_a_fix_goes_through_a_symbolic_link(tmp_path: pathlib.Path) -> None:
    write(tmp_path, real__a=IDLE)
    (tmp_path / "link.nn").symlink_to("real/a.nn")
    netsharp("check", "link.nn", "--fix", "--select", "NS126", cwd=tmp_path)
    assert (tmp_path / "link.nn").is_symlink()
    assert (tmp_path / "real" / "a.nn").read_text() == CLEAN


def test_a_baseline_hides_what_it_knows(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY, sub__b=FAULTY)
    flags = ("check", "--select", "NS050", "--format", "json", "--baseline", "known.json")
    update = netsharp(*flags, "--update-baseline", cwd=tmp_path)
    assert (update.code, reported(update)) == (0, [])
    known = json.loads((tmp_path / "known.json").read_text())
    assert [entry["file"] for entry in known["diagnostics"]] == ["a.nn", "sub/b.nn"]
    assert reported(netsharp(*flags, cwd=tmp_path / ".")) == []
    write(tmp_path, a=f"// one line more\n\n{FAULTY}input B [0];\n")
    answer = netsharp(*flags, cwd=tmp_path)
    assert (answer.code, reported(answer)) == (1, [("a.nn", "NS050")])
    assert json.loads(answer.out)["diagnostics"][0]["start"]["line"] == 5


def test_settings_name_a_baseline_relative_to_themselves(tmp_path: pathlib.Path) -> None:
    write(tmp_path, sub__b=FAULTY)
    (tmp_path / "netsharp.toml").write_text('baseline = "known.json"\nselect = ["NS050"]')
    assert netsharp("check", "--update-baseline", "b.nn", cwd=tmp_path / "sub").code == 0
    assert (tmp_path / "known.json").exists()
    assert netsharp("check", "sub", cwd=tmp_path).code == 0
    (tmp_path / "known.json").write_text("{}")
    broken = netsharp("check", "sub", cwd=tmp_path)
    assert broken.code == 2
    assert "it is not a baseline of version 1" in broken.err


def test_updating_a_baseline_keeps_files_that_were_not_checked(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY, b=FAULTY)
    flags = ("check", "--select", "NS050", "--baseline", "known.json", "--update-baseline")
    netsharp(*flags, cwd=tmp_path)
    write(tmp_path, a=CLEAN)
    netsharp(*flags, "a.nn", cwd=tmp_path)
    known = json.loads((tmp_path / "known.json").read_text())
    assert [entry["file"] for entry in known["diagnostics"]] == ["b.nn"]
