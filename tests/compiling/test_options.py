"""Every option of `compile` that --help lists does what it says: a row for each."""

from __future__ import annotations

import argparse
import inspect
import json
import re
from collections.abc import Callable

import pytest

import netsharp
from netsharp_compile.writing.packages import PACKAGES
from netsharp_lsp.cli import compile as compile_command
from netsharp_lsp.cli.arguments.quantisation import settings_of
from tests.compiling.options import CONFIGURATION, REPORT, Asked, options_of
from tests.compiling.options import asked as asked
from tests.compiling.options import folder as folder

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


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


def label(asked: Asked) -> bool:
    held = (asked.folder / "held.csv").read_text()
    (asked.folder / "kinds.csv").write_text(held.replace("label", "kind", 1))
    lacking = asked.compile("--holdout", "kinds.csv")
    assert (lacking.code, "has no label column 'label'" in lacking.err) == (2, True), lacking.err
    return asked.compile("--holdout", "kinds.csv", "--label", "kind").report["gate"]["rows"] == 60


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
    output = json.loads(made.out)
    return output["files"] == sorted(made.files) and output["report"] == made.report


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


def refused(*words: str, message: str) -> Callable[[Asked], bool]:
    """What is for models of another program alone; tests of those show what it does there."""

    def check(asked: Asked) -> bool:
        made = asked.compile("--calibrate", "rows.csv", *words)
        return made.code == 2 and message in made.err

    return check


COMPILED: dict[str, Callable[[Asked], bool]] = {
    "--output": output,
    "--report": report,
    "--explain": explain,
    "--calibrate": calibrate,
    "--holdout": holdout,
    "--label": label,
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
    "--stream": refused("--stream", "a=b", message="are for models whose inputs have names"),
    "--reader": refused(
        "--reader", str(CONFIGURATION), message="are for models whose inputs have names"
    ),
    "--classes": refused("--classes", "few.csv", message="has the names of its classes in it"),
}


@pytest.mark.costly
@pytest.mark.parametrize("option", COMPILED)
def test_every_option_of_compile_does_what_it_says(option: str, asked: Asked) -> None:
    assert COMPILED[option](asked)


def test_every_option_has_a_row() -> None:
    assert set(options_of(compile_command)) == set(COMPILED)


def test_python_has_the_same_options() -> None:
    """By the same names and with the same defaults, except for those about files and settings."""
    known = {one.dest: one for one in options_of(compile_command).values()}
    renamed = {"layers": "layer"}
    settings = settings_of(argparse.Namespace(**{name: one.default for name, one in known.items()}))
    asked = inspect.signature(netsharp.compile).parameters
    for name, one in asked.items():
        if name in ("model", "calibration", "holdout"):
            continue
        option = known[renamed.get(name, name)]
        default = getattr(settings, name, option.default)
        assert (default or None) == (one.default or None), name
    written = inspect.signature(netsharp.CompiledNetwork.write).parameters
    for name in ("answers", "package", "target", "prefix"):
        assert known[name].default == written[name].default, name
    of_files = {
        "output",
        "report",
        "explain",
        "calibrate",
        "holdout",
        "label",
        "run_file",
        "force",
        "format",
    }
    of_settings = {"flash", "ram", "processor", "stream", "reader", "classes", "layer"}
    assert set(known) - set(asked) - set(written) == of_files - {"holdout"} | of_settings
