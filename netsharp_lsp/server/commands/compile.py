"""netsharp.server.compile [uri, {shown?}]: C99 of a document's trained model, and the report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.compilations import compilation, is_of_another_text
from netsharp_lsp.server.commands.call import name_of
from netsharp_lsp.server.surroundings.workspace_files import uri_of
from netsharp_lsp.server.transport.parameters import HOW_TO_COMPILE, demand

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Execution
    from netsharp_lsp.server.jobs.compiling import Compiled


async def compile_document(call: Execution) -> dict[str, Any] | None:
    """Compile in a process, and show the report; with `shown`, the client does that.

    The result says where the report is and what was written; None where nothing could be.
    """
    given = call.argument(1) or {}
    demand(HOW_TO_COMPILE, given, "params.arguments[1]")
    session, document = call.session, call.document()
    if document is None:
        return None
    name = name_of(document.uri)
    order = compilation(session, document)
    if isinstance(order, str):
        call.warn(order)
        return None
    other = is_of_another_text(document, order.model)
    made: Compiled | str | None
    try:
        made = await session.compilations.compile(order, f"Compiling {name}", call.token)
    except OSError as error:
        made = f"No process can be started: {error.strerror}."
    if made is None:
        call.show_message(f"Compiling {name}: stopped, and nothing was written.")
        return None
    if isinstance(made, str):
        call.warn(f"{name}: {made}")
        return None
    if made.lost:
        call.warn(f"{name}: {made.lost}")
    else:
        changed = " Its text has changed since that was trained." if other else ""
        folder = os.path.basename(made.folder)
        call.show_message(
            f"{name}: its model is compiled, {len(made.files)} files are in {folder}.{changed}"
        )
    if not given.get("shown"):
        await call.show(made.report, f"The report of {name} is")
    files = list(made.files)
    return {"report": uri_of(made.report), "folder": made.folder, "files": files}
