"""netsharp.server.migrate [uri, {plan}]: turn an outdated text and what belongs to it into
BrainScript.  `plan`: change nothing, return the edit and what a person has to know of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.writing import outer_edits, workspace_edit
from netsharp_lsp.server.transport.protocol import RefusedError
from netsharp_lsp.server.transport.shapes import shown

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Execution

LABEL = "Migrate"
#: The most sentences that a message shows.
_MOST = 8


async def migrate(call: Execution) -> dict[str, Any] | None:
    """Make the changes of a migration that is proven; else say what needs a person."""
    document = call.document()
    if document is None:
        return None
    if document.refusal is not None:
        call.warn(document.refusal)
        return None
    plans = _is_plan(call)
    view = document.views[0]
    found = view.snapshot.migrate()
    if found.changes is None:
        call.warn(_message(found.sentences))
        return None
    try:
        edits = outer_edits(view, found.changes.edits)
        if plans:
            edit = workspace_edit(call.session, document, edits, found.changes.elsewhere)
            return {"edit": edit, "sentences": list(found.sentences)}
        answer = await call.apply(document, edits, LABEL, found.changes.elsewhere)
    except RefusedError as refused:
        call.warn(f"{refused.message} On a command line `netsharp migrate --write` makes it.")
        return None
    call.show_message(_message(found.sentences))
    return answer


def _is_plan(call: Execution) -> bool:
    options = call.argument(1)
    if options is not None and not isinstance(options, dict):
        raise call.malformed(f"{call.command} needs options as argument 2, found {shown(options)}.")
    return isinstance(options, dict) and options.get("plan") is True


def _message(sentences: tuple[str, ...]) -> str:
    more = len(sentences) - _MOST
    rest = [f"There are {more} more: see `netsharp migrate`."] if more > 0 else []
    return "\n".join([*sentences[:_MOST], *rest])
