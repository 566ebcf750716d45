"""Notebooks and host files: specifications inside other texts, each in its place."""

from __future__ import annotations

from tests.server.texts import NETWORK
from tests.server.wire import Message, Wire, replace, serving

NOTEBOOKS = {"notebookDocument": {"synchronization": {}}}
BOOK = "file:///nowhere/book.ipynb"
CELL = "vscode-notebook-cell:/nowhere/book.ipynb#{}"
INLINE = NETWORK.replace("const Unused = 3;\n", "").replace("from Edges all", "from Edge all")
PYTHON = f'net = """{INLINE}"""\nmodel = NeuralNetwork(net_definition=net)\n'


def cell(number: int, text: str, language: str = "python") -> tuple[Message, Message]:
    """A cell and its document."""
    kind = 1 if language == "markdown" else 2
    uri = CELL.format(number)
    document = {"uri": uri, "languageId": language, "version": 1, "text": text}
    return {"kind": kind, "document": uri}, document


def open_book(wire: Wire, *cells: tuple[Message, Message]) -> None:
    book = {
        "uri": BOOK,
        "notebookType": "jupyter-notebook",
        "version": 1,
        "cells": [each for each, _ in cells],
    }
    documents = [document for _, document in cells]
    wire.notify(
        "notebookDocument/didOpen", {"notebookDocument": book, "cellTextDocuments": documents}
    )


def change_book(wire: Wire, version: int, cells: Message) -> None:
    book = {"uri": BOOK, "version": version}
    wire.notify(
        "notebookDocument/didChange", {"notebookDocument": book, "change": {"cells": cells}}
    )


def test_each_cell_is_a_document_of_its_own() -> None:
    with serving(NOTEBOOKS) as wire:
        offered = wire.heard[0]["result"]["capabilities"]["notebookDocumentSync"]
        languages = {cell["language"] for cell in offered["notebookSelector"][0]["cells"]}
        assert languages == {"python", "r", "markdown", "netsharp"}
        open_book(wire, cell(1, "x = 1\n"), cell(2, PYTHON), cell(3, NETWORK, "netsharp"))
        assert wire.published(CELL.format(1)) == []
        (unknown,) = [each for each in wire.published(CELL.format(2)) if each["severity"] == 1]
        line = PYTHON.split("\n").index("hidden Middle [100] from Edge all;")
        assert unknown["range"]["start"] == {"line": line, "character": 25}
        assert [each["code"] for each in wire.published(CELL.format(3))] == ["NS033"]


def test_cells_come_change_and_go() -> None:
    with serving(NOTEBOOKS) as wire:
        open_book(wire, cell(1, PYTHON))
        assert wire.published(CELL.format(1))
        line = PYTHON.split("\n").index("hidden Middle [100] from Edge all;")
        repaired = {
            "document": {"uri": CELL.format(1), "version": 2},
            "changes": [replace((line, 29), (line, 29), "s")],
        }
        change_book(wire, 2, {"textContent": [repaired]})
        assert not [e for e in wire.published(CELL.format(1), 2) if e["severity"] == 1]
        added, document = cell(2, NETWORK, "netsharp")
        array = {"start": 1, "deleteCount": 0, "cells": [added]}
        change_book(wire, 3, {"structure": {"array": array, "didOpen": [document]}})
        assert len(wire.published(CELL.format(2))) == 1
        array = {"start": 1, "deleteCount": 1}
        identity = {"uri": CELL.format(2)}
        change_book(wire, 4, {"structure": {"array": array, "didClose": [identity]}})
        assert wire.published(CELL.format(2)) == []
        params = {"textDocument": identity, "position": {"line": 2, "character": 8}}
        assert wire.request("textDocument/hover", params) is None
        closed = {"notebookDocument": {"uri": BOOK}, "cellTextDocuments": [{"uri": CELL.format(1)}]}
        wire.notify("notebookDocument/didClose", closed)
        assert wire.published(CELL.format(1)) == []


def test_a_specification_in_python_is_answered_in_its_place() -> None:
    uri = "file:///nowhere/model.py"
    sound = PYTHON.replace("from Edge all", "from Edges all")
    with serving({}) as wire:
        wire.open(uri, sound, "python")
        assert not [each for each in wire.published(uri) if each["severity"] == 1]
        line = sound.split("\n").index("hidden Middle [100] from Edges all;")
        position = {"line": line, "character": 26}
        asked = {"textDocument": {"uri": uri}, "position": position}
        assert "Edges" in wire.request("textDocument/hover", asked)["contents"]["value"]
        target = wire.request("textDocument/definition", asked)
        assert target["range"]["start"] == {"line": 1, "character": 7}
        outside = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}}
        assert wire.request("textDocument/hover", outside) is None
        tokens = wire.request("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})
        assert tokens["data"][:5] == [0, len('net = """'), 5, 0, 0]
        ugly = [replace((line, 0), (line, 0), "  "), replace((0, 0), (0, 0), "import x\n")]
        wire.send(wire.change(uri, 2, *ugly))
        wire.published(uri, 2)
        params = {
            "textDocument": {"uri": uri},
            "options": {"tabSize": 4, "insertSpaces": True},
        }
        edits = wire.request("textDocument/formatting", params)
        assert {edit["range"]["start"]["line"] for edit in edits} == {line + 1}
