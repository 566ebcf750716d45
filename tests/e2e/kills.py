"""What ends a training, or comes between a command's reading and writing, at moments that a seed
chooses: each campaign gives how often it was tried, and a sentence for each failure.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.cli.command_line import clean_environment
from tests.e2e.test_run_and_predict import tensors
from tests.e2e.workshop import LABELLED, furnish

MODEL, LOG = "part.safetensors", "run.jsonl"
TRAIN = (
    *("run", "net.nn", "--train", "digits.csv", *LABELLED, "--seed", "5", "--batch-size", "8"),
    *("--momentum", "0.9", "--validation", "0.2", "--epochs", "40", "--checkpoint", "0.02"),
    *("--quiet", "--model", MODEL, "--log", LOG),
)
#: What a run ends with after each signal.
EXITS = {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
LINE = "// added by somebody\n"


class Report(NamedTuple):
    """How often something was tried, and a sentence for each failure."""

    tries: int
    failures: list[str]


def command(*arguments: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a command in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "netsharp_lsp", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )


def finished(*arguments: str, folder: Path) -> tuple[int, str, float]:
    """Run a command: its code, what it says on stderr, and how long it takes."""
    started = time.monotonic()
    process = command(*arguments, folder=folder)
    _, output = process.communicate(timeout=120)
    return process.returncode, output.decode(), time.monotonic() - started


def kills(count: int, seed: int) -> Report:
    """End trainings by each signal in turn; each ends with the bits of one that was let alone."""
    chance = random.Random(seed)
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="kills-") as root:
        furnished = Path(root) / "furnished"
        furnished.mkdir()
        furnish(furnished)
        whole = Path(root) / "whole"
        shutil.copytree(furnished, whole)
        code, output, seconds = finished(*TRAIN, folder=whole)
        assert code == 0, output
        for number in range(count):
            folder = Path(root) / str(number)
            shutil.copytree(furnished, folder)
            by = list(EXITS)[number % len(EXITS)]
            moment = chance.uniform(0.2, 1.1) * seconds
            fault = _killed(folder, by, moment, whole / MODEL)
            failures += [f"{by.name} after {moment:.3f} s: {fault}"] if fault else []
            shutil.rmtree(folder)
    return Report(count, failures)


def _killed(folder: Path, by: signal.Signals, moment: float, whole: Path) -> str:
    """What is wrong after a signal at a moment; nothing if all is well."""
    process = command(*TRAIN, folder=folder)
    time.sleep(moment)
    began = (folder / LOG).exists() and (folder / LOG).stat().st_size > 0
    process.send_signal(by)
    _, printed = process.communicate(timeout=120)
    # Before training begins there is nothing to keep, and when all is kept nothing to lose: then
    # the system ends the process.
    ended = began and b'"event": "end"' in (folder / LOG).read_bytes()
    by_system = {-by.value, 130} if ended or not began else set()
    if process.returncode not in {EXITS[by], 0} | by_system:
        return f"ended with {process.returncode}: {printed.decode()!r}"
    if not (folder / MODEL).exists():
        return "" if by == signal.SIGKILL or not began else "nothing was kept"
    code, output, _ = finished(*TRAIN, "--resume", folder=folder)
    if code != 0 and "has finished" not in output:
        return f"cannot be resumed: {output!r}"
    if tensors(folder / MODEL) != tensors(whole):
        return "other bits than those of a run that was let alone"
    left = {name for name in os.listdir(folder) if name.startswith(".")}
    return f"left over: {left}" if left else ""


def additions(count: int, seed: int) -> Report:
    """Add a line to texts while commands rewrite them: it is there in the end."""
    chance = random.Random(seed)
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="additions-") as root:
        for number in range(count):
            folder = Path(root) / str(number)
            folder.mkdir()
            words, name, text = REWRITING[number % len(REWRITING)](folder)
            add = (append, replace)[chance.randrange(2)]
            fault = _added(folder, words, folder / name, chance.uniform(0.2, 1.0), add)
            how = f"{' '.join(words)}, {add.__name__}, try {number}"
            failures += [f"{how}: {fault}"] if fault else []
            assert text
            shutil.rmtree(folder)
    return Report(count, failures)


def _added(
    folder: Path, words: tuple[str, ...], path: Path, share: float, add: Callable[[Path], None]
) -> str:
    """What is wrong when a line is added after a share of the time that a command takes."""
    twin = folder.with_name(f"{folder.name}-twin")
    shutil.copytree(folder, twin)
    _, _, seconds = finished(*words, folder=twin)
    shutil.rmtree(twin)
    process = command(*words, folder=folder)
    time.sleep(share * seconds)
    add(path)
    _, output = process.communicate(timeout=120)
    reported = output.decode()
    if LINE.strip() not in path.read_text():
        return f"the line is gone (exit code {process.returncode}: {reported!r})"
    if (
        process.returncode == 2
        and f"{path.name}: cannot be written: it has changed" not in reported
    ):
        return f"no sentence says why: {reported!r}"
    left = [name for name in os.listdir(folder) if name.startswith(".")]
    return f"left over: {left}" if left else ""


def append(path: Path) -> None:
    """Add a line as a shell does."""
    with path.open("a") as stream:
        stream.write(LINE)


def replace(path: Path) -> None:
    """Add a line as many editors do: in a new file of the same name."""
    fresh = path.with_name(f"{path.name}~")
    fresh.write_text(path.read_text() + LINE)
    fresh.replace(path)


Furnished = tuple[tuple[str, ...], str, str]


def _ugly(folder: Path) -> str:
    layers = "".join(f"hidden H{n} [ {n} ]   from A all;;\n" for n in range(1, 400))
    text = f"input A [3];\n{layers}output O [2] softmax from H3 all;\n"
    (folder / "a.nn").write_text(text)
    return text


def for_fmt(folder: Path) -> Furnished:
    """A text that takes a while to format."""
    return ("fmt", "a.nn"), "a.nn", _ugly(folder)


def for_fix(folder: Path) -> Furnished:
    """A text with many repairs."""
    return ("check", "--fix", "a.nn"), "a.nn", _ugly(folder)


def for_migrate(folder: Path) -> Furnished:
    """An experiment with a network of NDL, whose configuration changes."""
    nodes = "".join(f"t{n} = Times(w, x)\n" for n in range(150))
    network = (
        "network = [\nx = Input(3)\nw = Parameter(3, 3)\n"
        f"{nodes}z = Tanh(t0)\nFeatureNodes = (x)\nOutputNodes = (z)\n]\n"
    )
    (folder / "net.ndl").write_text(f"run = network\n{network}")
    text = (
        "command = T\nT = [\n  action = train\n  modelPath = m\n"
        '  NDLNetworkBuilder = [ networkDescription = "net.ndl" ]\n]\n'
    )
    (folder / "a.cntk").write_text(text)
    return ("migrate", "--write", "a.cntk"), "a.cntk", text


REWRITING: tuple[Callable[[Path], Furnished], ...] = (for_fmt, for_fix, for_migrate)
