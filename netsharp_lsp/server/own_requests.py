"""Parameters of our own requests, which no library checks."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp

from netsharp_lsp.server.protocol import RefusedError


def document_uri(params: Any) -> str:
    """Return the URI of the document that parameters name; refuses where they name none."""
    document = params.get("textDocument") if isinstance(params, dict) else None
    uri = document.get("uri") if isinstance(document, dict) else None
    if not isinstance(uri, str):
        raise RefusedError(lsp.ErrorCodes.InvalidParams, "'textDocument' with a 'uri' is needed.")
    return uri


def run_id(params: Any) -> str:
    """Return the id of the run that parameters name; refuses where they name none."""
    name = params.get("id") if isinstance(params, dict) else None
    if not isinstance(name, str):
        raise RefusedError(lsp.ErrorCodes.InvalidParams, "The 'id' of a run is needed.")
    return name
