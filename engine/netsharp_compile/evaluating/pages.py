"""A report as files: JSON for programs, Markdown for people, and a picture of where the error
arises.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netsharp_compile.evaluating.reports import CompileReport

#: The files of a report.
NAMES = ("report.json", "report.md", "report.svg")
#: Pixels of the picture: a bar, a row, the names' column, the width; the letters of a name.
_BAR, _ROW, _LEFT, _WIDTH, _LONGEST = 12, 46, 150, 640, 22
_COLORS = (("carried", "#9ecae1"), ("own", "#d95f0e"))


def report_files(report: CompileReport) -> dict[str, bytes]:
    """Return the bytes of each file by its name."""
    texts = (report_json(report), report_markdown(report), report_picture(report))
    return {name: text.encode("utf-8") for name, text in zip(NAMES, texts, strict=True)}


def report_json(report: CompileReport) -> str:
    """Return a report as JSON."""
    return json.dumps(report_values(report), indent=1, allow_nan=False) + "\n"


def report_values(report: CompileReport) -> dict[str, Any]:
    """Return a report as plain values of JSON; infinite numbers are None."""
    found: dict[str, Any] = _plain(report.to_json())
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def report_markdown(report: CompileReport) -> str:
    """Return a report as a page."""
    return "\n".join(_markdown(report)) + "\n"


def _markdown(report: CompileReport) -> Iterator[str]:
    yield "# Report of a compiled network"
    yield ""
    for verdict, more in ((report.gate, report.proposal_lines()), (report.room, [])):
        if verdict is not None:
            yield from (f"- {_cell(one)}" for one in (*verdict.lines(), *more))
            yield ""
    yield from (f"- {one}" for one in report.doubts)
    if report.doubts:
        yield ""
    yield "## Layers"
    yield ""
    yield "| layer | operator | multiply-adds | sums, bits | table | error | own error | dB |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in report.layers:
        table = "none" if one.table is None else str(one.table)
        yield (
            f"| {_cell(one.name)} | {one.function} | {one.multiply_adds:,} | {one.sum_bits} | "
            f"{table}: {one.why} | {one.error:.2%} | {one.own_error:.2%} | {one.decibels:.1f} |"
        )
    yield ""
    yield "The own error is that of exact values before the layer; both are parts of the spread of"
    yield f"its values, on the {report.rows:,} rows of the calibration."
    yield ""
    yield "![where the error arises](report.svg)"
    yield ""
    yield "| layer | sums from | to | scheme | values from | to | scheme | cut off below | above |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in report.layers:
        yield (
            f"| {_cell(one.name)} | {one.sums[0]:.4g} | {one.sums[1]:.4g} | {one.index} | "
            f"{one.results[0]:.4g} | {one.results[1]:.4g} | {one.codes} | {one.below:.2%} | "
            f"{one.above:.2%} |"
        )
    yield ""
    yield "| layer | weights | biases and scales | table | values |"
    yield "|---|---|---|---|---|"
    for one in report.layers:
        yield (
            f"| {_cell(one.name)} | {one.weight_bytes:,} | {one.bias_bytes:,} | "
            f"{one.table_bytes:,} | {one.value_bytes:,} |"
        )
    yield ""
    yield "## The whole"
    yield ""
    if report.agreement is not None:
        yield f"- {report.agreement:.2%} of the classes agree on the rows of the calibration"
    yield f"- error of the answers there: {report.error:.2%}"
    yield f"- {report.weight_bytes:,} bytes of weights, biases and scales"
    saved = f"; sharing saves {report.saved_bytes:,}" if report.saved_bytes else ""
    yield f"- {report.shown_tables()}{saved}"
    yield f"- {report.scratch_bytes:,} bytes of scratch memory"
    yield f"- {report.multiply_adds:,} multiply-adds"
    yield from (
        f"- about {number:,} instructions on {name.title()}"
        for name, number in report.instructions.items()
    )


def _cell(text: str) -> str:
    """Return a text as a cell of a table of Markdown."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return escape(shown, quote=False).replace("|", "\\|").replace("`", "\\`")


def report_picture(report: CompileReport) -> str:
    """Return two bars for each layer: the error of its values, and that which arises in it."""
    return "\n".join(_picture(report)) + "\n"


def _picture(report: CompileReport) -> Iterator[str]:
    errors = [(one.error, one.own_error) for one in report.layers]
    finite = [each for pair in errors for each in pair if isfinite(each)]
    most = max([*finite, 1e-9])  # not 0: bars are shares of it
    height = _ROW * len(errors) + 60
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="12" role="img">'
    )
    yield "<title>Error of each layer's values, and what of it arises there</title>"
    yield f'<rect width="{_WIDTH}" height="{height}" fill="white"/>'
    for place, (word, color) in enumerate(_COLORS):
        text = ("error of its values", "arises in the layer")[place]
        x = _LEFT + 170 * place
        yield f'<rect x="{x}" y="14" width="12" height="12" fill="{color}" data-of="{word}"/>'
        yield f'<text x="{x + 18}" y="24">{text}</text>'
    for row, (layer, pair) in enumerate(zip(report.layers, errors, strict=True)):
        top = 44 + _ROW * row
        name = layer.name if len(layer.name) <= _LONGEST else f"{layer.name[: _LONGEST - 1]}…"
        shown = "".join(c if c.isprintable() else "?" for c in name)
        yield (
            f'<text x="{_LEFT - 8}" y="{top + _BAR + 4}" text-anchor="end">{escape(shown)}</text>'
        )
        for place, (value, (_, color)) in enumerate(zip(pair, _COLORS, strict=True)):
            share = min(value / most, 1.0)
            width, y = share * (_WIDTH - _LEFT - 80), top + place * (_BAR + 3)
            yield (
                f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR}" fill="{color}"/>'
            )
            yield f'<text x="{_LEFT + width + 6:.1f}" y="{y + _BAR - 2}">{value:.2%}</text>'
    yield "</svg>"
