"""The settings that a run takes from the call of a script, and the notes on them.

Knows the terminal; reads no script and chooses no setting.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from netsharp_lsp.cli.console.terminal import complain, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_engine.train import TrainingSettings
    from netsharp_lsp.cli.inputs.embedded import Embedded
    from netsharp_lsp.importing.translation import CarriedSetting, ImportedCall

#: Where a setting comes from that a call gives.
CALL = "call"


class Trainee:
    """The subject of a run: the text, its file and place there, and the call that trains it.

    `embedded` is None where the text is all of the file, or a host's own network.
    """

    __slots__ = ("call", "embedded", "name", "text")

    def __init__(
        self, name: str, text: bytes, embedded: Embedded | None, call: ImportedCall | None
    ) -> None:
        self.name = name
        self.text = text
        self.embedded = embedded
        self.call = call


def table_of(call: ImportedCall, script: str) -> dict[str, Any]:
    """Return a call's settings as a run file; the paths of its data are relative to the script."""
    from netsharp_lsp.importing.run_files import run_table

    table = run_table(call)
    if "train" in table["data"]:
        table["data"]["train"] = os.path.join(os.path.dirname(script), table["data"]["train"])
    return table


def origins_of(call: ImportedCall | None, script: str) -> dict[str, str]:
    """Return the line and argument that give each setting of a call."""
    settings = () if call is None else call.settings
    return {one.key: f"{script}:{one.line}, {one.argument}" for one in settings}


def report_call(
    call: ImportedCall | None, script: str, settings: TrainingSettings, *, quiet: bool
) -> None:
    """Print the settings that a run takes from the call of a script, and those that it cannot use.

    What flags or a run file say instead is not missed.
    """
    if call is None:
        return
    if not quiet:
        say([f"{script}:{call.line}: running {call.function} with its settings:"])
        taken = (one for one in call.settings if settings.origins[one.key] == CALL)
        say(_taken(one, script) for one in taken)
        say([f"  The defaults of host {settings.host} apply to all other settings."])
    for lost in call.left:
        if not lost.key or settings.origins[lost.key] in ("default", "host"):
            complain(f"{script}:{lost.line}: {lost.argument}: {lost.why}.")


def _taken(one: CarriedSetting, script: str) -> str:
    from netsharp_lsp.importing.run_files import toml_value

    by = f"{one.argument}, {one.comment}" if one.comment else one.argument
    return f"  {one.key} = {toml_value(one.value)}  # {script}:{one.line}, {by}"


def show_settings(settings: TrainingSettings, calls: Mapping[str, str]) -> None:
    """Print every setting in force and where it came from; `calls`: those of a call, by key."""
    rows = [
        (f"[{section}] {name}", value, calls.get(name, origin) if origin == CALL else origin)
        for section, name, value, origin in settings.listing()
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    say(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {origin}" for key, value, origin in rows)
