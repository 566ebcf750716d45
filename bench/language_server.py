"""Keystroke to diagnostics, hover, completion, start and memory of the language server.

Edits come in pairs, the second undoes the first: half put a letter into a name behind `from`,
half delete a bracket or a semicolon, which breaks the text.  Each waits for the diagnostics of
its own version.  `ruff server` does the same on Python text of the same length, in the same run.
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import time
from pathlib import Path
from typing import NamedTuple

import generate
from lsp_client import Client
from measure import Command, cost, headline, left_out, verdict

SIZES = (1_000, 10_000, 100_000)
EDITS = {1_000: 200, 10_000: 200, 100_000: 100}
QUESTIONS = 60
#: Milliseconds from a keystroke to its diagnostics: median and 99th percentile.
BOUNDS = {1_000: (5, 20), 10_000: (20, 60), 100_000: (80, 250)}
ANSWER_BOUND = 50
MEMORY_BOUND = 250
START_BOUND = 1.3
START_ROUNDS = 15
SEED = 4
MARKS = re.compile(rb"[][(){};]")


class Subject(NamedTuple):
    """A text, how its language is called, and where names are used in it."""

    text: bytes
    suffix: str
    language: str
    use: re.Pattern[bytes]


class Figures(NamedTuple):
    """What one server did on one text; times in milliseconds, memory in MiB.

    `cpu`: processor time of the server for one edit, its half of the talk included.
    """

    median: float
    late: float
    hover: float
    completion: float
    opened: float
    peak: float
    seen: int
    edits: int
    cpu: float


def netsharp(lines: int) -> Subject:
    """Net# of some length, as the other figures use it."""
    return Subject(generate.netsharp(lines, lines), ".nn", "netsharp", re.compile(rb"from +(\w+)"))


def flawed(lines: int) -> Subject:
    """The same with two findings in each block, which stand there while a person types."""
    sound = netsharp(lines)
    return sound._replace(text=generate.flawed(sound.text))


def python(lines: int) -> Subject:
    """Python of the same length, for ruff."""
    return Subject(generate.python(lines, lines), ".py", "python", re.compile(rb"len\( *(\w+)"))


def measure(folder: str, binaries: str) -> bool:
    """Print the figures; whether every bound is met."""
    server = (os.path.join(binaries, "netsharp"), "lsp")
    met = _start(folder, binaries)
    headline("Keystroke to diagnostics, real process over pipes: wall milliseconds")
    found = {lines: keystrokes(server, folder, netsharp(lines), EDITS[lines]) for lines in SIZES}
    standing = {lines: keystrokes(server, folder, flawed(lines), EDITS[lines]) for lines in SIZES}
    for what, row in (("", found), (", two findings a block", standing)):
        for lines, figures in row.items():
            _show("netsharp lsp", lines, figures)
            for which, value, bound in zip(
                ("median", "99 %"), (figures.median, figures.late), BOUNDS[lines], strict=True
            ):
                name = f"{lines:,} lines{what}, {which}"
                met &= verdict(name, value, bound, at_most=True, unit=" ms")
    middle, long = found[10_000], found[100_000]
    for name, value in (("hover", middle.hover), ("completion", middle.completion)):
        what = f"{name} at 10,000 lines, 99 %"
        met &= verdict(what, value, ANSWER_BOUND, at_most=True, unit=" ms")
    what = "peak memory at 100,000 lines"
    met &= verdict(what, long.peak, MEMORY_BOUND, at_most=True, unit=" MiB")
    return _beside_ruff(folder, binaries, long) and met


def _start(folder: str, binaries: str) -> bool:
    headline(f"Start to the answer to `initialize`: medians of {START_ROUNDS} turns, wall")
    bare, ours = [], []
    python = os.path.join(binaries, "python")
    for _ in range(START_ROUNDS):
        bare.append(cost(Command((python, "-c", "import pygls.lsp.server"))).wall)
        client = Client((os.path.join(binaries, "netsharp"), "lsp"), folder)
        ours.append(client.initialize())
        client.close()
    base, start = statistics.median(bare), statistics.median(ours)
    print(f"  import pygls.lsp.server {base * 1e3:6.0f} ms, netsharp lsp {start * 1e3:6.0f} ms")
    return verdict("times the bare import", start / base, START_BOUND, at_most=True)


def _beside_ruff(folder: str, binaries: str, ours: Figures) -> bool:
    ruff = os.path.join(binaries, "ruff")
    if not os.path.exists(ruff):
        left_out("ruff server", "it is not installed")
        return False
    figures = keystrokes((ruff, "server"), folder, python(100_000), EDITS[100_000])
    _show("ruff server", 100_000, figures)
    ahead = verdict(
        "netsharp / ruff at 100,000 lines, median", ours.median / figures.median, 1, at_most=True
    )
    behind = ours.late / figures.late
    return verdict("netsharp / ruff at 100,000 lines, 99 %", behind, 1, at_most=True) and ahead


