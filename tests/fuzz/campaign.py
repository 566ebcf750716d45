"""Runs a fuzzer for a time and a number of inputs, and keeps every input that fails.

A fuzzer is a function that takes a source of chance and yields each text before it checks it,
so that the last text yielded is the culprit. Trial N of a seed is always the same.
"""

from __future__ import annotations

import gc
import random
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from netsharp_lsp.server.turns.memory import THRESHOLDS
from tests.costs import now
from tests.fuzz import bytes as byte_fuzzer
from tests.fuzz import edits, experiments, models, nested, programs

Fuzzer = Callable[[random.Random], Iterator[bytes]]
FUZZERS: dict[str, Fuzzer] = {
    "bytes": byte_fuzzer.trial,
    "programs": programs.trial,
    "edits": edits.trial,
    "experiments": experiments.trial,
    "models": models.trial,
    "nested": nested.trial,
}
#: Where inputs that fail are kept, from the project's folder.
FOLDER = Path(__file__).parents[2] / "out" / "fuzz"
#: CPU seconds for any text and for each of its bytes: ten times the dearest of 6,000 texts.
SECONDS_PER_TEXT, SECONDS_PER_BYTE = 0.4, 1e-4
#: An experiment is checked, described, formatted and migrated, a host formatted several times:
#: the number of texts that each counts as.
WEIGHTS = {"experiments": 8, "models": 2, "nested": 8}
#: How often a trial with a slow text is measured before that is a failure.
TRIES = 3
#: A text that hangs is ended.
SECONDS_PER_TRIAL = 30
#: Objects since the last collection from which on garbage is collected between trials, as the
#: server does between messages: else the text at which that begins pays for all before it.
MOST_YOUNG = THRESHOLDS[0] // 2
#: A campaign that has found so much has found enough.
MOST_FAILURES = 20


class Failure(NamedTuple):
    """An input that failed: of which trial, what it was, and how it failed."""

    trial: int
    text: bytes
    report: str


class Campaign(NamedTuple):
    """What came of a run: trials, texts checked, seconds, failures."""

    trials: int
    inputs: int
    seconds: float
    failures: list[Failure]


def run(name: str, seed: int, seconds: float, inputs: int = 0, only: int | None = None) -> Campaign:
    """Run a fuzzer until both ``seconds`` and ``inputs`` are reached; or one trial only."""
    with collecting_as_the_server_does():
        return _run(name, seed, seconds, inputs, only)


@contextmanager
def collecting_as_the_server_does() -> Iterator[None]:
    """Leave aside what was there before, and collect as seldom as the commands and the server.

    A collection that scans the objects of a text while it is made is not the cost of the text.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _run(name: str, seed: int, seconds: float, inputs: int, only: int | None) -> Campaign:
    started = time.monotonic()
    trial = checked = 0
    failures: list[Failure] = []
    if only is not None:
        checked, failures = _try(name, seed, only)
        return Campaign(1, checked, time.monotonic() - started, failures)
    while time.monotonic() - started < seconds or checked < inputs:
        if gc.get_count()[0] > MOST_YOUNG:
            gc.collect()
        count, failed = _try(name, seed, trial)
        checked += count
        failures += failed
        trial += 1
        if len(failures) >= MOST_FAILURES:
            break
    for failure in failures:
        keep(name, seed, failure)
    return Campaign(trial, checked, time.monotonic() - started, failures)


def _try(name: str, seed: int, trial: int) -> tuple[int, list[Failure]]:
    """Check the texts of a trial; where one is slow, again: other work may have been in its way."""
    for _ in range(TRIES - 1):
        try:
            return _check(name, seed, trial)
        except TooSlowError:
            continue
    try:
        return _check(name, seed, trial)
    except TooSlowError as slow:
        return slow.before, [Failure(trial, slow.text, traceback.format_exc())]


def _check(name: str, seed: int, trial: int) -> tuple[int, list[Failure]]:
    count, text, started = 0, b"", 0.0
    try:
        with time_limit(SECONDS_PER_TRIAL):
            for following in FUZZERS[name](random.Random(f"{name} {seed} {trial}")):
                _check_time(name, text, started, count)
                count, text, started = count + 1, following, now()
            _check_time(name, text, started, count)
    except TooSlowError:
        raise
    except Exception:
        return count, [Failure(trial, text, traceback.format_exc())]
    return count, []


def patience(name: str, text: bytes) -> float:
    """The CPU seconds in which a text of a fuzzer has to be checked."""
    return WEIGHTS.get(name, 1) * (SECONDS_PER_TEXT + SECONDS_PER_BYTE * len(text))


def _check_time(name: str, text: bytes, started: float, count: int) -> None:
    """Raise TooSlowError where a text took too much since then; the first has no predecessor."""
    took = now() - started
    if started and took > patience(name, text):
        raise TooSlowError(text, count, took, patience(name, text))


class TooSlowError(Exception):
    """A text that kept the tool busy beyond all patience, as number `before` of its trial."""

    def __init__(self, text: bytes, before: int, took: float, allowed: float) -> None:
        super().__init__(f"{len(text):,} bytes took {took:.2f} s of {allowed:.2f}")
        self.text = text
        self.before = before


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TooSlowError in the block after some seconds, where signals allow it."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def keep(name: str, seed: int, failure: Failure) -> Path:
    """Write a failing input, and beside it how it failed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}-{seed}-{failure.trial}.nn"
    path.write_bytes(failure.text)
    path.with_suffix(".txt").write_text(failure.report, encoding="utf-8")
    return path


def summary(name: str, seed: int, campaign: Campaign) -> str:
    """One line on a campaign, and how to play each failure again."""
    lines = [
        f"{name}: seed {seed}, {campaign.inputs:,} inputs in {campaign.trials:,} trials, "
        f"{campaign.seconds:.0f} s, {len(campaign.failures)} failures"
    ]
    for failure in campaign.failures:
        last = failure.report.strip().splitlines()[-1]
        again = f"python -m tests.fuzz --fuzzer {name} --seed {seed} --only {failure.trial}"
        lines.append(f"  {last[:200]}\n  again: {again}")
    return "\n".join(lines)
