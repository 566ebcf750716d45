"""The table of who answers what is whole, and those who answer are short."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from netsharp_lsp.server.handlers import NOTIFICATIONS, PLAIN, REQUESTS, WHOLE
from netsharp_lsp.server.offers.capabilities import OFFERED
from netsharp_lsp.server.offers.registration import OWN_ONLY

ROWS = {**REQUESTS, **NOTIFICATIONS}
#: Which request each capability is about.
ASKED = {
    "hoverProvider": "hover",
    "inlayHintProvider": "inlayHint",
    "completionProvider": "completion",
    "signatureHelpProvider": "signatureHelp",
    "definitionProvider": "definition",
    "declarationProvider": "declaration",
    "implementationProvider": "implementation",
    "referencesProvider": "references",
    "documentHighlightProvider": "documentHighlight",
    "documentSymbolProvider": "documentSymbol",
    "foldingRangeProvider": "foldingRange",
    "selectionRangeProvider": "selectionRange",
    "documentLinkProvider": "documentLink",
    "callHierarchyProvider": "prepareCallHierarchy",
    "codeLensProvider": "codeLens",
    "documentFormattingProvider": "formatting",
    "documentRangeFormattingProvider": "rangesFormatting",
    "documentOnTypeFormattingProvider": "onTypeFormatting",
    "codeActionProvider": "codeAction",
    "semanticTokensProvider": "semanticTokens/full/delta",
}
ELSEWHERE = {
    "textDocumentSync": "textDocument/didChange",
    "workspaceSymbolProvider": "workspace/symbol",
    "executeCommandProvider": "workspace/executeCommand",
    "workspace": "workspace/didChangeWorkspaceFolders",
}
LONGEST = 15


@pytest.mark.parametrize("method", ROWS)
def test_a_row_names_a_short_function_of_two_parameters(method: str) -> None:
    module, _, name = ROWS[method].partition(":")
    handler = getattr(import_module(f"netsharp_lsp.server.{module}"), name)
    assert len(inspect.signature(handler).parameters) == 2
    assert len(inspect.getsource(handler).splitlines()) <= LONGEST, ROWS[method]
    assert inspect.getdoc(handler)


def test_what_is_offered_is_answered() -> None:
    assert set(OFFERED) == set(ASKED) | set(ELSEWHERE)
    for request in ASKED.values():
        assert f"textDocument/{request}" in REQUESTS
    for method in ELSEWHERE.values():
        assert method in ROWS


def test_special_methods_are_in_the_table() -> None:
    assert set(ROWS) >= PLAIN
    assert set(REQUESTS) >= WHOLE
    assert {name for name, _, _ in OWN_ONLY} <= set(OFFERED)
