"""A trained network in a folder with rows, and what compiles and simulates there as the commands
do: for tests of each option that --help lists.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from netsharp_lsp.cli import compile as compile_command
from netsharp_lsp.cli import simulate as simulate_command
from netsharp_lsp.cli.arguments.parser import CommandParser
from tests.cli.command_line import netsharp as command
from tests.conftest import SEED

CONFIGURATION = Path(__file__).resolve().parents[2] / "examples" / "cntk" / "digits.cntk"
REPORT = {"report.json", "report.md", "report.svg"}
TEXT = (
    "input X auto; hidden A [6] tanh from X all; hidden B [5] tanh from A all;"
    "output Y auto softmax from B all;"
)


class Made(NamedTuple):
    """What a call said and wrote: its exit code, both streams, and files by name."""

    code: int
    out: str
    err: str
    files: dict[str, str]

    @property
    def manifest(self) -> Any:
        (name,) = (one for one in self.files if one.endswith(".json") and one != "report.json")
        return json.loads(self.files[name])

    @property
    def report(self) -> Any:
        return json.loads(self.files["report.json"])

    def bits(self, layer: int) -> tuple[str, int]:
        codes = self.manifest["layers"][layer]["target"]
        return codes["operand"], codes["bits"]


class Asked(NamedTuple):
    """The folder with a model, its rows and others, and what compiles or simulates there."""

    folder: Path
    compile: Callable[..., Made]
    simulate: Callable[..., Made]
    go: Callable[[Path], None]


def parser_of(command_: Any) -> CommandParser:
    parser = CommandParser(prog="netsharp", allow_abbrev=False)
    command_.add_arguments(parser)
    return parser


def options_of(command_: Any) -> dict[str, argparse.Action]:
    """Each way to write an option, but that of help."""
    actions = parser_of(command_)._actions
    found = {name: one for one in actions for name in one.option_strings}
    return {name: one for name, one in found.items() if name not in ("-h", "--help")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, its run file and 200 rows in `rows.csv`, 60 in `held.csv`, 20 in `few.csv`."""
    made = tmp_path_factory.mktemp("options")
    x = np.random.default_rng(SEED).normal(0, 2, size=(280, 4))
    names = [["no", "yes", "maybe"][int(one[0] > 0) + int(one[1] > 1)] for one in x]
    rows = [",".join([*map(str, one), name]) for one, name in zip(x.tolist(), names, strict=True)]
    head = "a,b,c,d,label"
    for name, some in (("rows", rows[:200]), ("held", rows[200:260]), ("few", rows[260:])):
        (made / f"{name}.csv").write_text("\n".join([head, *some]) + "\n")
    (made / "net.nn").write_text(TEXT + "\n")
    (made / "net.toml").write_text(
        '[data]\ntrain = "rows.csv"\nlabel = "label"\n[train]\nepochs = 20\n'
    )
    answer = command("run", "net.nn", "--quiet", cwd=made)
    assert answer.code == 0, answer.err
    answer = command("predict", "net.safetensors", "--data", "rows.csv", cwd=made)
    output = [line.partition(",")[0] for line in answer.out.splitlines()[1:]]
    given = (row.rpartition(",")[0] for row in rows)
    some = [f"{row},{name}" for row, name in zip(given, output, strict=False)]
    (made / "told.csv").write_text("\n".join([head, *some]) + "\n")
    return made


@pytest.fixture
def asked(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> Asked:
    """Both commands, in this process, with words after those that they need."""
    monkeypatch.chdir(folder)

    def call(command_: Any, *words: str) -> tuple[int, str, str]:
        code = command_.run(parser_of(command_).parse_args(words))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    def compile_(*words: str, output: str = "device", refused: bool = False) -> Made:
        place = tmp_path / output
        if refused:
            with pytest.raises(SystemExit) as ended:
                parser_of(compile_command).parse_args(["net.safetensors", *words])
            assert isinstance(ended.value.code, int)
            return Made(ended.value.code, "", capsys.readouterr().err, {})
        shutil.rmtree(place, ignore_errors=True)
        words = ("net.safetensors", "--output", str(place), *words)
        code, out, err = call(compile_command, *words)
        there = (one for one in place.rglob("*") if one.is_file())
        files = {str(one.relative_to(place)): one.read_text("latin-1") for one in there}
        return Made(code, out, err, files)

    def simulate(*words: str, data: str = "rows.csv", manifest: str = "net.json") -> Made:
        if not (tmp_path / "simulated").is_dir():
            assert compile_(output="simulated").code == 0
        place = tmp_path / "simulated" / manifest
        return Made(*call(simulate_command, str(place), "--data", data, *words), {})

    return Asked(folder, compile_, simulate, monkeypatch.chdir)
