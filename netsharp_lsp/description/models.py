"""The lines about a model file above the table of its nodes; knows no format of files."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The indent of a checkpoint's values, by their depth.
_STEP = "  "


def model_lines(model: dict[str, Any]) -> list[str]:
    """Return lines about a model or a checkpoint: format, versions, types, outputs, warnings."""
    if "checkpoint" in model:
        head = f"checkpoint of format {model['format']}, version {model['version']}"
        return [head, *_state(model["checkpoint"], _STEP)]
    others = [f"{name} {number}" for name, number in model["versions"].items() if name != "model"]
    lines = [f"model of format {model['format']}, version {model['version']}"]
    lines += [f"versions: {', '.join(others)}"] if others else []
    types = ", ".join(f"{name} {count}" for name, count in model["types"].items())
    lines += [f"types: {types}"] if types else []
    lines += [f"outputs: {', '.join(model['outputs'])}"] if model["outputs"] else []
    lines += [f"note: {one}" for one in model["warnings"]]
    return lines + [f"not read: {one}" for one in model["faults"]]


def _state(value: Any, before: str) -> list[str]:
    """Return the stored state of a checkpoint, a line for each value."""
    lines: list[str] = []
    for key, one in value.items():
        if isinstance(one, dict) and set(one) != {"dtype", "shape"}:
            lines += [f"{before}{key}:", *_state(one, before + _STEP)]
        elif isinstance(one, list) and any(
            isinstance(each, dict) and len(each) > 2 for each in one
        ):
            for number, each in enumerate(one, 1):
                lines += [f"{before}{key} {number}:", *_state(each, before + _STEP)]
        else:
            lines.append(f"{before}{key}: {_short(one)}")
    return lines


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['dtype']} {value['shape']}"
    if isinstance(value, list):
        return ", ".join(map(_short, value))
    return "none" if value is None else str(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and len(value) > 2
