"""Which function answers which method; imported when first asked for, or in an idle moment."""

from __future__ import annotations

#: Requests: the module below `server`, and its function (session, params) -> result.
REQUESTS = {
    "initialize": "handlers.lifecycle:initialize",
    "shutdown": "handlers.lifecycle:shutdown",
    "textDocument/hover": "handlers.hover:hover",
}

#: Notifications, in the same way.
NOTIFICATIONS = {
    "initialized": "handlers.lifecycle:initialized",
    "textDocument/didOpen": "handlers.synchronization:did_open",
    "textDocument/didChange": "handlers.synchronization:did_change",
    "textDocument/didClose": "handlers.synchronization:did_close",
    "textDocument/didSave": "handlers.synchronization:did_save",
    "workspace/didChangeWorkspaceFolders": "handlers.lifecycle:did_change_folders",
}

#: Methods whose handlers take plain JSON: before the types are ready, or at each keystroke.
PLAIN = frozenset(
    {
        "initialize",
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didClose",
        "workspace/didChangeWorkspaceFolders",
    }
)

#: Answers that a client computes anew at each version: stale ones need not be given.
WHOLE = frozenset(
    {
        "textDocument/semanticTokens/full",
        "textDocument/semanticTokens/full/delta",
        "textDocument/semanticTokens/range",
        "textDocument/inlayHint",
        "textDocument/codeLens",
        "textDocument/documentSymbol",
        "textDocument/foldingRange",
        "textDocument/documentLink",
    }
)