def _show(name: str, lines: int, figures: Figures) -> None:
    print(
        f"  {name:<13} {lines:>7,} lines  open {figures.opened:6.0f}  median {figures.median:6.1f}"
        f"  CPU {figures.cpu:5.1f}"
        f"  99 % {figures.late:6.1f}  hover {figures.hover:5.1f}  completion"
        f" {figures.completion:5.1f}  peak {figures.peak:4.0f} MiB"
        f"  faults seen {figures.seen}/{figures.edits}",
        flush=True,
    )


def keystrokes(words: tuple[str, ...], folder: str, subject: Subject, edits: int) -> Figures:
    """Open a text in a server of its own, type into it, ask about it."""
    chance = random.Random(SEED)
    path = Path(folder, f"typed{subject.suffix}")
    path.write_bytes(subject.text)
    client = Client(words, folder)
    client.initialize()
    typist = _Typist(client, path.as_uri(), subject)
    opened = typist.open()
    # The server's idle work after opening is not part of a keystroke.
    time.sleep(1)
    before = client.processor()
    for number in range(edits // 2):
        typist.pair(chance, soft=number % 2 == 0)
    cpu = (client.processor() - before) * 1e3 / len(typist.times)
    peak = client.memory()[1]
    hover = typist.ask("textDocument/hover", chance)
    completion = typist.ask("textDocument/completion", chance)
    client.close()
    times = sorted(typist.times)
    return Figures(
        statistics.median(times),
        _late(times),
        _late(hover),
        _late(completion),
        opened,
        peak,
        typist.seen,
        edits // 2,
        cpu,
    )


class _Typist:
    """Types into one document, waits for diagnostics, and keeps the times."""

    def __init__(self, client: Client, uri: str, subject: Subject) -> None:
        self.client = client
        self.uri = uri
        self.subject = subject
        self.rows = subject.text.split(b"\n")
        self.version = 1
        self.times: list[float] = []
        self.seen = 0
        self.uses = [
            (row, found.end(1))
            for row, line in enumerate(self.rows)
            for found in subject.use.finditer(line)
        ]
        self.marks = [
            (row, found.start())
            for row, line in enumerate(self.rows)
            for found in MARKS.finditer(line)
        ]

    def open(self) -> float:
        document = {
            "uri": self.uri,
            "languageId": self.subject.language,
            "version": 1,
            "text": self.subject.text.decode(),
        }
        at = self.client.notify("textDocument/didOpen", {"textDocument": document})
        return (self.client.published(self.uri, 1).at - at) * 1e3

    def pair(self, chance: random.Random, *, soft: bool) -> None:
        """An edit and the one that undoes it."""
        row, column = chance.choice(self.uses if soft else self.marks)
        if soft:
            found = self.replace(row, column, 0, "q")
            self.replace(row, column, 1, "")
        else:
            mark = self.rows[row][column : column + 1].decode()
            found = self.replace(row, column, 1, "")
            self.replace(row, column, 0, mark)
        here = [one for one in found if one["range"]["start"]["line"] == row]
        self.seen += bool(here if soft else found)

    def replace(self, row: int, column: int, length: int, text: str) -> list[dict[str, object]]:
        self.version += 1
        start = {"line": row, "character": column}
        end = {"line": row, "character": column + length}
        params = {
            "textDocument": {"uri": self.uri, "version": self.version},
            "contentChanges": [{"range": {"start": start, "end": end}, "text": text}],
        }
        at = self.client.notify("textDocument/didChange", params)
        received = self.client.published(self.uri, self.version)
        self.times.append((received.at - at) * 1e3)
        found: list[dict[str, object]] = received.message["params"]["diagnostics"]
        return found

    def ask(self, method: str, chance: random.Random) -> list[float]:
        """Milliseconds of a question at places chosen by chance, in order of size."""
        places = chance.sample(self.uses, min(QUESTIONS, len(self.uses)))
        times = []
        for row, column in places:
            position = {"line": row, "character": column - 1}
            document = {"uri": self.uri}
            params = {"textDocument": document, "position": position}
            try:
                took, _ = self.client.request(method, params)
            except RuntimeError as error:
                if "-32601" in str(error):  # a peer that does not offer it
                    return [float("nan")]
                raise
            times.append(took * 1e3)
        return sorted(times)


def _late(times: list[float]) -> float:
    return times[min(len(times) - 1, int(len(times) * 0.99))]


def main() -> None:
    """Measure a server on one file of one's own: FILE LANGUAGE PATTERN COMMAND..."""
    import sys
    import tempfile

    path, language, pattern, *words = sys.argv[1:]
    text = Path(path).read_bytes()
    subject = Subject(text, Path(path).suffix, language, re.compile(pattern.encode()))
    with tempfile.TemporaryDirectory() as folder:
        figures = keystrokes(tuple(words), folder, subject, EDITS[10_000])
    print(json.dumps(figures._asdict()))


if __name__ == "__main__":
    main()
