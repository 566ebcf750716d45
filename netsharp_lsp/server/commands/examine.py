"""netsharp.server.examine [uri]: look at how the training of a document would start."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from netsharp_lsp.server.answers.runs import examination
from netsharp_lsp.server.commands.call import name_of

if TYPE_CHECKING:
    from netsharp_lsp.context import Seen
    from netsharp_lsp.server.commands.call import Execution


async def examine(call: Execution) -> dict[str, int] | None:
    """Examine in a process, and show the observations as diagnostics of layers until the next edit.

    The result counts the observations; None where nothing could be looked at.
    """
    session, document = call.session, call.document()
    if document is None:
        return None
    uri, version, name = document.uri, document.version, name_of(document.uri)
    command = examination(session, document)
    if isinstance(command, str):
        call.warn(command)
        return None
    session.closing.append(session.examined.close)
    seen: tuple[Seen, ...] | str
    try:
        seen = await session.examined.look(uri, command)
    except OSError as error:
        seen = f"no process can be started: {error.strerror}."
    finally:
        with suppress(ValueError):  # the session is closing
            session.closing.remove(session.examined.close)
    if isinstance(seen, str):
        call.warn(f"{name}: {seen}")
        return None
    if session.document(uri) is not document or document.version != version:
        call.show_message(
            f"{name} was changed while its start was looked at: save it and look again."
        )
        return None
    session.examined.take(uri, seen)
    session.renew([uri])
    many = f"{len(seen)} thing{'s' * (len(seen) != 1)} to look at, shown at the layers."
    call.show_message(f"The start of training {name}: {many if seen else 'nothing unusual.'}")
    return {"seen": len(seen)}
