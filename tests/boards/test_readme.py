"""The way to a board of docs/compiling.md, as it is typed there, and what it must not end in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.boards.test_boards import require_board
from tests.readme.transcripts import DOCS, Block, blocks, run_block, workplace

pytestmark = pytest.mark.costly
SCRIPT = "python examples/boards/boards.py"


def block(page: Path = DOCS / "compiling.md") -> Block:
    (found,) = (
        one
        for one in blocks(page.read_text(encoding="utf-8"))
        if any(command.startswith(SCRIPT) for command in one.commands)
    )
    return found


def test_a_model_of_cntk_comes_from_its_experiment_to_a_board(tmp_path: Path) -> None:
    """The commands above on the page make the model; then each command runs silently."""
    require_board("cortex-m4")
    page = DOCS / "leaving-cntk.md"
    environment = workplace(tmp_path)
    first, second, *_ = blocks(page.read_text(encoding="utf-8"))
    assert first.name == "iris.cntk"
    for one in (first, second):
        run_block(one, tmp_path, environment)
    reported = run_block(block(page), tmp_path, environment)
    assert "note: ranges are read from iris.ctf, on which learn of iris.cntk trains it" in reported
    assert "cortex-m4: main returned 0 after " in reported
    assert "on 150 rows: " in reported
    assert [line for line in reported.splitlines() if line.startswith("netsharp: ")] == []
    shown = block(page).text.splitlines()
    assert shown[0:2] == reported.splitlines()[0:2]


def test_three_commands_lead_from_a_specification_to_a_board(tmp_path: Path) -> None:
    require_board("cortex-m4")
    environment = workplace(tmp_path)
    # The last of the page takes the report's picture along.
    *commands, picture = block().commands
    assert picture.startswith("cp ")
    assert len(commands) == 3
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), command
    assert done.stdout.startswith("cortex-m4: main returned 0 after ")
    assert "cortex-m4: main returned 0 after " in block().text


def test_a_folder_without_a_test_and_a_board_that_is_not_there(tmp_path: Path) -> None:
    environment = workplace(tmp_path)
    for rest, reported in (
        ("examples", "examples has no test that netsharp compile wrote.\n"),
        ("examples --board avr", "invalid choice: 'avr'"),
    ):
        done = subprocess.run(
            ["sh", "-c", f"{SCRIPT} {rest}"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert reported in done.stderr
