"""Which function answers which method; imported when first asked for, or in an idle moment."""

from __future__ import annotations

#: Requests: the module below `server`, and its function (session, params) -> result.
REQUESTS = {
    "initialize": "handlers.workspace.lifecycle:initialize",
    "shutdown": "handlers.workspace.lifecycle:shutdown",
    "textDocument/hover": "handlers.hover:hover",
    "textDocument/inlayHint": "handlers.hints:inlay_hints",
    "textDocument/completion": "handlers.completion:completion",
    "completionItem/resolve": "handlers.completion:resolve",
    "textDocument/signatureHelp": "handlers.signature:signature_help",
    "textDocument/definition": "handlers.navigation.names:definition",
    "textDocument/declaration": "handlers.navigation.names:declaration",
    "textDocument/implementation": "handlers.navigation.names:implementation",
    "textDocument/references": "handlers.navigation.names:references",
    "textDocument/documentHighlight": "handlers.navigation.names:highlights",
    "textDocument/prepareRename": "handlers.rename:prepare_rename",
    "textDocument/rename": "handlers.rename:rename",
    "textDocument/documentSymbol": "handlers.navigation.symbols:document_symbols",
    "workspace/symbol": "handlers.navigation.symbols:workspace_symbols",
    "textDocument/foldingRange": "handlers.structure:folding_ranges",
    "textDocument/selectionRange": "handlers.structure:selection_ranges",
    "textDocument/semanticTokens/full": "handlers.tokens:full",
    "textDocument/semanticTokens/full/delta": "handlers.tokens:delta",
    "textDocument/semanticTokens/range": "handlers.tokens:in_range",
    "textDocument/documentLink": "handlers.navigation.links:document_links",
    "textDocument/prepareCallHierarchy": "handlers.navigation.flow:prepare",
    "callHierarchy/incomingCalls": "handlers.navigation.flow:incoming",
    "callHierarchy/outgoingCalls": "handlers.navigation.flow:outgoing",
    "textDocument/codeLens": "handlers.lenses:code_lenses",
    "codeLens/resolve": "handlers.lenses:resolve",
    "textDocument/formatting": "handlers.formatting:formatting",
    "textDocument/rangeFormatting": "handlers.formatting:range_formatting",
    "textDocument/rangesFormatting": "handlers.formatting:ranges_formatting",
    "textDocument/onTypeFormatting": "handlers.formatting:on_type_formatting",
    "textDocument/codeAction": "handlers.actions:code_actions",
    "codeAction/resolve": "handlers.actions:resolve",
    "textDocument/diagnostic": "handlers.pull:document_diagnostic",
    "workspace/diagnostic": "handlers.pull:workspace_diagnostic",
    "workspace/executeCommand": "commands:execute",
    "netsharp/graph": "handlers.graph:graph",
    "netsharp/model": "handlers.model:model",
    "netsharp/modelWeights": "handlers.model:model_weights",
    "netsharp/run": "handlers.run:run",
    "netsharp/stop": "handlers.run:stop",
}

#: Notifications, in the same way.
NOTIFICATIONS = {
    "initialized": "handlers.workspace.lifecycle:initialized",
    "textDocument/didOpen": "handlers.workspace.synchronization:did_open",
    "textDocument/didChange": "handlers.workspace.synchronization:did_change",
    "textDocument/didClose": "handlers.workspace.synchronization:did_close",
    "notebookDocument/didOpen": "handlers.workspace.notebooks:did_open_notebook",
    "notebookDocument/didChange": "handlers.workspace.notebooks:did_change_notebook",
    "notebookDocument/didClose": "handlers.workspace.notebooks:did_close_notebook",
    "textDocument/didSave": "handlers.workspace.synchronization:did_save",
    "workspace/didChangeWorkspaceFolders": "handlers.workspace.lifecycle:did_change_folders",
    "workspace/didChangeConfiguration": "handlers.workspace.configuration:did_change_configuration",
    "workspace/didChangeWatchedFiles": "handlers.workspace.watched_files:did_change_watched_files",
    "window/workDoneProgress/cancel": "handlers.run:cancel_work",
    "netsharp/trust": "handlers.workspace.configuration:did_trust",
}

#: Methods whose handlers take plain JSON: before the types are ready, or at each keystroke.
PLAIN = frozenset(
    {
        "initialize",
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didClose",
        "notebookDocument/didOpen",
        "notebookDocument/didChange",
        "notebookDocument/didClose",
        "completionItem/resolve",
        "callHierarchy/incomingCalls",
        "callHierarchy/outgoingCalls",
        "codeLens/resolve",
        "codeAction/resolve",
        "workspace/didChangeWorkspaceFolders",
        "workspace/didChangeConfiguration",
    }
)

#: Answers that a client requests again at each version: stale ones need not be given.
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
