"""The network that protocol tests open, and where its words stand."""

from __future__ import annotations

from itertools import count

from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

NETWORK = """\
const Unused = 3;
input Image [29, 29];
hidden Edges [5, 13, 13] rlinear from Image convolve {
  InputShape = [29, 29];
  KernelShape = [5, 5];
  Stride = [2, 2];
  MapCount = 5;
}
hidden Middle [100] from Edges all;
// https://example.org/network
output Digit [10] softmax from Middle all;
"""
LINES = NETWORK.split("\n")
_NUMBERS = count(1)


def at(word: str, line: int | None = None, after: int = 1) -> lsp.Position:
    """The position `after` characters into a word, on the first line that has it or on one."""
    row = line if line is not None else next(n for n, text in enumerate(LINES) if word in text)
    return lsp.Position(row, LINES[row].index(word) + after)


def span(word: str, line: int | None = None) -> lsp.Range:
    """The range of a word."""
    return lsp.Range(at(word, line, 0), at(word, line, len(word)))


def everything() -> lsp.Range:
    return lsp.Range(lsp.Position(0, 0), lsp.Position(len(LINES), 0))


def opened(
    client: LanguageClient, text: str = NETWORK, language: str = "netsharp", suffix: str = ".nn"
) -> lsp.TextDocumentIdentifier:
    """Open a document of its own in a client."""
    uri = f"file:///nowhere/document{next(_NUMBERS)}{suffix}"
    item = lsp.TextDocumentItem(uri, language, 1, text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    return lsp.TextDocumentIdentifier(uri)


async def published(
    client: LanguageClient, document: lsp.TextDocumentIdentifier
) -> lsp.PublishDiagnosticsParams:
    """The next diagnostics of a document."""
    while True:
        heard = await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        if heard.uri == document.uri:
            found: lsp.PublishDiagnosticsParams = heard
            return found


def applied(text: str, edits: list[lsp.TextEdit]) -> str:
    """A text after TextEdits in UTF-16 positions."""
    lines = text.split("\n")

    def offset(place: lsp.Position) -> int:
        before = sum(len(line) + 1 for line in lines[: place.line])
        units = lines[place.line].encode("utf-16-le") if place.line < len(lines) else b""
        return before + len(units[: 2 * place.character].decode("utf-16-le"))

    for edit in sorted(edits, key=lambda each: offset(each.range.start), reverse=True):
        start, end = offset(edit.range.start), offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text
