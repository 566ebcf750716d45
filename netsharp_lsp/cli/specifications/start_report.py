"""The start of a training as text, JSON or diagnostics; computes nothing."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from netsharp_lsp import __version__
from netsharp_lsp.cli.console.terminal import give, say, source_width, uses_color
from netsharp_lsp.diagnostics.model import RANKS
from netsharp_lsp.diagnostics.reports import FileFindings, Style, render
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_for, title_of
from netsharp_lsp.text.json_text import to_json
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_engine.train import TrainingStart
    from netsharp_lsp.cli.inputs.embedded import Embedded
    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic

CLEAN, FOUND = 0, 1
FAIL_ON = "warning"


def seen_at(start: TrainingStart) -> tuple[tuple[str, str, tuple[float, ...]], ...]:
    """Return the observations as a context has them."""
    return tuple((one.kind, one.layer, one.figures) for one in start.observations)


def event_of(start: TrainingStart) -> str:
    """Return the observations as a line of JSON, for an editor."""
    seen = [
        [kind, layer, [one if math.isfinite(one) else None for one in figures]]
        for kind, layer, figures in seen_at(start)
    ]
    return to_json({"event": "examine", "seen": seen})


def show_start(
    name: str,
    text: bytes,
    context: Context,
    start: TrainingStart,
    form: str,
    embedded: Embedded | None = None,
) -> int:
    """Write the figures and findings of a start; return 1 where one is a warning, else 0.

    ``form`` is one of the formats of `check`; figures are shown in text alone.  ``embedded``:
    the specification's place in a host file, whose lines are then given.
    """
    found = _diagnostics(name, text, context, start)
    lines = LineIndex(text)
    if embedded is not None:
        found, lines, name = embedded.places(found), embedded.lines, embedded.file
    style = Style(uses_color(sys.stdout), source_width(sys.stdout), __version__, title_of)
    if form == "text":
        say(figures_of(start))
    give(render(form, [FileFindings(name, lines, found)], style))
    return FOUND if any(RANKS[one.severity] <= RANKS[FAIL_ON] for one in found) else CLEAN


def _diagnostics(
    name: str, text: bytes, context: Context, start: TrainingStart
) -> list[Diagnostic]:
    """Return the diagnostics of the observations, which a check alone does not have."""
    language, lines = language_for(name), LineIndex(text)
    context.seen = ()
    before = examine(language, lines, context, Selection())
    context.seen = seen_at(start)
    after = examine(language, lines, context, Selection())
    known = {(one.code, one.start, one.message) for one in before}
    return [one for one in after if (one.code, one.start, one.message) not in known]


def figures_of(start: TrainingStart) -> Iterator[str]:
    """Yield the observations, a line each."""
    yield f"start: {start.rows:,} rows examined"
    yield f"  loss      {start.loss:.4g}  (best constant prediction: {start.trivial:.4g})"
    width = max(len("layer"), *(len(one.name) for one in start.layers))
    yield f"  {'layer':<{width}}  gradient      dead  saturated  spread over rows"
    for one in start.layers:
        gradient = f"{one.gradient:.3g}" if math.isfinite(one.gradient) else "-"
        row = f"  {one.name:<{width}}  {gradient:<12}"
        seen = one.answers
        if seen is not None:
            row += f" {seen.dead:>5}  {seen.saturated:>9}  {seen.spread:.3g}"
        yield row.rstrip()
    if start.memorised is None:
        yield "  overfitting a few rows: not tried, it would take too long"
    else:
        rows, before, after = start.memorised
        yield f"  overfitting {rows} rows: loss {before:.4g} -> {after:.4g}"
    if start.stable is not None:
        yield f"  largest stable learning rate: about {start.stable:.2g} (set: {start.rate:g})"
    elif start.rate is not None:
        yield "  largest stable learning rate: none found, or trying would take too long"
