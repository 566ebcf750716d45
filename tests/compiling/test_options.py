"""Every option of `compile` and `simulate` that --help lists does what it says: a row for each."""

from __future__ import annotations

import argparse
import csv
import inspect
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import netsharp
from netsharp_compile.writing.packages import PACKAGES
from netsharp_lsp.cli import compile as compile_command
from netsharp_lsp.cli import simulate as simulate_command
from netsharp_lsp.cli.arguments.parser import CommandParser
from tests.cli.command_line import netsharp as command
from tests.conftest import SEED

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
CONFIGURATION = Path(__file__).resolve().parents[2] / "examples" / "cntk" / "digits.cntk"
REPORT = {"report.json", "report.md", "report.svg"}
TEXT = (
    "input X auto; hidden A [6] tanh from X all; hidden B [5] tanh from A all;"
    "output Y auto softmax from B all;"
)
Words = tuple[str, ...]


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
    told = [line.partition(",")[0] for line in answer.out.splitlines()[1:]]
    given = (row.rpartition(",")[0] for row in rows)
    some = [f"{row},{name}" for row, name in zip(given, told, strict=False)]
    (made / "told.csv").write_text("\n".join([head, *some]) + "\n")
    return made


@pytest.fixture
def asked(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> Asked:
    """Both commands, in this process, with words behind those that they need."""
    monkeypatch.chdir(folder)

    def call(command_: Any, *words: str) -> tuple[int, str, str]:
        code = command_.run(parser_of(command_).parse_args(words))
        said = capsys.readouterr()
        return code, said.out, said.err

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


def output(asked: Asked) -> bool:
    return {"net.h", "net.c", "net.json", *REPORT} <= set(asked.compile().files)


def report(asked: Asked) -> bool:
    place = asked.folder.with_name("apart")
    made = asked.compile("--report", str(place))
    same = all((place / one).read_text() == made.files[one] for one in REPORT)
    again = asked.compile("--report", str(asked.folder))
    return same and {one.name for one in place.iterdir()} == REPORT and again.code == 2


def explain(asked: Asked) -> bool:
    made = asked.compile("--explain")
    return made.out.startswith("A -> B: tanh, ") and made.files == {}


def calibrate(asked: Asked) -> bool:
    return asked.compile("--calibrate", "few.csv", "held.csv").report["rows"] == 80


def holdout(asked: Asked) -> bool:
    gate = asked.compile("--holdout", "held.csv").report["gate"]
    return (gate["what"], gate["rows"]) == ("held.csv", 60)


def run_file(asked: Asked) -> bool:
    moved = asked.folder.with_name("moved")
    moved.mkdir(exist_ok=True)
    (moved / "net.safetensors").write_bytes((asked.folder / "net.safetensors").read_bytes())
    rows = json.dumps(str(asked.folder / "few.csv"))
    (moved / "other.toml").write_text(f'[data]\ntrain = {rows}\nlabel = "label"\n')
    asked.go(moved)
    refused = asked.compile()
    assert (refused.code, "rows.csv" in refused.err) == (2, True), refused.err
    return asked.compile("--run-file", "other.toml").report["rows"] == 20


def activations(asked: Asked) -> bool:
    found = [asked.compile("--activations", word) for word in ("int8", "symmetric8", "uint10")]
    assert [one.bits(0) for one in found] == [("signed", 8), ("symmetric", 8), ("unsigned", 10)]
    pair = asked.compile("--activations", "int16/12").manifest["layers"][0]
    return (pair["result"]["bits"], pair["target"]["bits"]) == (12, 16)


def layer(asked: Asked) -> bool:
    made = asked.compile("--layer", "A=uint10", "--layer", "X=int9")
    features = made.manifest["features"]["codes"]
    assert (features["operand"], features["bits"]) == ("signed", 9)
    return (made.bits(0), made.bits(1)) == (("unsigned", 10), ("unsigned", 8))


def weights(asked: Asked) -> bool:
    wide = asked.compile("--weights", "int16")
    assert "int16_t net_A_weights" in re.sub(r"\s+", " ", wide.files["net_weights.c"]) or (
        wide.manifest["layers"][0]["bundles"][0]["weights"]["type"] == "int16"
    )
    whole = asked.compile("--weights", "int8-tensor").manifest["layers"][0]
    own = asked.compile("--weights", "int8", "--requant", "mul").manifest["layers"][0]
    shares = [len(set(zip(one["multipliers"], one["shifts"], strict=True))) for one in (whole, own)]
    return shares[0] == 1 < shares[1]


def requant(asked: Asked) -> bool:
    shifted, other = (asked.compile("--requant", one).manifest for one in ("shift", "mul"))
    steps = [one for layer in shifted["layers"] for one in layer["multipliers"]]
    return set(steps) <= {0, 1} and any(max(one["multipliers"]) > 1 for one in other["layers"])


def transfer(asked: Asked) -> bool:
    made = asked.compile("--transfer", "arith")
    return made.manifest["tables"] == [] and made.manifest["layers"][0]["formula"] is not None


def big_tables(asked: Asked) -> bool:
    refused = asked.compile("--activations", "int16")
    made = asked.compile("--activations", "int16", "--big-tables")
    sizes = [len(one["values"]) for one in made.manifest["tables"]]
    return (refused.code, refused.files, made.code) == (2, {}, 0) and max(sizes) == 65536


def logits(asked: Asked) -> bool:
    words = {"int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t"}
    return all(
        f"typedef {c} net_out_t;" in asked.compile("--logits", word).files["net.h"]
        for word, c in words.items()
    )


def share_tables(asked: Asked) -> bool:
    own, shared = (asked.compile(f"--{word}share-tables").report for word in ("no-", ""))
    return (own["tables"], shared["tables"]) == (2, 1) and shared["saved_bytes"] == 256


def ranges(asked: Asked) -> bool:
    words = ("minmax", "percentile:90", "operator", "mse")
    reach = {word: asked.compile("--range", word, "--no-share-tables") for word in words}
    width = {}
    for word, made in reach.items():
        low, high = made.report["layers"][0]["sums"]
        width[word] = high - low
    return all(width[word] < width["minmax"] for word in words[1:])


def answers(asked: Asked) -> bool:
    heads = [asked.compile("--answers", one).files["net.h"] for one in ("values", "argmax")]
    soft = asked.compile("--answers", "softmax").files
    calls = ["net_classify(" in one for one in heads]
    return calls == [False, True] and "net_softmax(" in soft["net.h"] and "net_softmax.c" in soft


def target(asked: Asked) -> bool:
    found = [asked.compile("--target", one).files["net.c"] for one in ("c99", "cortex-m", "host")]
    return ["__ARM_FEATURE_DSP" in one for one in found] == [False, True, False] and (
        len(set(found)) == 3
    )


def package(asked: Asked) -> bool:
    marks = {
        "arduino": "library.properties",
        "platformio": "library.json",
        "cmake": "CMakeLists.txt",
        "zephyr": "zephyr/module.yml",
    }
    assert set(marks) == set(PACKAGES)
    made = [asked.compile("--package", one, output=one).files for one in marks]
    return all(mark in files for mark, files in zip(marks.values(), made, strict=True))


#: With four bits more than a few rows have another class than in floating point, their label.
NARROW = ("--activations", "uint4", "--holdout", "told.csv")


def max_drop(asked: Asked) -> bool:
    strict, loose = (asked.compile(*NARROW, "--max-drop", one) for one in ("0.5", "99"))
    assert (strict.code, set(strict.files)) == (1, REPORT)
    allowed = [one.report["gate"]["allowed"] for one in (strict, loose)]
    refused = asked.compile("--max-drop", "-1", refused=True)
    return allowed == [0.5, 99] and loose.code == 0 and refused.code == 2


def auto_widths(asked: Asked) -> bool:
    made = asked.compile(*NARROW, "--auto-widths")
    taken = {made.bits(0)[1], made.bits(1)[1], made.manifest["features"]["codes"]["bits"]}
    return made.code == 0 and "taken to pass: --layer" in made.out and max(taken) > 4


def force(asked: Asked) -> bool:
    made = asked.compile(*NARROW, "--force")
    return made.code == 1 and "net.c" in made.files and "written all the same" in made.err


def prefix(asked: Asked) -> bool:
    made = asked.compile("--prefix", "flower")
    return {"flower.c", "flower.json"} <= set(made.files) and "flower_run" in made.files["flower.h"]


def form(asked: Asked) -> bool:
    made = asked.compile("--format", "json")
    told = json.loads(made.out)
    return told["files"] == sorted(made.files) and told["report"] == made.report


def flash(asked: Asked) -> bool:
    room = asked.compile("--flash", "1k").report["room"]
    small = asked.compile("--flash", "0x10", refused=True)
    return (room["flash_limit"], room["is_met"], small.code) == (1024, True, 2)


def ram(asked: Asked) -> bool:
    made = asked.compile("--ram", "3")
    return (made.code, made.report["room"]["ram_limit"]) == (1, 3)


def processor(asked: Asked) -> bool:
    made = asked.compile("--flash", "1M", "--processor", "rv32")
    return made.report["room"]["code"] > 0 and "of code for rv32" in made.out


def refused(*words: str, said: str) -> Callable[[Asked], bool]:
    """What is for models of another program alone; tests of those show what it does there."""

    def check(asked: Asked) -> bool:
        made = asked.compile("--calibrate", "rows.csv", *words)
        return made.code == 2 and said in made.err

    return check


COMPILED: dict[str, Callable[[Asked], bool]] = {
    "--output": output,
    "--report": report,
    "--explain": explain,
    "--calibrate": calibrate,
    "--holdout": holdout,
    "--run-file": run_file,
    "--activations": activations,
    "--layer": layer,
    "--weights": weights,
    "--requant": requant,
    "--transfer": transfer,
    "--big-tables": big_tables,
    "--logits": logits,
    "--share-tables": share_tables,
    "--no-share-tables": share_tables,
    "--range": ranges,
    "--answers": answers,
    "--target": target,
    "--package": package,
    "--max-drop": max_drop,
    "--auto-widths": auto_widths,
    "--force": force,
    "--prefix": prefix,
    "--format": form,
    "--flash": flash,
    "--ram": ram,
    "--processor": processor,
    "--stream": refused("--stream", "a=b", said="are for models whose inputs have names"),
    "--reader": refused(
        "--reader", str(CONFIGURATION), said="are for models whose inputs have names"
    ),
    "--classes": refused("--classes", "few.csv", said="has the names of its classes in it"),
}


@pytest.mark.costly
@pytest.mark.parametrize("option", COMPILED)
def test_every_option_of_compile_does_what_it_says(option: str, asked: Asked) -> None:
    assert COMPILED[option](asked)


def test_every_option_has_a_row() -> None:
    assert set(options_of(compile_command)) == set(COMPILED)
    assert set(options_of(simulate_command)) == set(SIMULATED)


def test_python_has_the_same_options() -> None:
    """By the same names and with the same defaults, but for what is about files and settings."""
    known = {one.dest: one for one in options_of(compile_command).values()}
    renamed = {"layers": "layer"}
    asked = inspect.signature(netsharp.compile).parameters
    for name, one in asked.items():
        if name in ("model", "calibration", "holdout"):
            continue
        option = known[renamed.get(name, name)]
        assert (option.default or None) == (one.default or None), name
    written = inspect.signature(netsharp.CompiledNetwork.write).parameters
    for name in ("answers", "package", "target", "prefix"):
        assert known[name].default == written[name].default, name
    of_files = {
        "output",
        "report",
        "explain",
        "calibrate",
        "holdout",
        "run_file",
        "force",
        "format",
    }
    of_settings = {"flash", "ram", "processor", "stream", "reader", "classes", "layer"}
    assert set(known) - set(asked) - set(written) == of_files - {"holdout"} | of_settings


def compare(asked: Asked) -> bool:
    made = asked.simulate("--compare", "net.safetensors")
    return made.code == 0 and made.out.startswith("on 200 rows: ")


def max_apart(asked: Asked) -> bool:
    assert asked.compile("--activations", "uint4", output="simulated").code == 0
    words = ("--compare", "net.safetensors", "--max-apart")
    return [asked.simulate(*words, one).code for one in ("1", "100")] == [1, 0]


def to_file(asked: Asked) -> bool:
    place = asked.folder.with_name("answers.csv")
    made = asked.simulate("--output", str(place))
    return made.out == "" and place.read_text() == asked.simulate().out


def keep(asked: Asked) -> bool:
    rows = list(csv.DictReader(asked.simulate("--keep", "b,d", "--keep", "label").out.splitlines()))
    with (asked.folder / "rows.csv").open() as stream:
        known = list(csv.DictReader(stream))
    return all(rows[n][key] == known[n][key] for n in range(200) for key in ("b", "d", "label"))


def lines(asked: Asked) -> bool:
    found = [json.loads(one) for one in asked.simulate("--format", "json").out.splitlines()]
    rows = list(csv.DictReader(asked.simulate("--format", "text").out.splitlines()))
    return [one["predicted"] for one in found] == [one["predicted"] for one in rows]


def data(asked: Asked) -> bool:
    return len(asked.simulate(data="few.csv").out.splitlines()) == 21


def answers_of(asked: Asked, text: str, *words: str) -> bool:
    """Whether rows in another form have the answers of the first."""
    place = asked.folder.with_name("other.csv")
    place.write_bytes(text.encode("utf-16" if "utf-16" in words else "utf-8"))
    made = asked.simulate(*words, data=str(place))
    return made.code == 0 and made.out == asked.simulate().out


def text_of(asked: Asked) -> str:
    return (asked.folder / "rows.csv").read_text()


def rows(asked: Asked) -> bool:
    return asked.simulate("--rows", "7").out.splitlines() == asked.simulate().out.splitlines()[:8]


def missing(asked: Asked) -> bool:
    """A gap is refused as in the training, or 0, or its row has no answer; for others there is no
    mean.
    """
    head, first, *others = text_of(asked).splitlines()
    rest = first.partition(",")[2]
    places = [asked.folder.with_name(f"{name}.csv") for name in ("gap", "zero")]
    for place, cell in zip(places, ("", "0"), strict=True):
        place.write_text("\n".join([head, f"{cell},{rest}", *others]) + "\n")
    words = ("error", "mean", "indicator", "zero", "drop")
    found = [asked.simulate("--missing", one, data=str(places[0])) for one in words]
    assert [one.code for one in found] == [2, 2, 2, 0, 0]
    assert "so it has no mean for them" in found[1].err
    assert found[3].out == asked.simulate(data=str(places[1])).out
    dropped = found[4].out.splitlines()
    assert dropped[1] == ",nan,nan,nan"
    return dropped[2:] == found[3].out.splitlines()[2:]


def renamed_label(asked: Asked) -> bool:
    return answers_of(asked, text_of(asked).replace(",label", ",kind"), "--label", "kind")


SIMULATED: dict[str, Callable[[Asked], bool]] = {
    "--compare": compare,
    "--max-apart": max_apart,
    "--output": to_file,
    "--keep": keep,
    "--format": lines,
    "--data": data,
    "--label": renamed_label,
    "--labels": lambda asked: asked.simulate("--labels", "few.csv").code == 2,
    "--header": lambda asked: answers_of(asked, text_of(asked), "--header"),
    "--no-header": lambda asked: answers_of(
        asked, text_of(asked).partition("\n")[2], "--no-header", "--label", "5"
    ),
    "--delimiter": lambda asked: answers_of(
        asked, text_of(asked).replace(",", "|"), "--delimiter", "|"
    ),
    "--decimal": lambda asked: answers_of(
        asked,
        text_of(asked).replace(",", ";").replace(".", ","),
        *("--decimal", "comma", "--delimiter", ";"),
    ),
    "--encoding": lambda asked: answers_of(asked, text_of(asked), "--encoding", "utf-16"),
    "--missing": missing,
    "--rows": rows,
    "--stream": lambda asked: "have names of streams" in asked.simulate("--stream", "a=b").err,
    "--reader": lambda asked: (
        "no command here has a reader" in asked.simulate("--reader", str(CONFIGURATION)).err
    ),
}


@pytest.mark.costly
@pytest.mark.parametrize("option", SIMULATED)
def test_every_option_of_simulate_does_what_it_says(option: str, asked: Asked) -> None:
    assert SIMULATED[option](asked)


@pytest.mark.costly
def test_predict_and_evaluate_take_missing_numbers_as_they_are_asked_to(folder: Path) -> None:
    """A flag that the reader of rows for a model once passed over."""
    head, _, *others = (folder / "rows.csv").read_text().splitlines()
    gap, zero = folder / "gap.csv", folder / "zero.csv"
    gap.write_text("\n".join([head, ",1.5,1,1,no", *others]) + "\n")
    zero.write_text("\n".join([head, "0,1.5,1,1,no", *others]) + "\n")
    for name, words in (("predict", ()), ("evaluate", ("--format", "json"))):
        given = (name, "net.safetensors", *words, "--data")
        assert command(*given, "gap.csv", cwd=folder).code == 2
        filled = command(*given, "gap.csv", "--missing", "zero", cwd=folder)
        assert (filled.code, filled.err) == (0, "")
        assert filled.out == command(*given, "zero.csv", cwd=folder).out
        assert command(*given, "gap.csv", "--missing", "mean", cwd=folder).code == 2
        dropped = command(*given, "gap.csv", "--missing", "drop", cwd=folder)
        assert dropped.code == 0, dropped.err
        if name == "predict":
            assert dropped.out.splitlines()[1].startswith(",")
        else:
            rows = [json.loads(one.out)["rows"] for one in (filled, dropped)]
            assert rows == [200, 199]
