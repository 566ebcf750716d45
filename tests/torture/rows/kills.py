"""Kills: a process that is ended at any moment leaves files whole, and the next run cleans up."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.torture import training
from tests.torture.campaign import Report, Row, Try
from tests.torture.process import contents, faults, leftovers, netsharp, start, torn
from tests.torture.workshop import REWRITING, rewritten

#: Seconds within which the processes that a killed one had started end by themselves.
ORPHANS = 5.0


def attempt(one: Try) -> Report:
    """Kill a training, or a command that rewrites files, at a moment of its life."""
    chosen = one.number % (len(REWRITING) + 2)
    if chosen < len(REWRITING):
        return Report(1, _rewriting(one, list(REWRITING)[chosen]))
    return Report(1, _training(one))


def _rewriting(one: Try, command: tuple[str, ...]) -> list[str]:
    done, before, after = rewritten(command)
    REWRITING[command](one.folder)
    child = start(*command, cwd=one.folder)
    child.passed(one.chance.uniform(0.02, done.wall * 1.1))
    child.signal(signal.SIGKILL, group=one.chance.random() < 0.5)
    child.end()
    found = []
    if child.survivors(ORPHANS):
        found.append(f"{child.ended}: its processes outlive it")
    found += torn(before, after, one.folder)
    again = netsharp(*command, cwd=one.folder)
    found += faults(again, {done.code, 0})
    if contents(one.folder) != after:
        found += leftovers(one.folder, before, after)
        found += _unlike(one.folder, after)
    return found


def _unlike(folder: Path, after: dict[str, bytes]) -> list[str]:
    now = contents(folder)
    return [f"{name}: not as it becomes" for name in after if now.get(name) != after[name]]


def _training(one: Try) -> list[str]:
    _, seconds = training.undisturbed()
    child = training.begin(one.folder)
    child.passed(one.chance.uniform(0.05, seconds * 1.05))
    child.signal(signal.SIGKILL)
    child.end()
    return training.go_on(one.folder)


ROW = Row(
    "kills",
    "SIGKILL at any moment of fmt, check --fix, migrate --write and run: every file is old or new, "
    "the next run cleans up, a resumed training ends with the same bits",
    attempt,
)
