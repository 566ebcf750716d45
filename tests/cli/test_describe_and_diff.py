"""`describe` and `diff` on files, stdin and revisions of git."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.cli.command_line import netsharp

NETWORK = "input A [4];\nhidden H [3] tanh from A all;\noutput B [2] softmax from H all;\n"


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_file_against_its_last_revision(tmp_path: Path) -> None:
    (tmp_path / "net.nn").write_text(NETWORK)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    (tmp_path / "net.nn").write_text(NETWORK.replace("[3]", "[ 1 + 2 ]"))
    assert netsharp("diff", "HEAD:net.nn", "net.nn", cwd=tmp_path).code == 0
    (tmp_path / "net.nn").write_text(NETWORK.replace("[3]", "[5]").replace("tanh", "rlinear"))
    answer = netsharp("diff", "HEAD:net.nn", "net.nn", cwd=tmp_path)
    assert answer.code == 1
    assert answer.out.splitlines() == [
        "~ layer H: shape [3] -> [5]",
        "~ layer H: activation tanh -> rlinear",
        "parameters: 23 -> 37",
        "multiply-adds: 18 -> 30",
    ]
    assert "23 parameters" in netsharp("describe", "HEAD:net.nn", cwd=tmp_path).out
    gone = netsharp("describe", "HEAD:none.nn", cwd=tmp_path)
    assert gone.code == 2
    assert gone.err.startswith("netsharp: HEAD:none.nn: git cannot show it: ")


def test_stdin_output_and_faults(tmp_path: Path) -> None:
    text = NETWORK.encode()
    output = netsharp("describe", "--format", "json", "-", cwd=tmp_path, stdin=text)
    assert json.loads(output.out)["parameters"] == 23
    drawn = netsharp(
        "describe", "-", "--format", "svg", "--output", "n.svg", cwd=tmp_path, stdin=text
    )
    assert drawn.code == 0
    assert (tmp_path / "n.svg").read_text().startswith("<svg")
    faulty = netsharp("describe", "-", cwd=tmp_path, stdin=text.replace(b"from H", b"from X"))
    assert (faulty.code, faulty.out) == (1, "")
    assert "NS035" in faulty.err


def test_a_long_name_is_shown_by_its_ends(tmp_path: Path) -> None:
    """Cells are as wide as the widest of their column, so that each row would take as much."""
    name = "N" + "x" * 100_000
    (tmp_path / "a.nn").write_text(NETWORK)
    (tmp_path / "b.nn").write_text(NETWORK.replace("A", name))
    shown = f"{name[:80]}...{name[-20:]}"
    for command in (("describe",), ("describe", "--format", "markdown"), ("diff", "a.nn")):
        answer = netsharp(*command, "b.nn", cwd=tmp_path)
        assert shown in answer.out
        assert len(answer.out) < 3_000
    exact = netsharp("describe", "--format", "json", "b.nn", cwd=tmp_path)
    assert json.loads(exact.out)["layers"][0]["name"] == name
