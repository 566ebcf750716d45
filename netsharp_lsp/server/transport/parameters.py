"""The shape of each method's parameters: a check for every row of the handlers.

The protocol's types check it for handlers that take them; for those that take plain JSON, and for
our own methods, the check is here, and requires no more than is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.server.transport.protocol import RefusedError
from netsharp_lsp.server.transport.shapes import (
    Record,
    anything,
    array,
    boolean,
    check_of,
    either,
    integer,
    mapping,
    optional,
    text,
)

if TYPE_CHECKING:
    from netsharp_lsp.server.transport.shapes import Check

_IDENTITY = Record({"uri": text})
_NAMED = Record({"textDocument": _IDENTITY})
_VERSIONED = Record({"uri": text}, {"version": integer})
_ITEM = Record({"uri": text, "languageId": text, "text": text}, {"version": integer})
_POSITION = Record({"line": integer, "character": integer})
_RANGE = Record({"start": _POSITION, "end": _POSITION})
_CHANGES = array(Record({"text": text}, {"range": _RANGE}))
_FOLDERS = array(Record({"uri": text}, {"name": text}))
_HOW_TO_RUN = {
    "runFile": text,
    "name": text,
    "resume": boolean,
    "command": text,
    "set": mapping,
}
_CELLS = Record(
    {},
    {
        "structure": Record({}, {"didOpen": array(_ITEM), "didClose": array(_IDENTITY)}),
        "textContent": array(Record({"document": _VERSIONED, "changes": _CHANGES})),
        "data": array(Record({"document": text}, {"kind": integer})),
    },
)

#: The options of training in a command.
HOW_TO_RUN = Record({}, _HOW_TO_RUN)
#: How to compile; whether the client shows the report by itself.
HOW_TO_COMPILE = Record({}, {"shown": boolean})
#: Data that this server gives a client and that a later request returns, by that request.
OURS = {
    "completionItem/resolve": Record({"uri": text, "view": integer, "topic": text}),
    "codeLens/resolve": Record({"uri": text, "view": integer, "key": text}),
    "codeAction/resolve": Record({"uri": text, "version": optional(integer)}),
    "callHierarchy/incomingCalls": Record({"uri": text, "view": integer, "name": text}),
    "callHierarchy/outgoingCalls": Record({"uri": text, "view": integer, "name": text}),
}

#: Parameters of methods that take plain JSON.
CHECKS: dict[str, Check] = {
    "initialize": Record(
        {},
        {
            "processId": check_of(int),
            "rootUri": text,
            "workspaceFolders": _FOLDERS,
            "capabilities": mapping,
        },
    ),
    "textDocument/didOpen": Record({"textDocument": _ITEM}),
    "textDocument/didChange": Record({"textDocument": _VERSIONED, "contentChanges": _CHANGES}),
    "textDocument/didClose": _NAMED,
    "notebookDocument/didOpen": Record({"cellTextDocuments": array(_ITEM)}),
    "notebookDocument/didChange": Record({"change": Record({}, {"cells": _CELLS})}),
    "notebookDocument/didClose": Record({"cellTextDocuments": array(_IDENTITY)}),
    "completionItem/resolve": mapping,
    "callHierarchy/incomingCalls": Record({"item": mapping}),
    "callHierarchy/outgoingCalls": Record({"item": mapping}),
    "codeLens/resolve": mapping,
    "codeAction/resolve": mapping,
    "workspace/didChangeWorkspaceFolders": Record(
        {"event": Record({}, {"added": _FOLDERS, "removed": _FOLDERS})}
    ),
    "workspace/didChangeConfiguration": anything,
    "netsharp/graph": Record(
        {"textDocument": _IDENTITY},
        {"name": text, "position": _POSITION, "depth": optional(integer), "folds": mapping},
    ),
    "netsharp/model": Record({"uri": text}, {"depth": optional(integer), "folds": mapping}),
    "netsharp/modelWeights": Record({"uri": text}, {"first": optional(integer)}),
    "netsharp/run": Record({"textDocument": _IDENTITY}, _HOW_TO_RUN),
    "netsharp/stop": Record({"id": text}),
    "netsharp/trust": Record({"trusted": boolean}),
    "$/cancelRequest": Record({"id": either(integer, text)}),
}


def demand(check: Check, value: Any, path: str = "params") -> None:
    """Refuse parameters that a check does not take, with the field in the sentence."""
    wrong = check(value, path)
    if wrong is not None:
        raise RefusedError(lsp.ErrorCodes.InvalidParams, str(wrong))


def brought_back(method: str, data: Any, path: str = "params.data") -> dict[str, Any]:
    """Return data that this server has given a client; refuse other or changed data."""
    wrong = OURS[method](data, path)
    if wrong is not None:
        sentence = f"{wrong} This data is not from this server: send it back unchanged."
        raise RefusedError(lsp.ErrorCodes.InvalidParams, sentence)
    found: dict[str, Any] = data
    return found
