"""One guard around every handler: what fails is logged and answered, and the server continues."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from netsharp_lsp.server.session import Session

#: The most characters of an error's message, and of a URI, that are quoted.
LONGEST = 300


def stray(session: Session, context: dict[str, Any]) -> None:
    """Log a fault outside of requests; the server continues."""
    error = context.get("exception")
    if isinstance(error, Exception):
        fault(session, "work in the background", None, error)


def fault(session: Session, method: str, params: Any, error: BaseException) -> RefusedError:
    """Log an exception with the request and the document's version; return the error response."""
    uri = _uri(params)
    document = session.documents.get(uri)
    about = f" of {uri[:LONGEST]}" if uri else ""
    version = f", version {document.version}" if document is not None else ""
    frame = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" at {os.path.basename(frame[0].filename)}:{frame[0].lineno}" if frame else ""
    message = str(error)[:LONGEST]
    sentence = f"{method}{about}{version} failed: {type(error).__name__}: {message}{place}."
    session.log(f"{sentence} Please report it with the text.", lsp.MessageType.Error)
    if os.environ.get("NETSHARP_DEBUG") == "1":
        session.log("".join(traceback.format_exception(error)), lsp.MessageType.Error)
    return RefusedError(lsp.ErrorCodes.InternalError, f"Internal error: {sentence}")


def _uri(params: Any) -> str:
    """Return the document that parameters are about; empty where they are about none."""
    if not isinstance(params, dict):
        return ""
    for key in ("textDocument", "item", "data"):
        part = params.get(key)
        if isinstance(part, dict) and isinstance(part.get("uri"), str):
            return str(part["uri"])
    return ""
