"""Builds what `netsharp compile` wrote for a board, and runs its test there in an emulator.

    python examples/boards/boards.py FOLDER [--board cortex-m4] [--flag=-O2]

The cross compilers and emulators are Debian's: gcc-arm-none-eabi and qemu-system-arm, or
gcc-riscv64-unknown-elf and qemu-system-misc.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
#: As for a chip: no library, and functions that are not called are left out.
ALONE = ("-ffreestanding", "-ffunction-sections", "-fdata-sections")


class Board(NamedTuple):
    """A board of the emulator: who compiles for it, how, and how it is started."""

    name: str
    tools: str
    processor: tuple[str, ...]
    #: What the start code needs beside that, and its file.
    start: tuple[str, ...]
    memory: str
    emulator: tuple[str, ...]

    @property
    def compiler(self) -> str:
        """The name of the cross compiler."""
        return f"{self.tools}-gcc"

    @property
    def programs(self) -> tuple[str, ...]:
        """Return what must be installed."""
        return self.compiler, self.emulator[0]


def _arm(name: str, machine: str, memory: str, hertz: int) -> Board:
    return Board(
        name,
        "arm-none-eabi",
        (f"-mcpu={name}", "-mthumb"),
        ("start_arm.c", f"-DBOARD_HZ={hertz}u"),
        memory,
        ("qemu-system-arm", "-M", machine, "-icount", "shift=6"),
    )


#: By their names.  Instructions take 64 ns of the emulator's time on Arm, whose timer counts them.
BOARDS = {
    board.name: board
    for board in (
        _arm("cortex-m0", "microbit", "microbit", 16_000_000),
        _arm("cortex-m3", "mps2-an385", "mps2", 25_000_000),
        _arm("cortex-m4", "mps2-an386", "mps2", 25_000_000),
        _arm("cortex-m7", "mps2-an500", "mps2", 25_000_000),
        _arm("cortex-m33", "mps2-an505", "mps2_secure", 20_000_000),
        Board(
            "rv32",
            "riscv64-unknown-elf",
            ("-march=rv32imac", "-mabi=ilp32"),
            ("start_riscv.c", "-march=rv32imac_zicsr"),
            "virt",
            ("qemu-system-riscv32", "-M", "virt", "-bios", "none", "-icount", "shift=0"),
        ),
    )
}


class BuildError(Exception):
    """A compiler or an emulator that is missing, or that refused."""


def build(board: Board, sources: Sequence[Path | str], program: Path, *flags: str) -> None:
    """Compile and link C files for a board; BuildError with what the compiler said."""
    objects = [str(one) for one in sources]
    with tempfile.TemporaryDirectory() as folder:
        common = (*board.processor, "-Os", *ALONE, "-std=gnu99", f"-I{HERE}", *flags)
        file, *more = board.start
        for source, further in ((file, more), ("board.c", [])):
            made = f"{folder}/{source}.o"
            _call(board.compiler, *common, *further, "-c", str(HERE / source), "-o", made)
            objects.append(made)
        link = ("-nostdlib", "-static", "-Wl,--gc-sections", f"-L{HERE}")
        script = ("-T", str(HERE / f"{board.memory}.ld"))
        last = (*objects, "-lgcc", "-o", str(program))
        _call(board.compiler, *board.processor, *ALONE, f"-I{HERE}", *flags, *link, *script, *last)


def run(board: Board, program: Path, seconds: float = 120) -> tuple[int, str]:
    """Run a program on a board; what its main returned, and what it said."""
    emulator = (*board.emulator, "-nographic", "-monitor", "none", "-serial", "none")
    try:
        done = subprocess.run(
            [*emulator, "-semihosting-config", "enable=on,target=native", "-kernel", program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BuildError(f"{board.name}: no end after {seconds:g} s") from None
    return done.returncode, done.stdout + done.stderr


def missing(board: Board) -> list[str]:
    """Return the programs that a board needs and that are not there."""
    return [one for one in board.programs if shutil.which(one) is None]


def _call(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def main() -> int:
    """Build and run; the number of answers that differ from the simulator's, 2 if it could not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="what `netsharp compile` wrote")
    parser.add_argument("--board", choices=BOARDS, default="cortex-m4")
    parser.add_argument("--flag", action="append", default=[], help="for the compiler: --flag=-O3")
    args = parser.parse_args()
    board = BOARDS[args.board]
    if lacking := missing(board):
        print(f"{board.name} needs {' and '.join(lacking)}.", file=sys.stderr)
        return 2
    sources = sorted(args.folder.glob("*.c"))
    if not any(one.stem.endswith("_test") for one in sources):
        print(f"{args.folder} has no test that netsharp compile wrote.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.elf"
        try:
            build(board, sources, program, "-O2", *args.flag)
            answer, said = run(board, program)
        except BuildError as error:
            print(error, file=sys.stderr)
            return 2
        sizes = subprocess.check_output([f"{board.tools}-size", "-A", program], text=True)
    print(f"{board.name}: {said}", end="")
    kept = [line.split() for line in sizes.splitlines() if line.startswith((".text", ".bss"))]
    print(", ".join(f"{size} bytes of {name}" for name, size, _ in kept))
    return answer


if __name__ == "__main__":
    sys.exit(main())
