"""The same bits everywhere: the simulator, this machine's compilers with their sanitizers, and six
processors in an emulator, on rows, on the least and the largest codes, and on codes by chance.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from netsharp_compile.integers import INT32
from tests.boards.images import (
    BOARDS,
    Measured,
    compile_sources,
    in_images,
    main_of,
    readings,
    sizes_of,
    write,
)
from tests.boards.networks import DRAWN, Sample, brim, examples, samples

pytestmark = [pytest.mark.costly, pytest.mark.filterwarnings("ignore:(On training rows|Columns )")]
#: Examples whose layers are compiled; the others must say why not.
COMPILED = {"diabetes", "iris", "cases", "flowers", "ratings", "siamese"}
SANITIZED = ("-O1", "-g1", "-fno-sanitize-recover=all")
HOSTS = [
    ("gcc", "-O0"),
    ("gcc", "-O2"),
    ("gcc", "-O3 -march=native"),
    ("clang", "-O2"),
    ("gcc", " ".join((*SANITIZED, "-fsanitize=address,undefined"))),
    ("clang", " ".join((*SANITIZED, "-fsanitize=address,undefined,integer"))),
]
BYTES = {"K": 1024, "M": 1024 * 1024}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    write(samples(), folder)
    return folder


def require_board(name: str) -> None:
    lacking = BOARDS.missing(BOARDS.BOARDS[name])
    if lacking:
        pytest.skip(f"{name} is left out: no {' and no '.join(lacking)} ('make embedded')")


def memory_of(name: str) -> tuple[int, int]:
    """Bytes of a board's flash and of its other memory."""
    script = Path(BOARDS.HERE) / f"{BOARDS.BOARDS[name].memory}.ld"
    flash, ram = re.findall(r"LENGTH = (\d+)([KM])", script.read_text())
    return int(flash[0]) * BYTES[flash[1]], int(ram[0]) * BYTES[ram[1]]


def on_board(
    name: str, chosen: tuple[Sample, ...], written: Path, made: Path, *flags: str
) -> dict[str, Measured]:
    """Run networks on a board; what it says of each of those that fit."""
    board = BOARDS.BOARDS[name]
    command = (*board.processor, *BOARDS.ALONE, *flags)
    objects = compile_sources(board.compiler, chosen, written, made, *command)
    sizes = sizes_of(f"{board.tools}-", objects)
    found: dict[str, Measured] = {}
    for image in in_images(chosen, sizes, *memory_of(name)):
        names = {one.name for one in image}
        linked = [
            one for one in objects if re.sub("_(weights|tables|test)$", "", one.stem) in names
        ]
        (made / "main.c").write_text(main_of(image, on_board=True))
        include = ("-DBOARD_SILENT", "-O2", f"-I{written}")
        BOARDS.build(board, [*linked, made / "main.c"], made / "image.elf", *include)
        answer, output = BOARDS.run(board, made / "image.elf")
        found |= readings(output)
        assert answer == min(100, sum(one.differing for one in found.values())), output
    return found


@pytest.mark.parametrize("name", BOARDS.BOARDS)
def test_every_board_gives_the_bits_of_the_simulator(
    name: str, written: Path, tmp_path: Path
) -> None:
    require_board(name)
    found = on_board(name, samples(), written, tmp_path / "made", "-O2")
    assert dict.fromkeys(found, 0) == {one: seen.differing for one, seen in found.items()}
    wanted = {one.name for one in samples()}
    if memory_of(name)[0] >= BYTES["M"]:
        assert set(found) == wanted
    else:
        assert {"digits_mlp", "deep", *COMPILED} <= set(found) <= wanted


@pytest.mark.parametrize(("compiler", "flags"), HOSTS, ids=map(" ".join, HOSTS))
def test_every_compiler_of_this_machine_gives_the_bits_of_the_simulator(
    compiler: str, flags: str, written: Path, tmp_path: Path
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} {flags} is left out: no {compiler} ('make embedded')")
    given = flags.split()
    objects = compile_sources(compiler, samples(), written, tmp_path / "made", *given)
    (tmp_path / "main.c").write_text(main_of(samples(), on_board=False))
    program = tmp_path / "program"
    built = subprocess.run(
        [compiler, *given, f"-I{written}", *objects, tmp_path / "main.c", "-o", program],
        capture_output=True,
        text=True,
        check=False,
    )
    if "clang_rt" in built.stderr and built.returncode:
        pytest.skip("the sanitizers of clang are a package of their own ('make embedded')")
    assert built.returncode == 0, built.stderr
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = readings(done.stdout)
    assert found == {one.name: Measured(0, 0) for one in samples()}


def test_every_example_compiles_or_says_why_not() -> None:
    found = examples()
    assert {name for name, one in found.items() if isinstance(one, Sample)} >= COMPILED
    for one in found.values():
        assert isinstance(one, Sample) or re.search(r"line \d+: .* cannot be compiled yet: ", one)
    assert len(samples()) >= len(COMPILED) + DRAWN


def test_the_bound_of_a_sum_is_reached_and_fits() -> None:
    """What is proven is the worst that happens: 32 bits are filled to a two-thousandth."""
    layer = brim().network.network.layers[0]
    sums = brim().codes.astype(np.int64) @ layer.parts[0].weights.T.astype(np.int64) + layer.biases
    assert np.abs(sums).max() == layer.bound
    assert not layer.wide
    assert layer.bound > INT32 * 0.9995


@pytest.mark.parametrize("name", BOARDS.BOARDS)
def test_a_board_notices_what_is_wrong(name: str, tmp_path: Path) -> None:
    """A wrong answer ends as the number of such, and what a processor cannot do as a failure."""
    require_board(name)
    board = BOARDS.BOARDS[name]
    for text, wanted, reported in (
        ("static int n = 3; int main(void) { return n++; }", 3, "main returned 3 after "),
        ('int main(void) { __asm__(".short 0xde00"); return 0; }', 101, "The processor stopped"),
    ):
        (tmp_path / "main.c").write_text(text.replace("0xde00", "0" if "rv" in name else "0xde00"))
        BOARDS.build(board, [tmp_path / "main.c"], tmp_path / "image.elf", "-O1")
        answer, heard = BOARDS.run(board, tmp_path / "image.elf", 20)
        assert (answer, reported in heard) == (wanted, True), heard
