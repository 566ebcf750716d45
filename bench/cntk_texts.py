"""Reading, checking and formatting of long texts of CNTK's languages.

In one process, CPU time, a fresh text each time; taplo on TOML of as many lines beside it.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping

import cntk_generate
import generate
from measure import Command, headline, in_turns

from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.reading.reader import read
from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_by_id
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.text.lines import LineIndex

#: The id of each language by the suffix of its files.
IDS = {"cntk": "cntk", "bs": "brainscript", "ndl": "ndl", "mel": "mel"}
ROUNDS = {1_000: 3, 10_000: 3, 100_000: 1}
Work = Callable[[bytes], object]


def measure(folder: str, binaries: str) -> bool:
    """Print the rates; the languages' texts have no bound."""
    headline("Long texts of CNTK's languages: CPU seconds and MB/s, medians")
    for lines, rounds in ROUNDS.items():
        for suffix, language_id in IDS.items():
            texts = [cntk_generate.text(suffix, lines, seed) for seed in range(rounds)]
            for name, work in _works(language_id).items():
                _show(lines, f"{language_id} {name}", texts, work)
        _peer(lines, folder, binaries)
    return True


def _works(language_id: str) -> Mapping[str, Work]:
    language = language_by_id(language_id)
    return {
        "parse": parse if language_id == "brainscript" else read,
        "check": lambda text: examine(language, LineIndex(text), Context(), Selection()),
        "format": lambda text: language.format(text, FormatOptions()),
    }


def _show(lines: int, name: str, texts: list[bytes], work: Work) -> None:
    took = []
    for text in texts:
        gc.collect()
        gc.disable()
        started = time.process_time()
        work(text)
        took.append(time.process_time() - started)
        gc.enable()
    seconds, size = statistics.median(took), statistics.median(map(len, texts))
    print(
        f"  {lines:>7,} lines  {name:<20} {seconds:8.3f} s {size / seconds / 1e6:7.3f} MB/s",
        flush=True,
    )


def _peer(lines: int, folder: str, binaries: str) -> None:
    """The same of taplo, a whole process: it is the known formatter of configurations."""
    taplo = os.path.join(binaries, "taplo")
    if not os.path.exists(taplo):
        return
    path = os.path.join(folder, f"peer{lines}.toml")
    with open(path, "wb") as stream:
        stream.write(generate.toml(lines, seed=lines))
    commands = {
        "taplo fmt": Command((taplo, "fmt", "-"), stdin=path),
        "taplo lint": Command((taplo, "lint", "--no-schema", path)),
    }
    size = os.path.getsize(path)
    for name, took in in_turns(commands, 1).items():
        print(
            f"  {lines:>7,} lines  {name:<20} {took.cpu:8.3f} s {size / took.cpu / 1e6:7.3f} MB/s"
        )
