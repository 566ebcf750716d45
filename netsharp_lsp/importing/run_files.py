"""Calls as run files: the text that `import` writes, and the tables that `run` reads.

Knows TOML, no argument and no disk.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from netsharp_lsp.importing.translation import ImportedCall


def run_file_text(call: ImportedCall, script: str, placed: Callable[[str], str]) -> str:
    """Return the run file of a call of `script`, host defaults written out.

    `placed` returns a path of the script relative to the run file.
    """
    lines = [f"# Taken from {script}, line {call.line}: {call.function}."]
    lines += [f"# {_one_line(comment)}" for comment in call.comments]
    data, train = (_rows(call, section, placed) for section in ("data", "train"))
    if not any(one.key == "train" for one in call.settings):
        data.insert(0, '# train = "rows.csv"  # name the exported table here')
    return "\n".join([*lines, "", "[data]", *data, "", "[train]", *train]) + "\n"


def run_table(call: ImportedCall) -> dict[str, Any]:
    """Return the settings that a call gives, as a run file; its host's defaults are left to the
    engine.

    The task is always given: where the call omits it, it is the host's.
    """
    table: dict[str, dict[str, Any]] = {"data": {}, "train": {}}
    for one in call.settings:
        if not one.by_default or one.key == "task":
            table[one.section][one.key] = one.value
    return table


def _rows(call: ImportedCall, section: str, placed: Callable[[str], str]) -> list[str]:
    rows = []
    for one in call.settings:
        if one.section == section:
            value = placed(str(one.value)) if one.key == "train" else one.value
            comment = f"  # {one.comment}" if one.comment else ""
            rows.append(f"{one.key} = {toml_value(value)}{comment}")
    return rows


def _one_line(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)


def toml_value(value: object) -> str:
    """Return a text, number, boolean, list or table of these as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def _text(value: str) -> str:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(map(_shown, quoted)) + '"'


def _shown(one: str) -> str:
    """Return a character as a basic string writes it."""
    return one if one.isprintable() else f"\\U{ord(one):08x}"
