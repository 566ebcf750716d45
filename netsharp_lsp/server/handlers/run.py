"""netsharp/run, netsharp/stop, and the cancelling of progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.runs import start

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from netsharp_lsp.server.session import Session


def run(session: Session, params: dict[str, Any]) -> dict[str, str]:
    """Start training a document; its id names the run in all that follows."""
    return {"id": start(session, params["textDocument"]["uri"], params)}


def stop(session: Session, params: dict[str, Any]) -> bool:
    """Stop a run, which keeps its model; false where it has ended already."""
    return session.runs.stop(params["id"])


def cancel_work(session: Session, params: lsp.WorkDoneProgressCancelParams) -> None:
    """Stop the work that the user cancels."""
    cancel = session.cancels.get(params.token)
    if cancel is not None:
        cancel()
