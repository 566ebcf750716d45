"""Formatting and checking of long texts: whole processes beside black and taplo, and the floors.

Every file is generated with a seed of its own, so that nobody can have met it before.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import generate
from measure import Command, headline, in_turns, verdict

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_by_id
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.text.lines import LineIndex

ROUNDS = {1_000: 5, 10_000: 3, 100_000: 1}
#: black needs seconds for 1,000 lines.
SLOW_ROUNDS = {1_000: 3, 10_000: 1}
IN_PROCESS_ROUNDS = 3
SHORT, LONG = 10_000, 100_000
LINEAR = 11
UNTIDY_FLOORS = {"fmt with self-check": 1.0, "check": 0.5}
MAKERS = {"nn": generate.netsharp, "py": generate.python, "toml": generate.toml}


def measure(folder: str, binaries: str) -> bool:
    """Print the figures; whether every bound is met."""
    headline("Throughput of whole processes, cold, reading a file: CPU seconds and MB/s")
    for lines in ROUNDS:
        _beside_peers(lines, folder, binaries)
    return _floors()


def _beside_peers(lines: int, folder: str, binaries: str) -> None:
    files = {}
    for suffix, make in (
        ("nn", generate.netsharp),
        ("py", generate.python),
        ("toml", generate.toml),
    ):
        files[suffix] = os.path.join(folder, f"long{lines}.{suffix}")
        with open(files[suffix], "wb") as stream:
            stream.write(make(lines, seed=lines))
    netsharp = os.path.join(binaries, "netsharp")
    commands = {
        "netsharp fmt": Command((netsharp, "fmt", "-"), stdin=files["nn"]),
        "netsharp check": Command((netsharp, "check", files["nn"]), lawful=(0, 1)),
    }
    taplo = os.path.join(binaries, "taplo")
    if os.path.exists(taplo):
        commands["taplo fmt"] = Command((taplo, "fmt", "-"), stdin=files["toml"])
        commands["taplo lint"] = Command((taplo, "lint", "--no-schema", files["toml"]))
    found = in_turns(commands, ROUNDS[lines])
    black = os.path.join(binaries, "black")
    if lines in SLOW_ROUNDS and os.path.exists(black):
        words = (black, "--quiet", "-")
        found |= in_turns({"black": Command(words, stdin=files["py"])}, SLOW_ROUNDS[lines])
    for name, took in found.items():
        suffix = {"netsharp": "nn", "taplo": "toml", "black": "py"}[name.split()[0]]
        size = os.path.getsize(files[suffix])
        print(
            f"  {lines:>7,} lines  {name:<15} {size / lines:4.0f} bytes a line "
            f"{took.cpu:8.3f} s {size / took.cpu / 1e6:7.3f} MB/s",
            flush=True,
        )


def _floors() -> bool:
    headline(f"Floors, in one process, CPU time, medians of {IN_PROCESS_ROUNDS} distinct texts")
    netsharp = language_by_id("netsharp")

    def check(text: bytes) -> object:
        return examine(netsharp, LineIndex(text), Context(), Selection())

    works: dict[str, tuple[Callable[[bytes], object], float | None]] = {
        "fmt without self-check": (
            lambda text: netsharp.format(text, FormatOptions(self_check=False)),
            1.0,
        ),
        "fmt with self-check": (
            lambda text: netsharp.format(text, FormatOptions(self_check=True)),
            0.6,
        ),
        "check": (check, None),
    }
    met = True
    texts = [
        {lines: generate.netsharp(lines, seed) for lines in (SHORT, LONG)}
        for seed in range(IN_PROCESS_ROUNDS)
    ]
    for name, (work, floor) in works.items():
        rate, growth = _rate_and_growth(work, texts)
        if floor is None:
            print(f"  {name + ', MB/s at 100,000 lines':<46} {rate:8.2f}  (no bound)")
        else:
            met &= verdict(f"{name}, MB/s at 100,000 lines", rate, floor, at_most=False)
        met &= verdict(f"{name}, 100,000 lines / 10,000", growth, LINEAR, at_most=True)
    return met & _untidy_floors(works)


def _untidy_floors(works: Mapping[str, tuple[Callable[[bytes], object], float | None]]) -> bool:
    """The rates at texts of 10,000 lines in short blocks, as people leave them."""
    met = True
    texts = [generate.untidy(SHORT, seed) for seed in range(IN_PROCESS_ROUNDS)]
    for name, floor in UNTIDY_FLOORS.items():
        work = works[name][0]
        work(generate.untidy(100))
        rate = statistics.median(len(text) / _seconds(work, text) / 1e6 for text in texts)
        met &= verdict(f"{name}, untidy, MB/s", rate, floor, at_most=False)
    return met


def _rate_and_growth(
    work: Callable[[bytes], object], texts: Sequence[Mapping[int, bytes]]
) -> tuple[float, float]:
    """Median MB/s of the long texts, and how often the short one's time a long one takes.

    The short text is timed before and after the long one, so that both sides of the quotient
    see the same machine.
    """
    rates, growths = [], []
    # As the command line does: what is made lives until the process ends.
    gc.disable()
    try:
        for text in texts:
            before, long, after = (_seconds(work, text[n]) for n in (SHORT, LONG, SHORT))
            rates.append(len(text[LONG]) / long / 1e6)
            growths.append(long / ((before + after) / 2))
    finally:
        gc.enable()
    return statistics.median(rates), statistics.median(growths)


def _seconds(work: Callable[[bytes], object], text: bytes) -> float:
    started = time.process_time()
    work(text)
    took = time.process_time() - started
    gc.collect()
    return took
