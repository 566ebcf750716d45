"""Signals: what is asked to end ends soon, says how, and has saved what it had."""

from __future__ import annotations

import signal

from tests.torture import training
from tests.torture.campaign import Report, Row, Try
from tests.torture.process import BY_DEFAULT, Ended, contents, faults, start, torn
from tests.torture.workshop import furnish, write_ugly

EXITS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
#: Before this moment Python itself starts, and nothing of ours has run.
STARTED = 0.03
#: Seconds after Ctrl-C within which a command ends, even beside other work.
SOON = 5.0
BRIEF = (
    ("check", "."),
    ("check", "net.nn"),
    ("fmt", "--check", "."),
    ("describe", "net.nn"),
    ("describe", "net.nn", "--format", "json"),
    ("predict", "digits.safetensors", "--data", "digits.csv", "--output", "p.csv"),
    ("evaluate", "digits.safetensors", "--data", "digits.csv", "--label", "digit"),
    ("explain", "NS001"),
)


def attempt(one: Try) -> Report:
    """Send a signal to a training, or to a command in its first second."""
    number = list(EXITS)[one.number % len(EXITS)]
    if one.number % 2 == 0:
        return Report(1, _training(one, number))
    return Report(1, _brief(one, number))


def _training(one: Try, number: signal.Signals) -> list[str]:
    """At the latest moment when it is sure to be training still, the signal must save."""
    _, seconds = training.undisturbed()
    child = training.begin(one.folder)
    log = one.folder / training.LOG
    saves = child.reached(lambda: log.exists() and b'"epoch"' in log.read_bytes())
    saves = saves and child.passed(child.age + one.chance.uniform(0, seconds / 3))
    child.signal(number)
    ended = child.end(SOON * 4)
    if not saves or ended.code == 0:
        return faults(ended, {0})
    # After the training has logged its end and written the model, the system handles the signal.
    over = b'"end"' in log.read_bytes().splitlines()[-1]
    if over and ended.code == -signal.SIGINT:
        ended.code = EXITS[signal.SIGINT]
    found = faults(_reported(ended) if over else ended, {EXITS[number]})
    if not (one.folder / training.MODEL).exists():
        return [*found, f"{ended}: nothing was saved"]
    return found + training.go_on(one.folder)


def _brief(one: Try, number: signal.Signals) -> list[str]:
    furnish(one.folder)
    write_ugly(one.folder)
    before = contents(one.folder)
    child = start(*one.chance.choice(BRIEF), cwd=one.folder)
    runs = child.passed(one.chance.uniform(STARTED, 1.0))
    child.signal(number)
    age = child.age
    ended = child.end(SOON * 4)
    found = faults(
        _reported(ended), {EXITS[number]} if runs and ended.code not in (0, 1) else {0, 1}
    )
    if ended.wall - age > SOON:
        found.append(f"{ended}: went on for {ended.wall - age:.1f} s")
    if child.survivors(SOON):
        found.append(f"{ended}: its processes outlive it")
    return found + torn(before, before, one.folder)


def _reported(ended: Ended) -> Ended:
    """An end by a signal's default action as a shell reports it.

    Ctrl-C before our code runs is handled by Python, and that is not checked.
    """
    if ended.code < 0:
        ended.code = BY_DEFAULT.get(signal.Signals(-ended.code), ended.code)
    if ended.code in (1, -signal.SIGINT) and b"KeyboardInterrupt" in ended.err:
        ended.code = 130
    return ended


ROW = Row(
    "signals",
    "SIGINT, SIGTERM and SIGHUP to run (130, 143, 129; saved, and resumed with the same bits) and "
    "to check, fmt, describe, predict and evaluate in their first second (soon, no traceback)",
    attempt,
)
