"""What a device has no room for is reported with the arithmetic, and written on request."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import netsharp
from netsharp_compile.evaluating.room import DeviceRoom, room_of
from netsharp_engine.devices.footprint import code_bytes
from tests.cli.command_line import netsharp as command
from tests.cli.test_schemas import schema
from tests.compiling.builds import COMPILERS
from tests.compiling.networks import ONE, trained
from tests.compiling.test_footprint import CONVOLVED, predicted

pytestmark = pytest.mark.filterwarnings("ignore:(On training rows|Columns )")
WIDTHS = {"uint8_t": 1, "int8_t": 1, "int16_t": 2, "uint16_t": 2}


@pytest.mark.parametrize(
    ("text", "features"), [(ONE.format("tanh", "softmax"), 6), (CONVOLVED, 36)]
)
def test_the_sizes_are_those_of_the_files(text: str, features: int, tmp_path: Path) -> None:
    made = netsharp.compile(*trained(text, features=features))
    made.write(tmp_path / "net", answers="softmax")
    room = room_of(made.network, DeviceRoom(1, 1, "cortex-m0", softmax=True))
    header = (tmp_path / "net" / "net.h").read_text()
    types = dict(re.findall(r"typedef (\w+) net_(in|out)_t;", header))
    widths = {name: WIDTHS[word] for word, name in types.items()}
    sizes = {name: int(size) for name, size in re.findall(r"#define NET_(\w+) (\d+)", header)}
    assert room.features == sizes["IN"] * widths["in"]
    assert room.answers == sizes["OUT"] * widths["out"]
    assert room.scratch == sizes["SCRATCH"]
    found = {}
    for name in ("weights", "tables", "softmax"):
        source = tmp_path / "net" / f"net_{name}.c"
        built = tmp_path / f"{name}.o"
        words = [COMPILERS[0], "-std=c99", "-O1", "-c", str(source), "-o", str(built)]
        subprocess.run(words, check=True)
        reported = subprocess.run(["nm", "-S", built], capture_output=True, text=True, check=True)
        rows = [line.split() for line in reported.stdout.splitlines()]
        found[name] = sum(int(row[1], 16) for row in rows if len(row) == 4 and row[2] in "rR")
    assert room.weights == found["weights"]
    pointers = len(made.network.tables) * 8
    assert found["tables"] - room.tables + found["softmax"] in (0, pointers)
    assert sum(size for _, size in room.largest) <= room.weights + room.tables
    network, sizes_before = predicted(text, features, sizes["OUT"])
    assert room.code == code_bytes(sizes_before, network.shapes, "cortex-m0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a network of 155 bytes and a table of 256, and its rows."""
    made = tmp_path_factory.mktemp("room")
    rows = Path(__file__).parents[2] / "examples" / "iris" / "iris.csv"
    (made / "iris.csv").write_bytes(rows.read_bytes())
    text = "input X auto; hidden H [8] tanh from X all; output Y auto softmax from H all;"
    (made / "iris.nn").write_text(text + "\n")
    answer = command("run", "iris.nn", "--train", "iris.csv", "--label", "species", cwd=made)
    assert answer.code == 0, answer.err
    return made


