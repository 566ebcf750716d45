"""Folds from the places of brackets and comments; knows no language.

A closing bracket that begins its line stays visible.
"""

from __future__ import annotations

from netsharp_lsp.ide.answers import Fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.ide.answers import Range
    from netsharp_lsp.text.lines import LineIndex


def folds_from(lines: LineIndex, brackets: Iterable[Range], runs: Iterable[Range]) -> list[Fold]:
    """Return all folds in text order; of those that begin on one line only the longest.

    `brackets` are spans from an opening bracket to the end of its closing one, `runs` of comments.
    """
    found: dict[int, Fold] = {}
    for start, end in brackets:
        _keep(found, lines, Fold(start, _before_closing(lines, end)))
    for start, end in runs:
        _keep(found, lines, Fold(start, end, "comment"))
    return [found[line] for line in sorted(found)]


def comment_runs(lines: LineIndex, comments: Iterable[tuple[int, int, bool]]) -> Iterator[Range]:
    """Yield runs of comments that are on lines of their own, without other lines between them.

    `comments`: start, end, and whether one may be a run of its own beside code (a block).
    """
    run: list[Range] = []
    for start, end, block in comments:
        first = lines.line_at(start)
        alone = not lines.text[lines.starts[first] : start].strip()
        if run and alone and first == lines.line_at(run[-1][1]) + 1:
            run.append((start, end))
            continue
        if run:
            yield run[0][0], run[-1][1]
        run = [(start, end)] if alone or block else []
    if run:
        yield run[0][0], run[-1][1]


def _keep(found: dict[int, Fold], lines: LineIndex, fold: Fold) -> None:
    first = lines.line_at(fold.start)
    if lines.line_at(fold.end) > first:
        other = found.get(first)
        if other is None or other.end < fold.end:
            found[first] = fold


def _before_closing(lines: LineIndex, end: int) -> int:
    """Return the end of the line before a closing bracket that begins its line; else its end."""
    line = lines.line_at(end)
    start = lines.span(line)[0]
    if line and end - start >= 1 and not lines.text[start : end - 1].strip():
        return lines.span(line - 1)[1]
    return end
