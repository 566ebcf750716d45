"""netsharp.server.explain [code]: show the page of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.language import known_codes, rules_with

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Execution


async def explain(call: Execution) -> None:
    """Show the page of a rule's code."""
    code = call.text(0, "a code such as NS074").upper()
    try:
        rules = rules_with(code)
    except KeyError:
        call.warn(f"'{code}' is not a code.{suggestion(code, known_codes())}")
        return
    await call.show(rules.path(code), f"{code}, {rules.title(code)}")
