"""Tables and pictures for commands: at once, or aside with progress that can be cancelled."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from netsharp_lsp.server.jobs.work import Work
from netsharp_lsp.server.jobs.worker import AT_ONCE, in_process
from netsharp_lsp.server.pictures.depiction import FaultyError, depicted, depicted_from_text

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Execution
    from netsharp_lsp.server.documents.views import View


async def depict(call: Execution, view: View, form: str) -> str | None:
    """Return a network as `markdown` or `svg`; None, and a word to the person, where it cannot."""
    try:
        if len(view.lines.text) <= AT_ONCE:
            return depicted(view.snapshot, form)
        made = await _aside(call, view, form)
        if isinstance(made, FaultyError):
            raise made
    except FaultyError as error:
        call.warn(str(error))
        return None
    return made


async def _aside(call: Execution, view: View, form: str) -> str | FaultyError:
    task = asyncio.current_task()
    cancel = task.cancel if task is not None else None
    work = Work(call.session, "Describing the network", cancel, call.token)
    try:
        text, context = view.lines.text, view.context
        return await in_process(depicted_from_text, view.language, text, context, form)
    finally:
        work.end()
