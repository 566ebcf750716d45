"""Commands that any client may execute, in lenses, actions and hovers; one file each.

The result of a command is shown as a sentence; only a malformed call is an error.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from netsharp_lsp.diagnostics.nearest import suggestion

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from lsprotocol import types as lsp

    from netsharp_lsp.server.session import Session

#: Each command and the function below this package that executes it.
COMMANDS = {
    "netsharp.server.explain": "explain:explain",
    "netsharp.server.format": "format:format_document",
    "netsharp.server.fixAll": "fix_all:fix_all",
    "netsharp.server.describe": "describe:describe",
    "netsharp.server.showNetwork": "show_network:show_network",
    "netsharp.server.showLayer": "show_layer:show_layer",
    "netsharp.server.train": "train:train",
    "netsharp.server.stopTraining": "train:stop_training",
    "netsharp.server.examine": "examine:examine",
    "netsharp.server.compile": "compile:compile_document",
    "netsharp.server.bindData": "bind_data:bind_data",
    "netsharp.server.migrate": "migrate:migrate",
}


def execute(session: Session, params: lsp.ExecuteCommandParams) -> Awaitable[Any]:
    """Execute a command; refuses one that does not exist or lacks an argument."""
    from netsharp_lsp.server.commands.call import Execution

    if params.command not in COMMANDS:
        hint = suggestion(params.command, COMMANDS)
        raise Execution.malformed(f"'{params.command}' is not a command.{hint}")
    module, _, name = COMMANDS[params.command].partition(":")
    function = getattr(import_module(f"{__name__}.{module}"), name)
    call = Execution(session, params.command, params.arguments or (), params.work_done_token)
    made: Awaitable[Any] = function(call)
    return made
