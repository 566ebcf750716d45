"""A run as another program follows it: the lines of its log on stdout, and a stop that keeps."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from netsharp_engine.model import load_model
from netsharp_lsp.netsharp.lower import build_graph
from tests.cli.command_line import clean_environment
from tests.e2e.workshop import LABELLED, QUICK, train

RUN = (*("run", "net.nn", "--train", "digits.csv", *LABELLED), "--model", "listened.safetensors")


def test_the_events_are_the_lines_of_the_log(folder: Path) -> None:
    answer = train(folder, "--events", "--log", "events.jsonl", model="events.safetensors")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (folder / "events.jsonl").read_text()
    kinds = [json.loads(line)["event"] for line in answer.out.splitlines()]
    assert (kinds[0], kinds[-1], kinds.count("epoch")) == ("start", "end", 2)


@pytest.mark.parametrize("asked", [False, True])
def test_a_run_that_no_one_hears_any_more_stops_and_keeps_its_model(
    folder: Path, asked: bool
) -> None:
    """Also where the follower asked it to stop before leaving: that is one request, not two."""
    process = subprocess.Popen(
        [sys.executable, "-m", "netsharp_lsp", *RUN, *QUICK, "--epochs", "100000", "--events"],
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stderr as errors:
        assert b'"start"' in process.stdout.readline()
        if asked:
            for one in (signal.SIGSTOP, signal.SIGINT):
                process.send_signal(one)
        process.stdout.close()
        process.send_signal(signal.SIGCONT)
        message = errors.read().decode()
        process.wait(60)
    assert "Traceback" not in message
    assert "Stopped after step" in message
    model = load_model(folder / "listened.safetensors", build_graph)
    assert model.specification == (folder / "net.nn").read_text()
