"""`netsharp fmt` for CNTK's languages in real processes: folders, stdin, lines, encodings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import netsharp

FILES = {
    "a.cntk": (b"a=[x=1]\n", b"a = [ x = 1 ]\n"),
    "b.config": (b"action=train\n", b"action = train\n"),
    "c.bs": (b"a=Input{2}\n", b"a = Input {2}\n"),
    "d.ndl": (b"a=Input(2,tag = feature)\n", b"a = Input(2, tag=feature)\n"),
    "e.mel": (b"m=LoadModel( x )\n", b"m = LoadModel(x)\n"),
}
#: What a walk takes for something else.
OTHERS = {"f.config": b"<xml/>", "g.bs": b"sub Main()\nend sub\n", "h.cntk": b"#!MLF!#\na=1\n"}


def test_a_folder_of_all_languages(tmp_path: Path) -> None:
    for name, (before, _) in FILES.items():
        (tmp_path / name).write_bytes(before)
    for name, data in OTHERS.items():
        (tmp_path / name).write_bytes(data)
    checked = netsharp("fmt", "--check", cwd=tmp_path)
    assert (checked.code, checked.out.count("would reformat")) == (1, 5)
    assert netsharp("fmt", cwd=tmp_path).code == 0
    for name, (_, after) in FILES.items():
        assert (tmp_path / name).read_bytes() == after
    for name, data in OTHERS.items():
        assert (tmp_path / name).read_bytes() == data
    assert netsharp("fmt", "--check", cwd=tmp_path).code == 0


def test_others_that_a_hook_names_are_left_unchanged(tmp_path: Path) -> None:
    texts = {**OTHERS, "web.config": b"<a><b c='1'   d='2'/></a>\n"}
    for name, data in texts.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "a.cntk").write_bytes(FILES["a.cntk"][0])
    done = netsharp("fmt", "--skip-others", "a.cntk", *texts, cwd=tmp_path)
    assert (done.code, done.err) == (0, "netsharp: 1 file reformatted.\n")
    assert {name: (tmp_path / name).read_bytes() for name in texts} == texts
    assert netsharp("fmt", "--skip-others", *texts, cwd=tmp_path).code == 0


@pytest.mark.parametrize("name", FILES)
def test_stdin_by_name(name: str, tmp_path: Path) -> None:
    before, after = FILES[name]
    answer = netsharp("fmt", "-", "--stdin-filename", name, cwd=tmp_path, stdin=before)
    assert (answer.code, answer.raw) == (0, after)


def test_stdin_by_language(tmp_path: Path) -> None:
    answer = netsharp("fmt", "-", "--language", "brainscript", cwd=tmp_path, stdin=b"a=f(1)")
    assert (answer.code, answer.raw) == (0, b"a = f (1)\n")


def test_diff(tmp_path: Path) -> None:
    (tmp_path / "a.cntk").write_bytes(FILES["a.cntk"][0])
    answer = netsharp("fmt", "--diff", "a.cntk", cwd=tmp_path)
    assert answer.code == 1
    assert "-a=[x=1]\n+a = [ x = 1 ]\n" in answer.out
    assert (tmp_path / "a.cntk").read_bytes() == FILES["a.cntk"][0]


def test_lines(tmp_path: Path) -> None:
    (tmp_path / "a.cntk").write_bytes(b"a=1\nb=[\nc=2\n]\nd=3\n")
    assert netsharp("fmt", "--lines", "3", "a.cntk", cwd=tmp_path).code == 0
    assert (tmp_path / "a.cntk").read_bytes() == b"a=1\nb = [\n    c = 2\n]\nd=3\n"


def test_windows_1252_is_written_back(tmp_path: Path) -> None:
    (tmp_path / "a.cntk").write_bytes(b"a=\xfc # \x80\r\n")
    answer = netsharp("fmt", "a.cntk", cwd=tmp_path)
    assert answer.code == 0
    assert "Windows-1252" in answer.err
    assert (tmp_path / "a.cntk").read_bytes() == b"a = \xfc  # \x80\r\n"


def test_what_is_broken_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.cntk").write_bytes(b"a=1\nb=[ (\n")
    answer = netsharp("fmt", "a.cntk", cwd=tmp_path)
    assert answer.code == 0
    assert "left as it is where the syntax is broken, at line 2" in answer.err
    assert (tmp_path / "a.cntk").read_bytes() == b"a = 1\nb=[ (\n"
