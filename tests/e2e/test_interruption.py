"""Ctrl-C, `--resume`, and what a terminal shows of a run."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

import netsharp as public
from tests.cli.command_line import clean_environment, netsharp
from tests.e2e.test_faults import one_sentence
from tests.e2e.test_run_and_predict import tensors
from tests.e2e.workshop import LABELLED, train
from tests.engine_training.test_model_file import rewritten

RUN = ("run", "net.nn", "--train", "digits.csv", *LABELLED, "--seed", "5", "--batch-size", "8")
#: No test waits longer for a run to get going.
PATIENCE = 30.0


def interrupted(
    folder: Path, *arguments: str, by: signal.Signals = signal.SIGINT
) -> tuple[int, str, str]:
    """Start a run, end it after its second epoch, and give its code, stdout and stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "netsharp_lsp", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    )
    log = folder / "run.jsonl"
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends and '"epoch": 2' not in (log.read_text() if log.exists() else ""):
        time.sleep(0.02)
    process.send_signal(by)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("by", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_run_continues_bit_equal_after_a_signal_to_end(
    by: signal.Signals, exit_code: int, folder: Path
) -> None:
    (folder / "run.jsonl").unlink()
    shared = (*RUN, "--momentum", "0.9", "--validation", "0.2")
    long = ("--epochs", "4000", "--model", "part.safetensors", "--log", "run.jsonl")
    code, _out, err = interrupted(folder, *shared, *long, by=by)
    assert code == exit_code
    stopped = re.search(r"Stopped after step ([\d,]+) in epoch (\d+)", err)
    assert stopped is not None, err
    epochs = str(int(stopped[2]) + 2)
    before = (folder / "run.jsonl").read_text().splitlines()
    command = ("--quiet", "--epochs", epochs, "--model")
    again = netsharp(
        *(*shared, *command, "part.safetensors", "--log", "run.jsonl", "--resume"), cwd=folder
    )
    assert (again.code, again.err) == (0, "")
    lines = (folder / "run.jsonl").read_text().splitlines()
    assert lines[: len(before)] == before
    assert len(lines) > len(before)
    whole = netsharp(*shared, *command, "whole.safetensors", cwd=folder)
    assert whole.code == 0
    assert tensors(folder / "part.safetensors") == tensors(folder / "whole.safetensors")


def test_a_killed_run_continues_from_its_last_checkpoint(folder: Path) -> None:
    """With the same nodes left out, and the rate where it had fallen to."""
    shared = (*RUN, "--dropout", "0.3", "--clip-norm", "0.5", "--schedule", "step")
    shared = (*shared, "--schedule-epochs", "2", "--schedule-factor", "0.9")
    (folder / "run.jsonl").unlink()
    long = ("--epochs", "4000", "--model", "part.safetensors", "--log", "run.jsonl")
    hasty = (*shared, *long, "--checkpoint", "0.0001")
    code, _out, _err = interrupted(folder, *hasty, by=signal.SIGKILL)
    assert code == -signal.SIGKILL
    reached = json.loads((folder / "run.jsonl").read_text().splitlines()[-2])["epoch"]
    command = (*shared, "--quiet", "--epochs", str(reached + 3), "--model")
    again = netsharp(*command, "part.safetensors", "--resume", cwd=folder)
    assert (again.code, again.err) == (0, "")
    assert netsharp(*command, "whole.safetensors", cwd=folder).code == 0
    assert tensors(folder / "part.safetensors") == tensors(folder / "whole.safetensors")


def test_what_cannot_be_resumed_is_reported(folder: Path) -> None:
    resume = (*RUN[:6], "--quiet", "--resume", "--model", "digits.safetensors")
    one_sentence(netsharp(*resume, "--epochs", "2", cwd=folder), "finished 2 epochs")
    one_sentence(
        netsharp(*resume, "--epochs", "4", "--learning-rate", "0.7", cwd=folder), "learning_rate"
    )
    nothing = netsharp(*RUN, "--resume", "--model", "none.safetensors", cwd=folder)
    one_sentence(nothing, "none.safetensors")
    with (folder / "net.nn").open("a") as stream:
        stream.write("// another text\n")
    one_sentence(netsharp(*resume, "--epochs", "4", cwd=folder), "specification")


def test_more_epochs_are_the_same_run(folder: Path) -> None:
    for model, epochs in (("two", "2"), ("four", "4")):
        answer = train(folder, "--quiet", "--epochs", epochs, model=f"{model}.safetensors")
        assert answer.code == 0
    more = ("--quiet", "--epochs", "4", "--resume")
    assert train(folder, *more, model="two.safetensors").code == 0
    assert tensors(folder / "two.safetensors") == tensors(folder / "four.safetensors")


@pytest.mark.filterwarnings("ignore:On training rows")
def test_a_run_of_before_continues_with_the_defaults_it_had(tmp_path: Path) -> None:
    """A file of version 2 knows neither `init` nor a scaled label, and `studio` was the default."""
    text = "input D [2];\nhidden H [3] tanh from D all;\noutput O [1] linear from H all;\n"
    (tmp_path / "n.nn").write_text(text)
    rows = "".join(f"{n % 7},{n % 5},{1000 * (n % 7)}\n" for n in range(40))
    (tmp_path / "t.csv").write_text("a,b,price\n" + rows)
    old, whole = tmp_path / "old.safetensors", tmp_path / "whole.safetensors"
    for path, epochs in ((old, 2), (whole, 4)):
        chosen = {"label": "price", "task": "regression", "learning_rate": 1e-6, "epochs": epochs}
        model = public.train(text, train=tmp_path / "t.csv", host="studio", **chosen)
        public.save(model, path)
    settings = public.load(old).settings.to_json()
    for name in ("scale_label", "init"):
        del settings["values"][name], settings["origins"][name]
    settings["origins"]["host"] = "default"
    rewritten(old, version="2", scale=None, settings=json.dumps(settings))
    run = ("run", "n.nn", "--train", "t.csv", "--label", "price", "--task", "regression")
    run = (*run, "--learning-rate", "1e-6", "--epochs", "4", "--quiet", "--resume")
    assert netsharp(*run, "--model", "old.safetensors", cwd=tmp_path).code == 0
    assert tensors(old) == tensors(whole)


def on_a_terminal(
    folder: Path, columns: int, *arguments: str, stop: bytes = b""
) -> tuple[int, str]:
    """Run on a pseudo-terminal of a number of columns; Ctrl-C once these bytes are seen."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        os.chdir(folder)
        environment = clean_environment() | {"TERM": "xterm-256color"}
        command = [sys.executable, "-m", "netsharp_lsp", *arguments]
        os.execve(sys.executable, command, environment)
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        seen += piece
        if stop and stop in seen:
            os.write(terminal, b"\x03")
            stop = b""
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen.decode()


@pytest.mark.parametrize("columns", [60, 120])
def test_bars_where_a_person_watches(columns: int, folder: Path) -> None:
    code, shown = on_a_terminal(folder, columns, *RUN, "--epochs", "3", "--model", "m.safetensors")
    assert code == 0
    assert "reading" in shown
    assert "epoch 3/3" in shown
    assert "100%" in shown
    assert "\x1b[?25h" in shown, "the cursor is shown again"
    assert "accuracy" in shown
    if columns == 120:
        assert "loss" in shown
        assert "rate 0.005" in shown


def test_ctrl_c_on_a_terminal_saves(folder: Path) -> None:
    code, shown = on_a_terminal(
        folder, 100, *RUN, "--epochs", "5000", "--model", "m.safetensors", stop=b"accuracy"
    )
    assert code == 130
    assert "Stopped after step" in shown
    assert "model: m.safetensors" in shown
    assert "Traceback" not in shown
    assert netsharp("weights", "m.safetensors", cwd=folder).code == 0


def test_no_bar_tears_the_answers_apart(folder: Path) -> None:
    code, shown = on_a_terminal(
        folder, 200, "predict", "digits.safetensors", "--data", "digits.csv", "--rows", "2"
    )
    assert code == 0
    assert shown.startswith("predicted,probability_0")
    assert "\x1b[" not in shown