@pytest.mark.costly
@pytest.mark.parametrize(
    ("settings", "words", "message", "fits"),
    [
        ("[target]\nflash = 411\nram = 18", (), "411 of 411, fits", True),
        ("[target]\nflash = 410", (), "411 of 410, 1 TOO MANY; H takes 360, Y takes 51", False),
        ("[target]\nram = 17", (), "18 of 17, 1 TOO MANY; the maximum is at H", False),
        ("[target]\nflash = 410", ("--flash", "1k"), "411 of 1,024, fits", True),
        ("[target]\nflash = '1M'", ("--flash", "0.1k"), "", False),
        ("", ("--ram", "17"), "RAM: 4 bytes of features, 6 of answers and 8 of scratch", False),
        ("[target]\nflash = 700", ("--processor", "cortex-m4"), "of code for cortex-m4", False),
        ("[target]\nflash = 1000", ("--answers", "softmax"), "of tables, code not counted", False),
        ("[target]\nprocessor = 'cortex-m4'", (), "device: ", True),
    ],
)
def test_what_does_not_fit_is_reported_and_not_written(
    folder: Path, tmp_path: Path, settings: str, words: tuple[str, ...], message: str, fits: bool
) -> None:
    (folder / "netsharp.toml").write_text(settings)
    out = tmp_path / "device"
    answer = command("compile", "iris.safetensors", "--output", str(out), *words, cwd=folder)
    if not message:
        assert (answer.code, out.exists()) == (2, False)
        assert "argument --flash: '0.1k': a number of bytes" in answer.err
        return
    assert message in answer.out, answer.out
    names = {one.name for one in out.iterdir()}
    if fits:
        assert (answer.code, answer.err) == (0, "")
        assert "net.c" in names
        return
    assert answer.code == 1
    assert "the device has no room for it. Only the report was written" in answer.err
    assert names == {"report.json", "report.md", "report.svg"}
    assert "TOO MANY" in (out / "report.md").read_text()
    reported = json.loads((out / "report.json").read_text())
    schema("compile-report.json").validate(reported)
    assert reported["room"]["is_met"] is False
    if "ram = 17" not in settings:
        return
    forced = command(
        "compile", "iris.safetensors", "--output", str(out), *words, "--force", cwd=folder
    )
    assert forced.code == 1
    assert "It was written all the same." in forced.err
    assert (out / "net.c").is_file()
    again = command("compile", "iris.safetensors", "--output", str(out), *words, cwd=folder)
    assert (again.code, (out / "net.c").is_file()) == (1, True)
    assert "stays as it was" in again.err


@pytest.mark.costly
def test_settings_are_those_around_the_model_and_then_those_around_the_run_file(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "netsharp.toml").write_text("")
    (tmp_path / "net.safetensors").write_bytes((folder / "iris.safetensors").read_bytes())
    (tmp_path / "board").mkdir()
    run_file = tmp_path / "board" / "iris.toml"
    rows = json.dumps(str(folder / "iris.csv"))
    run_file.write_text(f'[data]\ntrain = {rows}\nlabel = "species"\n')
    board, own = tmp_path / "board" / "netsharp.toml", tmp_path / "netsharp.toml"
    board.write_text("[target]\nflash = 5\n")
    words = ("compile", "net.safetensors", "--output", "out", "--run-file", str(run_file))
    answer = command(*words, cwd=tmp_path)
    assert (answer.code, "411 of 5, " in answer.out) == (1, True), answer.err
    own.write_text("[target]\nflash = 500\n")
    answer = command(*words, cwd=tmp_path)
    assert (answer.code, "411 of 500, fits" in answer.out) == (0, True), answer.err
    own.write_text("[target]\n# a board\nflash = 'x'\n")
    answer = command(*words, cwd=tmp_path)
    assert answer.code == 2
    assert f"{own}:3: 'target' has 'x' for flash" in answer.err


@pytest.mark.costly
def test_both_reasons_are_reported_at_once(folder: Path, tmp_path: Path) -> None:
    (folder / "netsharp.toml").write_text("")
    # Features with a range of almost zero: the held-out rows are far outside the observed ranges.
    same = ["sepal_length,sepal_width,petal_length,petal_width,species", *["5,3,1,0.2,setosa"] * 9]
    (tmp_path / "same.csv").write_text("\n".join(same) + "\n")
    words = ("--calibrate", str(tmp_path / "same.csv"), "--holdout", "iris.csv", "--flash", "9")
    out = str(tmp_path / "net")
    answer = command("compile", "iris.safetensors", "--output", out, *words, cwd=folder)
    assert answer.code == 1
    message = "more is lost than --max-drop allows, and the device has no room for it."
    assert message in answer.err
