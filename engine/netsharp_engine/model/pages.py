"""A model as a notebook shows it: its parameters, the curve of its training, its confusion matrix.

The page is HTML without scripts; every text of others in it is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.excerpt import excerpt
from netsharp_engine.model.curves import curve_svg
from netsharp_engine.train.report import Report

#: The most rows of parameters, and the most classes of a confusion matrix, that are shown.
MOST_ROWS = 40
MOST_CLASSES = 20


def model_page(
    summary: Sequence[str],
    tensors: Mapping[str, npt.NDArray[Any]],
    history: Sequence[dict[str, Any]],
    report: Report | None,
) -> str:
    """Return the HTML of a model: three lines about it, its tensors by name, the epochs of its run
    log, and figures of some rows with their confusion matrix where they have one. ``tensors`` are
    of any shape.
    """
    parts = [f"<p>{'<br>'.join(escape(line) for line in summary)}</p>", _parameters(tensors)]
    if history:
        parts.append(curve_svg(history))
    if report is not None and report.confusion is not None and report.classes is not None:
        parts.append(_confusion(report.classes, report.confusion))
    return f"<div>{''.join(parts)}</div>"


def _parameters(tensors: Mapping[str, npt.NDArray[Any]]) -> str:
    rows = [("parameter", "shape", "numbers", "mean", "deviation")]
    for name, array in list(tensors.items())[:MOST_ROWS]:
        values = array.astype(np.float64)
        figures = (f"{values.mean():.3g}", f"{values.std():.3g}") if array.size else ("", "")
        rows.append((excerpt(name), str(list(array.shape)), f"{array.size:,}", *figures))
    left = len(tensors) - MOST_ROWS
    more = f"<p>and {left:,} more</p>" if left > 0 else ""
    return _table(rows) + more


def _confusion(classes: Sequence[str], counts: Sequence[Sequence[float]]) -> str:
    if len(classes) > MOST_CLASSES:
        return ""
    names = [excerpt(name) for name in classes]
    rows = [("true \\ predicted", *names)]
    rows += [(name, *(f"{c:g}" for c in row)) for name, row in zip(names, counts, strict=True)]
    return _table(rows)


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = [_row(head, "th"), *(_row(row, "td") for row in body)]
    return f"<table>{''.join(lines)}</table>"


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
