"""Many networks linked into one program, for a board or for this machine: each by its prefix, with
its own test and a count of its instructions.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.boards.networks import EXAMPLES, Sample

STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wtrigraphs", "-Werror")
#: Kept of a board's memory for its start, its stack, and what tests add.
SPARED_FLASH, SPARED_RAM = 8 * 1024, 4 * 1024


def _loaded() -> Any:
    """The script of the examples, which is in no package."""
    path = EXAMPLES / "boards" / "boards.py"
    spec = importlib.util.spec_from_file_location("boards_of_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


BOARDS = _loaded()


class Measured(NamedTuple):
    """What an image said of a network: its answers that differ, and the instructions of a run."""

    differing: int
    instructions: int


def main_of(samples: Sequence[Sample], on_board: bool) -> str:
    """The program: every test, and a run of each network of codes that are always the same."""
    names = [one.name for one in samples]
    lines = ['#include "board.h"' if on_board else "#include <stdio.h>"]
    lines += [f'#include "{name}.h"\nint {name}_test(void);' for name in names]
    lines.append("static union {")
    lines += [
        f"    struct {{ {n}_in_t x[{n.upper()}_IN]; {n}_out_t y[{n.upper()}_OUT];"
        f" uint8_t scratch[{n.upper()}_SCRATCH]; }} {n};"
        for n in names
    ]
    lines.append("} m;")
    if on_board:
        lines += [
            "static void said(const char *name, uint32_t differing, uint32_t spent)",
            '{ board_say(name); board_say(" "); board_say_number(differing); board_say(" ");',
            '  board_say_number(spent); board_say("\\n"); }',
        ]
    else:
        lines += [
            "static uint32_t board_instructions(void) { return 0; }",
            "static void said(const char *name, uint32_t differing, uint32_t spent)",
            '{ printf("%s %u %u\\n", name, (unsigned)differing, (unsigned)spent); }',
        ]
    lines += ["int main(void)", "{", "    uint32_t before, differing, all = 0;"]
    for n in names:
        lines += [
            f"    for (int i = 0; i < {n.upper()}_IN; i++)",
            f"        m.{n}.x[i] = ({n}_in_t)(i * 37 % 100);",
            "    before = board_instructions();",
            f"    {n}_run(m.{n}.x, m.{n}.y, m.{n}.scratch);",
            "    before = board_instructions() - before;",
            f"    all += differing = (uint32_t){n}_test();",
            f'    said("{n}", differing, before);',
        ]
    return "\n".join([*lines, "    return all > 100 ? 100 : (int)all;", "}", ""])


def readings(message: str) -> dict[str, Measured]:
    """What a program said, by the network's name."""
    found = re.findall(r"^(\w+) (\d+) (\d+)$", message, re.MULTILINE)
    return {name: Measured(int(differing), int(spent)) for name, differing, spent in found}


def write(samples: Sequence[Sample], folder: Path) -> None:
    """Write the sources of networks into one folder."""
    for one in samples:
        for name, text in one.files().items():
            (folder / name).write_text(text, encoding="utf-8")


def compile_sources(
    compiler: str, samples: Sequence[Sample], folder: Path, made: Path, *flags: str
) -> list[Path]:
    """Compile what was written, strictly; all at once for each network."""
    made.mkdir(exist_ok=True)
    for one in samples:
        parts = [f"{one.name}{part}.c" for part in ("", "_weights", "_tables", "_test")]
        command = [compiler, *STRICT, *flags, f"-Dmain={one.name}_test", f"-I{folder}", "-c"]
        done = subprocess.run(
            [*command, *(str(folder / part) for part in parts)],
            cwd=made,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return [made / f"{one.name}{part}.o" for one in samples for part in PARTS]


PARTS = ("", "_weights", "_tables", "_test")


class Sizes(NamedTuple):
    """Bytes of code and constants, and of variables."""

    flash: int
    ram: int


def sizes_of(tools: str, objects: Sequence[Path]) -> dict[str, Sizes]:
    """What each object file takes, by its name without an ending."""
    output = subprocess.check_output([f"{tools}size", *map(str, objects)], text=True)
    rows = [line.split() for line in output.splitlines()[1:]]
    return {Path(row[5]).stem: Sizes(int(row[0]), int(row[1]) + int(row[2])) for row in rows}


def in_images(
    samples: Sequence[Sample], sizes: dict[str, Sizes], flash: int, ram: int
) -> Iterator[list[Sample]]:
    """Networks in as many images as a board's memory makes of them; what never fits is left out."""
    image: list[Sample] = []
    taken = Sizes(SPARED_FLASH, SPARED_RAM)
    for one in samples:
        parts = [sizes[f"{one.name}{part}"] for part in PARTS]
        own = Sizes(sum(part.flash for part in parts), 2 * sum(part.ram for part in parts))
        if own.flash + SPARED_FLASH > flash or own.ram + SPARED_RAM > ram:
            continue
        if taken.flash + own.flash > flash or taken.ram + own.ram > ram:
            yield image
            image, taken = [], Sizes(SPARED_FLASH, SPARED_RAM)
        image.append(one)
        taken = Sizes(taken.flash + own.flash, taken.ram + own.ram)
    if image:
        yield image
