"""Values, faults and experiments of configurations as JSON and as text; reads nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from netsharp_lsp.cntk.configuration.meaning.commands import Effective
    from netsharp_lsp.cntk.configuration.meaning.configuration import Configuration
    from netsharp_lsp.cntk.configuration.meaning.tree import Value
    from netsharp_lsp.cntk.configuration.sources import SourcePlace

#: Columns of a value that are shown in a line.
_WIDTH = 100
_PRESENCE = {True: "present", False: "missing", None: "unknown"}


def value_as_json(value: Value) -> dict[str, Any]:
    """Return one value by `schemas/config.json`."""
    return {
        "path": value.path,
        "kind": value.kind,
        "raw": value.raw,
        "value": value.value,
        "elements": value.elements,
        "origin": _origin(value.origin),
        "overridden": [_origin(one.value) for one in value.overridden],
        "variables": [
            {
                "name": use.name,
                "origin": None if use.definition is None else _origin(use.definition),
            }
            for use in value.variables
        ],
    }


def effective_as_json(one: Effective, marked: bool) -> dict[str, Any]:
    """Return a value, with where it is inherited from if one command is shown (`marked`)."""
    row = value_as_json(one.value)
    if marked:
        row["inherited_from"] = one.inherited_from
    return row


def as_text(shown: Sequence[Effective]) -> Iterator[str]:
    """Yield one line for each value that contains no others."""
    for one in shown:
        value = one.value
        if value.inside is not None:
            continue
        notes = [str(value.origin)]
        if value.overridden:
            notes.append(f"overrides {', '.join(str(it.value) for it in value.overridden)}")
        if one.inherited_from is not None:
            notes.append(f"inherited from {one.inherited_from}")
        if value.value is None:
            unknown = dict.fromkeys(use.name for use in value.variables if use.problem)
            notes.append(f"unknown: {', '.join(unknown)}")
        yield f"{value.path} = {_short(value)}  ({'; '.join(notes)})"


def faults_of(configuration: Configuration) -> tuple[list[str], int]:
    """Return faults as sentences, each undefined variable once, and once for each file outside the
    roots; and the resulting exit code.
    """
    seen: set[tuple[str, str]] = set()
    sentences = []
    code = 0
    for fault in configuration.faults:
        if fault.kind in ("undefined", "outside"):
            file = fault.place.source.name if fault.place is not None else ""
            key = (fault.kind, fault.name.lower() if fault.kind == "undefined" else file)
            if key in seen:
                continue
            seen.add(key)
        if fault.severity == "error":
            code = max(code, 1)
        sentences.append(str(fault))
    return sentences, code if configuration.readable else 2


def experiments_as_text(listed: dict[str, Any]) -> Iterator[str]:
    """Yield the experiments of a folder, one paragraph for each configuration."""
    for row in listed["configurations"]:
        yield f"{row['file']}"
        for one in row["commands"]:
            yield f"  {one['name']}: {', '.join(one['actions'])}{_network(one)}{_readers(one)}"
        for one in row["data"]:
            yield f"  data {one['path']}: {_PRESENCE[one['present']]}"
        for problem in row["problems"]:
            yield f"  {problem}"
    for one in listed["models"]:
        yield f"{one['file']}: {_model(one)}"
    for one in listed["unused"]:
        yield f"{one['file']}: no configuration refers to it"
    for one in listed["skipped"]:
        yield f"{one['file']}: left out, {one['reason']}"


def _model(one: dict[str, Any]) -> str:
    """Return the contents of a model file, and the command that writes it."""
    if one["problem"]:
        return f"a model that cannot be used: {one['problem']}"
    what = (
        f"model of format {one['format']}, version {one['model_version']}, {one['nodes']:,} nodes"
    )
    outputs = f", outputs {', '.join(one['outputs'])}" if one["outputs"] else ""
    writer = one["written_by"]
    by = f"; written by {writer['command']} of {writer['file']}" if writer else ""
    return f"{what}{outputs}{by}"


def _network(one: dict[str, Any]) -> str:
    network = one["network"]
    if network is None:
        return f"; network of {one['model']}" if one["model"] else ""
    files = f" {', '.join(network['files'])}" if network["files"] else ""
    return f"; {network['builder']}{files}"


def _readers(one: dict[str, Any]) -> str:
    return f"; {', '.join(one['readers'])}" if one["readers"] else ""


def _short(value: Value) -> str:
    """Return a value on one line."""
    text = value.raw if value.value is None else value.value
    quoted = f'"{text}"' if value.kind == "string" else text
    lines = quoted.splitlines() or [""]
    shown = " ".join(line.strip() for line in lines)
    return shown if len(shown) <= _WIDTH else f"{shown[: _WIDTH - 4].rstrip()} ..."


def _origin(place: SourcePlace) -> dict[str, Any]:
    position = place.source.lines.position
    start, end = position(place.start), position(place.end)
    return {
        "file": place.source.name,
        "start": {"line": start[0], "column": start[1]},
        "end": {"line": end[0], "column": end[1]},
    }
