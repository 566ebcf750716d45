"""Random typing into a live server, and what a fresh server says of the same text.

Prints its seed; the same seed types the same.  It knows the protocol and nothing of the server.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.collection import SAMPLES
from tests.fuzz.edits import PIECES
from tests.server.wire import Message, Wire

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": True},
        "hover": {"contentFormat": ["markdown"]},
        "semanticTokens": {"requests": {"full": {"delta": True}, "range": True}},
    },
}
#: A text longer than this is replaced by a new one.
LONGEST = 6_000
#: How many edits go by between two rests, at which memory is read.
REST = 1_000
TEXTS = [sample.text.decode("utf-8", "replace") for sample in SAMPLES if len(sample.text) < 4_000]
#: What is asked between edits, at the place of the edit.
QUESTIONS = (
    "hover",
    "completion",
    "signatureHelp",
    "definition",
    "implementation",
    "references",
    "documentHighlight",
    "documentSymbol",
    "foldingRange",
    "inlayHint",
    "codeAction",
    "codeLens",
    "semanticTokens/full",
    "selectionRange",
    "formatting",
)
#: Those of them that are about the whole document.
WHOLE = ("documentSymbol", "foldingRange", "codeLens", "semanticTokens/full")


class Typed(NamedTuple):
    """What a soak saw: memory in MiB by the number of edits, and how often both agreed."""

    edits: int
    requests: int
    comparisons: int
    memory: dict[int, float]
    differences: list[str]


class Document:
    """One open text as the client sees it: UTF-16 positions, LSP's line ends."""

    def __init__(self, uri: str, text: str) -> None:
        self.uri = uri
        self.text = text
        self.version = 1

    def position(self, offset: int) -> dict[str, int]:
        before = self.text[:offset]
        lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return {"line": len(lines) - 1, "character": len(lines[-1].encode("utf-16-le")) // 2}

    def span(self, start: int, end: int) -> dict[str, Any]:
        return {"start": self.position(start), "end": self.position(end)}

    def splits_line_end(self, offset: int) -> bool:
        """Whether an offset is between CR and LF, where no position can be."""
        return self.text[max(0, offset - 1) : offset + 1] == "\r\n"


class Typist:
    """Types into documents of one server; `fresh` answers for a server that saw only the end."""

    def __init__(self, seed: int, fresh: Callable[[Document], dict[str, Any]]) -> None:
        self.chance = random.Random(seed)
        self.fresh = fresh
        self.wire = Wire()
        self.wire.initialize(CAPABILITIES)
        self.documents = [self._open(number) for number in range(3)]
        self.undo: dict[str, str] = {}
        self.requests = 0

    def _open(self, number: int) -> Document:
        document = Document(f"file:///soak/{number}.nn", self.chance.choice(TEXTS))
        self.wire.open(document.uri, document.text)
        self.wire.published(document.uri, 1)
        return document

    def edit(self) -> Document:
        """One edit of one document, its diagnostics awaited."""
        document = self.chance.choice(self.documents)
        how = self.chance.random()
        if how < 0.15 and document.uri in self.undo:
            self._replace(document, 0, len(document.text), self.undo.pop(document.uri))
        elif how < 0.17 or len(document.text) > LONGEST:
            self._replace(document, 0, len(document.text), self.chance.choice(TEXTS))
        else:
            self.undo[document.uri] = document.text
            start = self._place(document)
            end = min(len(document.text), start + self.chance.choice((0, 0, 0, 1, 1, 2, 8, 40)))
            while document.splits_line_end(end):
                end += 1
            self._replace(document, start, end, self._piece(document))
        return document

    def _place(self, document: Document) -> int:
        start = self.chance.randrange(len(document.text) + 1)
        return start + document.splits_line_end(start)

    def _piece(self, document: Document) -> str:
        if self.chance.random() < 0.8:
            return self.chance.choice(PIECES)
        at = self.chance.randrange(len(document.text) + 1)
        return document.text[at : at + self.chance.randint(1, 60)]

    def _replace(self, document: Document, start: int, end: int, piece: str) -> None:
        change = {"range": document.span(start, end), "text": piece}
        document.text = document.text[:start] + piece + document.text[end:]
        document.version += 1
        self.wire.send(self.wire.change(document.uri, document.version, change))
        self.wire.published(document.uri, document.version)

    def ask(self, document: Document) -> None:
        """Something that an editor asks, somewhere; an error fails the soak."""
        question = self.chance.choice(QUESTIONS)
        offset = self._place(document)
        self.wire.request(f"textDocument/{question}", parameters(question, document, offset))
        self.requests += 1

    def compare(self, document: Document) -> str | None:
        """What differs between this server's answers and a fresh one's; None where nothing."""
        ours, theirs = answers(self.wire, document), self.fresh(document)
        for name in ours:
            if ours[name] != theirs[name]:
                return f"{name} of {document.text!r}:\n{ours[name]}\n{theirs[name]}"
        return None

    def memory(self) -> float:
        status = Path(f"/proc/{self.wire.process.pid}/status").read_text(encoding="utf-8")
        (row,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(row.split()[1]) / 1024


def parameters(question: str, document: Document, offset: int) -> dict[str, Any]:
    """What a request about a place takes."""
    position = document.position(offset)
    found: dict[str, Any] = {"textDocument": {"uri": document.uri}}
    if question == "codeAction":
        found |= {"range": {"start": position, "end": position}, "context": {"diagnostics": []}}
    elif question == "inlayHint":
        found["range"] = document.span(0, len(document.text))
    elif question == "selectionRange":
        found["positions"] = [position]
    elif question == "formatting":
        found["options"] = {"tabSize": 2, "insertSpaces": True}
    elif question not in WHOLE:
        found["position"] = position
    if question == "references":
        found["context"] = {"includeDeclaration": True}
    return found


def answers(wire: Wire, document: Document) -> dict[str, Any]:
    """Diagnostics, hover at several places, and tokens of a document."""
    places = range(0, len(document.text) + 1, max(1, len(document.text) // 5))
    hovers = [
        wire.request("textDocument/hover", parameters("hover", document, offset))
        for offset in places
        if not document.splits_line_end(offset)
    ]
    tokens = wire.request(
        "textDocument/semanticTokens/full", {"textDocument": {"uri": document.uri}}
    )
    return {
        "diagnostics": last_published(wire, document.uri),
        "hovers": hovers,
        "tokens": tokens["data"],
    }


def last_published(wire: Wire, uri: str) -> list[Message]:
    for heard in reversed(wire.heard):
        if heard.get("method") == "textDocument/publishDiagnostics":
            params = heard["params"]
            if params["uri"] == uri:
                found: list[Message] = params["diagnostics"]
                return found
    return []


class Fresh:
    """A server that has never seen an edit; replaced by another after some answers."""

    LIFE = 20

    def __init__(self) -> None:
        self.wire: Wire | None = None
        self.used = 0

    def __call__(self, document: Document) -> dict[str, Any]:
        if self.wire is None or self.used == self.LIFE:
            self.stop()
            self.wire = Wire()
            self.wire.initialize(CAPABILITIES)
            self.used = 0
        self.used += 1
        self.wire.heard.clear()
        self.wire.open(document.uri, document.text)
        self.wire.published(document.uri, 1)
        found = answers(self.wire, document)
        self.wire.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
        return found

    def stop(self) -> None:
        if self.wire is not None:
            assert self.wire.stop() == 0
            self.wire = None


def soak(edits: int, comparisons: int, seed: int) -> Typed:
    """Type so often, compare so often; the servers must end cleanly."""
    fresh = Fresh()
    typist = Typist(seed, fresh)
    memory: dict[int, float] = {}
    differences: list[str] = []
    every = max(1, edits // comparisons)
    compared = 0
    for number in range(1, edits + 1):
        document = typist.edit()
        if typist.chance.random() < 0.3:
            typist.ask(document)
        if number % every == 0:
            compared += 1
            found = typist.compare(document)
            if found is not None:
                differences.append(f"after {number} edits with seed {seed}: {found}")
        if number % REST == 0:
            memory[number] = typist.memory()
            del typist.wire.heard[:-200]
    assert typist.wire.stop() == 0
    fresh.stop()
    return Typed(edits, typist.requests, compared, memory, differences)
