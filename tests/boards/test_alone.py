"""What is written for a device stands alone: no library, no floating point, nothing that is
changed but what the caller gave.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.boards.images import BOARDS, compile_sources, sizes_of, write
from tests.boards.networks import sample, samples
from tests.boards.test_boards import require_board
from tests.compiling.networks import DEEP, trained

pytestmark = [pytest.mark.costly, pytest.mark.filterwarnings("ignore:(On training rows|Columns )")]
#: Boards with a unit of floating point, which a compiler may use for more than that.
WITH_UNIT = {
    "cortex-m4": ("-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    "cortex-m7": ("-mfpu=fpv5-d16", "-mfloat-abi=hard"),
    "cortex-m33": ("-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"),
    "rv32": ("-march=rv32imafdc", "-mabi=ilp32d"),
}
#: What processors have no instruction for comes with every compiler, in the library libgcc.
HELPERS = {
    "cortex-m0": {"__aeabi_lmul", "__aeabi_llsl", "__aeabi_llsr", "__aeabi_lasr"},
    "rv32": {"__ashldi3", "__lshrdi3", "__ashrdi3", "__muldi3"},
}
CODE, CONSTANTS = "", ("_weights", "_tables")


@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
@pytest.mark.parametrize("name", BOARDS.BOARDS)
def test_code_stands_alone(name: str, level: str, tmp_path: Path) -> None:
    require_board(name)
    board, some = BOARDS.BOARDS[name], samples()[:16]
    write(some, tmp_path)
    flags = (*board.processor, *WITH_UNIT.get(name, ()), "-ffreestanding", level)
    objects = compile_sources(board.compiler, some, tmp_path, tmp_path / "made", *flags)
    sizes = sizes_of(f"{board.tools}-", objects)
    for one in some:
        for part in (CODE, *CONSTANTS):
            file = tmp_path / "made" / f"{one.name}{part}.o"
            assert sizes[file.stem].ram == 0, f"{file.stem} has variables"
            wanted = undefined(f"{board.tools}-nm", file)
            strange = {each for each in wanted if not each.startswith(f"{one.name}_")}
            assert strange <= HELPERS.get(name, set()), file.stem
        output = subprocess.check_output(
            [f"{board.tools}-objdump", "-d", tmp_path / "made" / f"{one.name}.o"], text=True
        )
        opcodes = set(re.findall(r"^ +[0-9a-f]+:\t[0-9a-f ]+\t(\S+)", output, re.MULTILINE))
        assert len(opcodes) > 10
        assert not {each for each in opcodes if is_floating(name, each)}


def undefined(nm: str, file: Path) -> set[str]:
    """The names that an object file wants from others."""
    output = subprocess.check_output([nm, "-u", file], text=True)
    return {line.split()[-1] for line in output.splitlines()}


def is_floating(name: str, opcode: str) -> bool:
    """Whether an instruction is one of floating point: v begins them on Arm, f on RISC-V."""
    if name == "rv32":
        return bool(re.match(r"f(?!ence)|c\.f", opcode))
    return opcode.startswith("v")


@pytest.mark.parametrize("name", WITH_UNIT)
def test_floating_point_would_be_seen(name: str, tmp_path: Path) -> None:
    require_board(name)
    board = BOARDS.BOARDS[name]
    (tmp_path / "a.c").write_text("float a(float b) { return b * b; }\n")
    command = [board.compiler, *board.processor, *WITH_UNIT[name], "-O2", "-c", "a.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    output = subprocess.check_output([f"{board.tools}-objdump", "-d", tmp_path / "a.o"], text=True)
    opcodes = set(re.findall(r"^ +[0-9a-f]+:\t[0-9a-f ]+\t(\S+)", output, re.MULTILINE))
    assert {each for each in opcodes if is_floating(name, each)}


def test_shifts_alone_need_no_helper_on_the_smallest_board(tmp_path: Path) -> None:
    """A Cortex-M0 multiplies 32 bits: a product of 64 is a call, of a function of 92 bytes, and
    every node has a multiplier of four.
    """
    require_board("cortex-m0")
    board = BOARDS.BOARDS["cortex-m0"]
    model, rows = trained(DEEP)
    made = {how: sample(how, model, rows, requant=how) for how in ("mul", "shift")}
    write(tuple(made.values()), tmp_path)
    for level in ("-Os", "-O2"):
        flags = (*board.processor, "-ffreestanding", level)
        some = tuple(made.values())
        objects = compile_sources(board.compiler, some, tmp_path, tmp_path / level[1:], *flags)
        sizes = sizes_of(f"{board.tools}-", objects)
        wanted = undefined(f"{board.tools}-nm", tmp_path / level[1:] / "shift.o")
        assert all(one.startswith("shift_") for one in wanted)
        assert "__aeabi_lmul" in undefined(f"{board.tools}-nm", tmp_path / level[1:] / "mul.o")
        code = {how: sizes[how].flash for how in made}
        assert max(code.values()) < 680
        both = {how: code[how] + sizes[f"{how}_weights"].flash for how in made}
        assert both["shift"] < 0.88 * both["mul"]
        assert code["shift"] < 0.92 * code["mul"]
