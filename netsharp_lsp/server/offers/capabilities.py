"""The capabilities as plain JSON, which is answered before the protocol's types are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.ide.answers import TOKEN_KINDS, TOKEN_MODIFIERS
from netsharp_lsp.language import main_language
from netsharp_lsp.server.commands import COMMANDS
from netsharp_lsp.server.offers.registration import offered_at_once

if TYPE_CHECKING:
    from netsharp_lsp.server.client.abilities import Client

_INCREMENTAL = 2
#: The languages of cells of notebooks that may hold a specification.
_CELLS = ("python", "r", "markdown")
_KINDS = (
    "quickfix",
    "refactor",
    "refactor.extract",
    "refactor.inline",
    "refactor.rewrite",
    "source.fixAll.netsharp",
)

#: What is offered to every client, at once or by registration.
OFFERED: dict[str, Any] = {
    "textDocumentSync": {"openClose": True, "change": _INCREMENTAL, "save": True},
    "hoverProvider": True,
    "inlayHintProvider": {"resolveProvider": False},
    "completionProvider": {
        "triggerCharacters": ["[", ",", "=", "(", "{", ".", "/"],
        "resolveProvider": True,
    },
    "signatureHelpProvider": {
        "triggerCharacters": ["{", "(", ","],
        "retriggerCharacters": [";", "="],
    },
    "definitionProvider": True,
    "declarationProvider": True,
    "implementationProvider": True,
    "referencesProvider": True,
    "documentHighlightProvider": True,
    "documentSymbolProvider": True,
    "workspaceSymbolProvider": True,
    "foldingRangeProvider": True,
    "selectionRangeProvider": True,
    "documentLinkProvider": {"resolveProvider": False},
    "callHierarchyProvider": True,
    "codeLensProvider": {"resolveProvider": True},
    "documentFormattingProvider": True,
    "documentRangeFormattingProvider": {"rangesSupport": True},
    "documentOnTypeFormattingProvider": {
        "firstTriggerCharacter": ";",
        "moreTriggerCharacter": ["}"],
    },
    "codeActionProvider": {"codeActionKinds": list(_KINDS), "resolveProvider": True},
    "semanticTokensProvider": {
        "legend": {"tokenTypes": list(TOKEN_KINDS), "tokenModifiers": list(TOKEN_MODIFIERS)},
        "full": {"delta": True},
        "range": True,
    },
    "executeCommandProvider": {"commands": list(COMMANDS), "workDoneProgress": True},
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
}


def capabilities(client: Client) -> dict[str, Any]:
    """Return the server's capabilities for a client."""
    offered = {"positionEncoding": client.encoding, **offered_at_once(client, OFFERED)}
    prepares = client.can("textDocument.rename.prepareSupport")
    offered["renameProvider"] = {"prepareProvider": True} if prepares else True
    if client.can("notebookDocument.synchronization"):
        cells = [{"language": language} for language in (*_CELLS, main_language())]
        offered["notebookDocumentSync"] = {"notebookSelector": [{"notebook": "*", "cells": cells}]}
    if client.pulls:
        offered["diagnosticProvider"] = {
            "identifier": "netsharp",
            "interFileDependencies": False,
            "workspaceDiagnostics": True,
        }
    return offered
