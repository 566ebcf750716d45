"""Checking a folder of CNTK experiments, cold, in two processes."""

from __future__ import annotations

import os
import shutil

from cntk_folder import CONFIGURATIONS, write_folder
from measure import Command, headline, in_turns, verdict

ROUNDS = 3
#: Seconds for the whole folder, and the configurations with a network that it holds at least.
MOST_SECONDS = 5.0
LEAST_BUILT = 100


def measure(folder: str, binaries: str) -> bool:
    """Print the figures; whether the bound is met."""
    place = os.path.join(folder, "experiments")
    built = write_folder(place)
    headline(f"A folder of {CONFIGURATIONS} configurations, {built} of them with a builder, cold")
    netsharp = os.path.join(binaries, "netsharp")
    # There are only texts: commands that read models and data report it, which is not a failure.
    check = Command((*_pinned(), netsharp, "check", "--isolated", place), lawful=(0, 1))
    took = in_turns({"check": check}, ROUNDS)["check"]
    print(f"  {took.cpu:.2f} s of CPU, {CONFIGURATIONS / took.wall:.0f} configurations a second")
    met = verdict("check, wall, two processes", took.wall, MOST_SECONDS, at_most=True, unit=" s")
    return met and built >= LEAST_BUILT


def _pinned() -> tuple[str, ...]:
    """What keeps a command on two processors, where that can be said."""
    if shutil.which("taskset") is None or not hasattr(os, "sched_getaffinity"):
        return ()
    processors = sorted(os.sched_getaffinity(0))[:2]
    return ("taskset", "--cpu-list", ",".join(map(str, processors)))
