"""Bytes and instructions of known networks on boards are held: none may grow by more than 2 %.

`pytest tests/boards/test_budgets.py --update` rewrites budgets.json, whose difference is read.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.boards.images import BOARDS, sizes_of, write
from tests.boards.networks import measured
from tests.boards.test_boards import on_board, require_board

pytestmark = [pytest.mark.costly, pytest.mark.filterwarnings("ignore:(On training rows|Columns )")]
HELD = Path(__file__).with_name("budgets.json")
MOST = 1.02


def budgets() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(HELD.read_text(encoding="utf-8"))
    return found


def of_board(name: str, folder: Path) -> dict[str, dict[str, int]]:
    """Bytes of code, constants and tables of each network, and the instructions of a run."""
    write(measured(), folder)
    made = folder / "made"
    found = on_board(name, measured(), folder, made, "-O2")
    sizes = sizes_of(f"{BOARDS.BOARDS[name].tools}-", sorted(made.glob("*.o")))
    return {
        one.name: {
            "code": sizes[one.name].flash,
            "weights": sizes[f"{one.name}_weights"].flash,
            "tables": sizes[f"{one.name}_tables"].flash,
            "instructions": found[one.name].instructions,
        }
        for one in measured()
        if one.name in found
    }


def compiler_of(name: str) -> str:
    command = [BOARDS.BOARDS[name].compiler, "-dumpfullversion"]
    return subprocess.check_output(command, text=True).strip()


def test_instructions_for_signals_halve_those_of_a_run() -> None:
    """Held numbers, which the other test compares with what boards do."""
    for name in ("cortex-m4", "cortex-m7", "cortex-m33"):
        networks = budgets()[name]["networks"]
        plain, signals = (networks[f"mnist_{one}"]["instructions"] for one in ("mlp", "signals"))
        assert signals * 2.4 < plain, name
        plain, signals = (networks[one]["instructions"] for one in ("digits", "digits_signals"))
        assert signals * 1.3 < plain, name


@pytest.mark.parametrize("name", BOARDS.BOARDS)
def test_nothing_grows(name: str, update: bool, tmp_path: Path) -> None:
    require_board(name)
    found = {"compiler": compiler_of(name), "networks": of_board(name, tmp_path)}
    if update:
        known = budgets() if HELD.exists() else {}
        HELD.write_text(json.dumps({**known, name: found}, indent=1) + "\n", encoding="utf-8")
    held = budgets()[name]
    if held["compiler"] != found["compiler"]:
        pytest.skip(f"budgets are of gcc {held['compiler']}, and here is {found['compiler']}")
    assert found["networks"].keys() == held["networks"].keys()
    grown = [
        f"{network}: {seen} {what}, where {most} were held"
        for network, numbers in found["networks"].items()
        for what, seen in numbers.items()
        if seen > (most := held["networks"][network][what]) * MOST
    ]
    assert not grown
