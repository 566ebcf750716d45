"""What every request costs that an editor sends by itself after a keystroke, in each language.

`python -m bench.requests [--lines N ...] [--languages WORD ...] [--requests WORD ...] [--edits N]`
prints milliseconds of processor time, median and 99 %, beside the bounds that hold for each.  A
server without a process around it gets the messages in the order in which an editor sends them: a
letter is put behind a name and taken out again, then comes each request, its answer written as it
goes over the wire.  Each text is sound, and once more has two findings in each block.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import re
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from bench import cntk_generate, generate
from netsharp_lsp.server.answers.publishing import publish
from netsharp_lsp.server.session import Session
from netsharp_lsp.server.transport.frames import Inbox
from netsharp_lsp.server.transport.outbox import Standing
from netsharp_lsp.server.transport.protocol import Server
from netsharp_lsp.server.turns.dispatch import Dispatcher

SEED = 29
#: Lines that a person sees at once.
SCREEN = 50
#: Milliseconds at the median and at 99 %, by the lines of the text.
BOUNDS = {1_000: (5, 20), 10_000: (20, 60), 100_000: (80, 250)}
#: The client's capabilities: it shows everything, and asks for the outline as a tree.
ABILITIES = {
    "textDocument": {
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": True},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "foldingRange": {"lineFoldingOnly": True},
        "completion": {"completionItem": {"snippetSupport": True}},
    }
}
USE = re.compile(rb"[A-Za-z]+\d+")


class Subject(NamedTuple):
    """A language as it is measured: its id, the suffix of its files, and what makes its texts."""

    language: str
    suffix: str
    sound: Callable[..., bytes]
    flawed: Callable[[bytes], bytes]


def _cntk(language: str, suffix: str) -> Subject:
    """A language of CNTK in a file of its own."""
    sound = partial(cntk_generate.text, suffix, seed=SEED)
    return Subject(language, suffix, sound, partial(cntk_generate.flawed, suffix))


def _inside(suffix: str) -> Subject:
    """A network of a language in a configuration."""
    sound = partial(cntk_generate.inside, suffix, seed=SEED)
    return Subject("cntk", "cntk", sound, partial(cntk_generate.flawed, suffix))


SUBJECTS = {
    "nn": Subject("netsharp", "nn", generate.netsharp, generate.flawed),
    "cntk": _cntk("cntk", "cntk"),
    "cntk+bs": _inside("bs"),
    "cntk+ndl": _inside("ndl"),
    "bs": _cntk("brainscript", "bs"),
    "ndl": _cntk("ndl", "ndl"),
    "mel": _cntk("mel", "mel"),
}


class Mailbox:
    """Takes messages that are written, and keeps the last."""

    last = b""

    def write(self, data: bytes, standing: Standing) -> None:
        self.last = data


class Editor:
    """A document in a server of this process, and what is asked of it at each keystroke."""

    def __init__(self, language: str, suffix: str, text: bytes) -> None:
        server, self.mailbox = Server(), Mailbox()
        server.protocol.outbox = self.mailbox
        inbox = Inbox(asyncio.get_running_loop())
        self.session = Session(server, inbox)
        self.session.begin({"capabilities": ABILITIES})
        self.dispatcher = Dispatcher(self.session, inbox)
        self.uri = f"file:///nowhere/typed.{suffix}"
        self.version = 1
        self.number = 0
        document = {"uri": self.uri, "languageId": language, "version": 1, "text": text.decode()}
        self._notify("textDocument/didOpen", {"textDocument": document})

    def change(self, row: int, column: int, length: int, text: str) -> None:
        """Send a change; its text is read as far as nobody has to ask first."""
        self.version += 1
        ends = ({"line": row, "character": at} for at in (column, column + length))
        self._notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri, "version": self.version},
                "contentChanges": [
                    {"range": dict(zip(("start", "end"), ends, strict=True)), "text": text}
                ],
            },
        )
        assert self.session.documents[self.uri].views

    def judge(self) -> None:
        """Send the diagnostics of the newest version."""
        publish(self.session, self.uri)

    def ask(self, method: str, **more: object) -> None:
        """Send a request about the document; its answer is read when somebody looks."""
        self.number += 1
        params = {"textDocument": {"uri": self.uri}, **more}
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.dispatcher.handle(message)

    @property
    def answer(self) -> Any:
        """The result of the last request; RuntimeError where it was refused."""
        message = json.loads(self.mailbox.last.partition(b"\r\n\r\n")[2])
        if "result" not in message:
            raise RuntimeError(f"no answer: {message}")
        return message["result"]

    def _notify(self, method: str, params: object) -> None:
        self.dispatcher.handle({"jsonrpc": "2.0", "method": method, "params": params})


def at(row: int, column: int) -> dict[str, int]:
    """A position as the protocol has it."""
    return {"line": row, "character": column}


def screen(row: int) -> dict[str, dict[str, int]]:
    """The lines that a person sees around a row."""
    return {"start": at(max(0, row - SCREEN // 2), 0), "end": at(row + SCREEN // 2, 0)}


def _asks(method: str, *, where: str = "") -> Callable[[Editor, int, int], None]:
    """What sends a request about the whole text, or `where` a keystroke was."""

    def ask(editor: Editor, row: int, column: int) -> None:
        more = {"position": at(row, column), "range": screen(row)}
        chosen = {where: more[where]} if where else {}
        editor.ask(f"textDocument/{method}", **chosen)

    return ask


def _recoloured(editor: Editor, row: int, column: int) -> None:
    """Ask what changed in the tokens of the whole text."""
    known = editor.session.tokens.get(editor.uri)
    previous = known[0] if known is not None else "0"
    editor.ask("textDocument/semanticTokens/full/delta", previousResultId=previous)


#: The requests of an editor after a change, in order: those that a person waits for come first.
REQUESTS: dict[str, Callable[[Editor, int, int], None]] = {
    "colours": _asks("semanticTokens/range", where="range"),
    "completion": _asks("completion", where="position"),
    "signature": _asks("signatureHelp", where="position"),
    "highlight": _asks("documentHighlight", where="position"),
    "outline": _asks("documentSymbol"),
    "folds": _asks("foldingRange"),
    "all colours": _recoloured,
    "judge": lambda editor, row, column: editor.judge(),
    "hints": _asks("inlayHint", where="range"),
    "lenses": _asks("codeLens"),
}


def main() -> None:
    """Measure each language and length of text, and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--lines", type=int, nargs="+", default=[*BOUNDS])
    arguments.add_argument("--languages", nargs="+", choices=SUBJECTS, default=[*SUBJECTS])
    arguments.add_argument("--requests", nargs="+", choices=REQUESTS, default=[*REQUESTS])
    arguments.add_argument("--edits", type=int, default=10, help="letters that are typed")
    given = arguments.parse_args()
    for lines, name in product(given.lines, given.languages):
        subject = SUBJECTS[name]
        sound = subject.sound(lines=lines)
        for what, text in (("sound", sound), ("flawed", subject.flawed(sound))):
            found = asyncio.run(measured(subject, text, given.requests, given.edits))
            for request, times in found.items():
                _show(f"{lines:>7} {name:9}{what:7}{request:12}", times, lines)


