"""What `netsharp compile` makes, beside peers with the same weights: figures and their bounds.

    python bench/compiled.py [--rounds 15]

Accuracy of every example and of nine networks with three seeds each, errors of their logits beside
onnxruntime's, bits on all processors, then instructions, images, microseconds, and how long
compiling takes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import compiled_boards
import compiled_hosts
import compiled_logits
from compiled_boards import boards
from compiled_networks import CNN, DIGITS, EXAMPLES, KINDS, MLP, NAMES, SEEDS, trained
from measure import ENVIRONMENT, Command, headline, in_turns, left_out, verdict

TARGETS = ("c99", "cortex-m", "host")
#: Points of accuracy, or one row; percent of the spread of a regression; and of rows enough to see
#: it, points on average and the share of classes that agree.
LOST, OFF, ENOUGH, MEAN_LOST, AGREEING = 0.5, 2.0, 400, 0.1, 99.5
#: The least quotient of theirs by ours.
INSTRUCTIONS = {"Cortex-M3": 15.0, "Cortex-M4F": 2.0}
IMAGE, RUNTIME = 3.5, 1.5
#: Ours by the .tflite file, at most, and XNNPACK's time by ours, at least.
FLASH = {MLP: 0.95, CNN: 0.75}
XNNPACK = {MLP: 1.0, CNN: 0.7}
COMPILING = 2.0
#: Errors of logits, ours by onnxruntime's: of equal widths, and with our usual 16 bits.
ERRORS = {compiled_logits.EQUAL: 0.9, compiled_logits.WIDE: 0.65}
ONNXRUNTIME, LITERT = "onnxruntime int8", "LiteRT XNNPACK"


class Evaluated(NamedTuple):
    """What rows held back say of a network in integers."""

    name: str
    gate: dict[str, Any]


def measure(rounds: int = 15) -> bool:
    """Print the figures; whether all bounds are met."""
    with tempfile.TemporaryDirectory(prefix="netsharp-compiled-") as name:
        folder = Path(name)
        met = [_accuracy(folder), _logits(folder / "logits")]
        met += [_bits(folder / "bits"), _on_boards(folder / "boards")]
        met += [_flash(folder / "flash"), _on_hosts(folder / "hosts", rounds)]
        met.append(_compiling(folder))
    return all(met)


def _accuracy(folder: Path) -> bool:
    headline(f"Accuracy lost at 8 bits; networks of seeds {', '.join(map(str, SEEDS))}")
    found = [*_examples(folder), *_networks()]
    met, large = True, []
    for name, gate in found:
        rows, drop = gate["rows"], gate["drop"]
        if drop is None:
            off = 100 * gate["error"]
            met &= verdict(f"{name}, {rows} rows, error", off, OFF, at_most=True, unit=" %")
            continue
        most = max(LOST, 100 / rows)
        met &= verdict(f"{name}, {rows} rows, points", drop, round(most, 2), at_most=True)
        if rows >= ENOUGH:
            large.append(gate)
    mean = statistics.mean(one["drop"] for one in large)
    met &= verdict(f"mean of {len(large)} with {ENOUGH} rows", mean, MEAN_LOST, at_most=True)
    least = min(100 * one["agreement"] for one in large)
    return met & verdict("least of their agreements", least, AGREEING, at_most=False, unit=" %")


def _networks() -> Iterator[Evaluated]:
    for kind in KINDS:
        for seed in SEEDS:
            gate = trained(kind, seed).compiled().report.gate
            told = {"rows": gate.rows, "drop": gate.drop, "agreement": gate.agreement}
            yield Evaluated(f"{kind}, seed {seed}", told)


def _examples(folder: Path) -> Iterator[Evaluated]:
    """Each example as its run file trains it; judged by its validation rows, or by its own."""
    shutil.copytree(EXAMPLES, folder / "examples")
    root = ("--root", str(folder / "examples"))
    for run_file in sorted((folder / "examples").glob("*/*.toml")):
        run = _netsharp("run", str(run_file.with_suffix(".nn")), *root)
        model = run_file.with_suffix(".safetensors")
        if run.returncode or not model.exists():
            left_out(run_file.stem, run.stderr.strip())
            continue
        words = ["compile", str(model), "--output", str(run_file.parent / f"{run_file.stem}_made")]
        words += ["--force", "--format=json"]
        table = tomllib.loads(run_file.read_text(encoding="utf-8"))["data"]["train"]
        own = ["--holdout", str(run_file.parent / table)]
        for more, told in (([], ""), (own, " (its own rows)")):
            done = _netsharp(*words, *more)
            if done.returncode == 2:
                left_out(run_file.stem + told, done.stderr.strip())
            elif (gate := json.loads(done.stdout)["report"]["gate"]) is not None:
                yield Evaluated(run_file.stem + told, gate)
            else:
                continue
            break


def _netsharp(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "netsharp_lsp", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)


def _logits(folder: Path) -> bool:
    headline("Errors of logits beside onnxruntime's own quantisation, and our integers in it")
    quotients: dict[str, list[float]] = {width: [] for width in ERRORS}
    apart: list[compiled_logits.Differing] = []
    try:
        for kind in KINDS:
            for seed in SEEDS:
                found = trained(kind, seed)
                one = compiled_logits.errors(found, folder / f"{len(apart)}")
                apart.append(compiled_logits.differing(found))
                told = ", ".join(f"{100 * one.ours[width]:.2f} ({width})" for width in ERRORS)
                print(f"  {kind}, seed {seed}: theirs {100 * one.theirs:.2f} %, ours {told}")
                for width, part in quotients.items():
                    part.append(one.quotient(width))
    except ImportError as error:
        left_out("onnxruntime", error)
        return False
    met = True
    for width, most in ERRORS.items():
        least, worst = min(quotients[width]), max(quotients[width])
        print(f"  ours / theirs with {width}: {least:.2f} to {worst:.2f}")
        mean = compiled_logits.mean(quotients[width])
        met &= verdict(f"geometric mean, {width}", mean, most, at_most=True)
    rows, answers, codes, given, all_codes, classes = map(sum, zip(*apart, strict=True))
    print(f"  in onnxruntime {given:,} of {all_codes:,} codes differ, given the same before them;")
    print(f"  of answers {answers:,} of {codes:,}, and {classes:,} classes of {rows:,} rows")
    return met


def _bits(folder: Path) -> bool:
    headline("Bits that differ from the simulator")
    differing = compared = 0
    for kind, name in NAMES.items():
        for target in TARGETS:
            for compiler in compiled_hosts.COMPILERS:
                try:
                    into = folder / name / target / compiler
                    differing += int(
                        compiled_hosts.built(trained(kind), compiler, target, into)[1].sum()
                    )
                    compared += 1
                except OSError as error:
                    left_out(compiler, error)
            differing += sum(answers := list(_on_every_board(kind, target, folder / name)))
            compared += len(answers)
    return verdict(f"answers that differ, {compared} builds", differing, 0, at_most=True)


def _on_every_board(kind: str, target: Any, folder: Path) -> Iterator[int]:
    """The number of answers of the written test that differ, by board."""
    made = folder / target / "test"
    trained(kind).compiled().write(made, target=target)
    for board in boards.BOARDS.values():
        if board.name == "cortex-m0" and kind == MLP and target != "c99":
            continue  # Its network is tried once on the smallest.
        if lacking := boards.missing(board):
            left_out(board.name, f"no {' and no '.join(lacking)}")
            continue
        program = made.parent / f"{board.name}.elf"
        boards.build(board, sorted(made.glob("*.c")), program, "-O2")
        yield boards.run(board, program)[0]


def _on_boards(folder: Path) -> bool:
    headline("Instructions and images beside emlearn's, -O2, instructions of the emulator")
    try:
        compiled_boards.require_tools()
        met = True
        for kind in (DIGITS, MLP):
            for chip in compiled_boards.CHIPS:
                met &= _beside_emlearn(kind, chip, folder / NAMES[kind] / chip)
        return met
    except (ImportError, OSError, RuntimeError) as error:
        left_out("emlearn", error)
        return False


def _beside_emlearn(kind: str, chip: str, folder: Path) -> bool:
    found = trained(kind)
    theirs = compiled_boards.emlearns(found, chip, folder / "emlearn")
    plain, signals = (
        compiled_boards.ours(found, chip, target, folder / target) for target in TARGETS[:2]
    )
    told = (("c99", plain), ("cortex-m", signals), ("emlearn", theirs))
    for name, one in told:
        print(f"  {kind}, {chip}, {name}: {one.instructions:,} instructions, {one.image:,} bytes")
    met = verdict(
        f"{kind}, {chip}, emlearn / cortex-m",
        theirs.instructions / signals.instructions,
        INSTRUCTIONS[chip],
        at_most=False,
    )
    for name, one in told[:2]:
        quotient = theirs.image / one.image
        met &= verdict(f"{kind}, {chip}, image / {name}", quotient, IMAGE, at_most=False)
    return met


def _flash(folder: Path) -> bool:
    headline("Flash of a Cortex-M4 at -O2, code included, beside the .tflite file alone")
    met = True
    for kind, most in FLASH.items():
        ours = compiled_boards.code_size(trained(kind), "c99", folder / NAMES[kind])
        theirs = compiled_hosts.file_of(kind).stat().st_size
        print(f"  {kind}: {ours:,} and {theirs:,} bytes")
        met &= verdict(f"{kind}, c99 / .tflite", ours / theirs, most, at_most=True)
    return met


def _on_hosts(folder: Path, rounds: int) -> bool:
    headline(f"One inference, one thread, microseconds of CPU, medians of {rounds} in turns")
    met = True
    for kind in (MLP, CNN):
        steps = dict(_steps(kind, folder / NAMES[kind]))
        taken = compiled_hosts.in_turns(steps, rounds)
        print(f"  {kind}: " + ", ".join(f"{name} {one:,.2f}" for name, one in taken.items()))
        met &= _faster(kind, taken)
        if LITERT in taken:
            same = compiled_hosts.share_of_same_classes(kind, trained(kind))
            print(f"  {kind}: {same:.2%} of the classes are LiteRT's")
    return met


def _steps(kind: str, folder: Path) -> Iterator[tuple[str, compiled_hosts.Step]]:
    """What is there of ours and of the peers."""
    found = trained(kind)
    makers: dict[str, Callable[[], compiled_hosts.Step]] = {
        ONNXRUNTIME: lambda: compiled_hosts.onnxruntimes(found, folder / "onnxruntime"),
        LITERT: lambda: compiled_hosts.litert(kind, found),
        "TFLM": lambda: compiled_hosts.microlite(kind, found),
    }
    for compiler in compiled_hosts.COMPILERS:
        built = partial(compiled_hosts.built, found, compiler, "host", folder / compiler)
        makers[compiler] = lambda built=built: built()[0]
    for name, make in makers.items():
        try:
            yield name, make()
        except (ImportError, OSError) as error:
            left_out(name, error)


def _faster(kind: str, taken: dict[str, float]) -> bool:
    met = True
    for compiler in compiled_hosts.COMPILERS:
        ours = taken.get(compiler)
        for peer, least in ((ONNXRUNTIME, RUNTIME), (LITERT, XNNPACK[kind])):
            if ours is None or peer not in taken:
                met = False
                continue
            met &= verdict(f"{kind}, {peer} / {compiler}", taken[peer] / ours, least, at_most=False)
    return met


def _compiling(folder: Path) -> bool:
    headline("netsharp compile of the digits, a cold process")
    model = folder / "examples" / "digits" / "digits.safetensors"
    words = (sys.executable, "-m", "netsharp_lsp", "compile", str(model), "--output")
    cost = in_turns({"compile": Command((*words, str(folder / "made")))}, 3)["compile"]
    return verdict("seconds of CPU", cost.cpu, COMPILING, at_most=True) & verdict(
        "seconds", cost.wall, COMPILING, at_most=True
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    measure(given.rounds)
    sys.exit(0)
