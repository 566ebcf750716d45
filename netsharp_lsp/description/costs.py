"""The predicted costs of a run, as rows of a table and as lines; renders nothing.

The values are those of `netsharp describe --cost --format json`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Cost = dict[str, Any]
    Row = tuple[str, ...]

HEAD = ("layer, a step", "forward", "backward", "update", "memory")
#: The columns of figures, set to the right.
FIGURES = (1, 2, 3, 4)
#: Units of time, the smallest first, and how many seconds each has.
TIMES = (("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0))
UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def cost_rows(cost: Cost) -> list[Row]:
    """Return a row for each layer that takes time in a step, and one for the rest of the step."""
    rows = [
        (
            layer["name"],
            *(duration(layer[f"{part}_seconds"]) for part in ("forward", "backward", "update")),
            amount(layer["memory_bytes"]),
        )
        for layer in cost["layers"]
    ]
    return [*rows, ("(around them)", duration(cost["around_seconds"]), "", "", "")]


def cost_lines(cost: Cost) -> list[str]:
    """Return the sums, and the basis of the prediction."""
    lines = [f"{duration(cost['step_seconds'])} for a step of {_rows(cost['batch_size'])}"]
    if cost["epoch_seconds"] is None:
        lines.append("? for an epoch: --rows says how many rows there are")
    else:
        held = cost["validation_rows"]
        measured = f", {_rows(held)} of validation measured" if held else ""
        lines.append(
            f"{duration(cost['epoch_seconds'])} for an epoch of {_rows(cost['rows'])}: "
            f"{cost['steps']:,} step{'s' * (cost['steps'] != 1)}{measured}"
        )
    rows = cost["rows_bytes"]
    table = "" if rows is None else f", and {amount(rows)} for the rows"
    return [
        *lines,
        f"{amount(cost['memory_bytes'])} of memory{table}",
        f"{cost['optimizer']}, {cost['dtype']}, one thread, at the rates of this machine "
        f"({cost['machine']['cpu'] or 'of unknown name'})",
    ]


def duration(seconds: float) -> str:
    """Return a time in the largest unit of which there is at least one, with three digits."""
    name, size = next((one for one in reversed(TIMES) if seconds >= one[1]), TIMES[0])
    return f"{_short(seconds / size)} {name}"


def amount(count: int) -> str:
    """Return a number of bytes in decimal units."""
    found = next(((name, size) for name, size in UNITS if count >= size), None)
    return f"{count:,} B" if found is None else f"{_short(count / found[1])} {found[0]}"


def _short(number: float) -> str:
    """Return a number with three digits, or with all before its point."""
    digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
    return f"{number:,.{digits}f}"


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"