def _show(what: str, times: list[float], lines: int) -> None:
    ordered = sorted(times)
    median, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    bounds = BOUNDS.get(lines)
    met = bounds is None or (median <= bounds[0] and late <= bounds[1])
    print(f"{what}{median:10.1f}{late:10.1f}  {'' if met else 'NOT met'}".rstrip(), flush=True)


async def measured(
    subject: Subject, text: bytes, requests: list[str], edits: int
) -> dict[str, list[float]]:
    """Milliseconds of each request by its name, the change first; cycles are collected between."""
    chance = random.Random(SEED)
    editor = Editor(subject.language, subject.suffix, text)
    rows = text.split(b"\n")
    places = [(row, one.end()) for row, line in enumerate(rows) for one in USE.finditer(line)]
    if "judge" in requests:
        editor.judge()
    times: dict[str, list[float]] = {name: [] for name in ("change", *requests)}
    for _ in range(edits):
        row, column = chance.choice(places)
        for length, letter in ((0, "q"), (1, "")):
            typed = column + len(letter)
            typing = partial(editor.change, row, column, length, letter)
            works: list[tuple[str, Callable[[], object]]] = [("change", typing)]
            works += [
                (name, partial(REQUESTS[name], editor, row, typed))
                for name in REQUESTS
                if name in requests
            ]
            for name, work in works:
                times[name].append(_spent(work))
    return times


def _spent(work: Callable[[], object]) -> float:
    """Milliseconds of processor time."""
    gc.collect()
    gc.disable()
    started = time.process_time()
    work()
    taken = time.process_time() - started
    gc.enable()
    return 1e3 * taken


if __name__ == "__main__":
    main()
