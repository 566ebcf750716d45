"""The diagnostics of runs by file: each run is analysed once, and its findings go to its files.

Does not access the disk; a file is identified by the canonical path that its reader returns.
"""

from __future__ import annotations

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.library import PREFIX
from netsharp_lsp.cntk.rules import reports_unknown
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.cntk.run.neighbours import alone
from netsharp_lsp.cntk.vocabulary import VARIABLE
from netsharp_lsp.diagnostics.model import RANKS, Diagnostic, Related
from netsharp_lsp.text.visible import encodable
from netsharp_lsp.workspace import GivenFiles, Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from netsharp_lsp.workspace import Count, Counted, Folders, Run

#: The name of a text without a file.
NAMELESS = "<text>"
#: The prefixes of names of sources that are not files.
NOT_FILES = (COMMAND_LINE, PREFIX)


class Analysis:
    """The diagnostics of one run, and the bytes of what was read, by the canonical paths of
    files.
    """

    __slots__ = ("diagnostics", "texts")

    def __init__(self, diagnostics: dict[str, list[Diagnostic]], texts: dict[str, bytes]) -> None:
        self.diagnostics = diagnostics
        self.texts = texts


def analysed(experiment: Experiment) -> Analysis:
    """Check a run; related places in other files are given by the canonical paths of these."""
    names: dict[str, str] = {}

    origin = experiment.run.origin

    def name_of(source: str) -> str:
        if source == COMMAND_LINE and origin is not None:
            return origin.file
        if source not in names:
            is_file = not source.startswith(NOT_FILES)
            names[source] = experiment.files.locate(source) if is_file else source
        return names[source]

    diagnostics: dict[str, list[Diagnostic]] = {}
    for source, found in diagnostics_by_file(experiment).items():
        if origin is not None:
            found = _with_values(experiment, source, found)
        renamed = (_with_names(one, name_of, experiment.run) for one in found)
        if source == COMMAND_LINE and origin is not None:
            renamed = (_in_script(one, experiment.run) for one in renamed)
        diagnostics.setdefault(name_of(source), []).extend(renamed)
    read = experiment.files.texts.items()
    return Analysis(diagnostics, {name_of(path): data for path, data in read if data is not None})


def merged(several: Iterable[Iterable[Diagnostic]]) -> list[Diagnostic]:
    """Merge the diagnostics of several runs about one file: equal ones once, the most severe wins.

    Of those that report that a part of a run is unknown only the first is kept.
    """
    found: dict[object, Diagnostic] = {}
    for diagnostics in several:
        for one in diagnostics:
            known = found.setdefault(one.sort_key, one)
            if RANKS[one.severity] < RANKS[known.severity]:
                found[one.sort_key] = one
    ordered = sorted(found.values(), key=lambda one: one.sort_key)
    unknown = next((one for one in ordered if reports_unknown(one.code)), None)
    return [one for one in ordered if one is unknown or not reports_unknown(one.code)]


def diagnostics_of(
    language_id: str, data: bytes, workspace: Workspace | None = None
) -> list[Diagnostic]:
    """Return the diagnostics of a text in all runs that use it; without a run, those of the text
    alone.
    """
    if workspace is None:
        workspace = Workspace(NAMELESS, GivenFiles({NAMELESS: data}))
    name = workspace.files.locate(workspace.name)
    files = Over(workspace.files, {name: data})
    runs = workspace.runs or (alone(workspace.name) if language_id == "cntk" else None,)
    found = []
    for run in runs:
        if run is not None:
            run = run.assigning(workspace.assignments)
        key = ("alone", name) if run is None else run.key
        known: Analysis | None = workspace.known.get(key)
        if known is None or known.texts.get(name, data) != data:
            known = analysed(_experiment(run, language_id, files, workspace))
            workspace.known[key] = known
        found.append(known.diagnostics.get(name, ()))
    return merged(found)


def diagnostics_in(experiments: Iterable[Experiment], name: str) -> list[Diagnostic]:
    """Return the diagnostics of runs about one file, by its canonical path."""
    return merged(analysed(experiment).diagnostics.get(name, ()) for experiment in experiments)


def _experiment(
    run: Run | None, language_id: str, files: Folders, workspace: Workspace
) -> Experiment:
    if run is None:
        return SingleFile(workspace.name, language_id, files, workspace.library, workspace.given)
    return Experiment(run, files, workspace.library, workspace.given).among(files)


class Over:
    """Files of which some have other texts, or do not exist, by their canonical paths."""

    __slots__ = ("_files", "_texts", "locate")

    def __init__(self, files: Folders, texts: Mapping[str, bytes]) -> None:
        self._files = files
        self._texts = texts
        self.locate = files.locate

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none."""
        text = self._text(path)
        return self._files.read(path) if text is None else text

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder of that name exists; reads nothing."""
        return self._files.exists(path) or self._text(path) is not None

    def kind(self, path: str) -> str | None:
        """Return the kind of a path; None if nothing is there."""
        return self._files.kind(path) if self._text(path) is None else "file"

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return the result of `count` on a data file; None if it may not be read."""
        text = self._text(path)
        return self._files.counted(path, count) if text is None else count((text,))

    def outside(self, path: str) -> bool:
        """Return whether a file is unknown, because it is outside the allowed folders."""
        return self._text(path) is None and self._files.outside(path)

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; none where it cannot be read."""
        return self._files.names_in(folder)

    def _text(self, path: str) -> bytes | None:
        """Return the other text of a file, without resolving the path if no file has one."""
        return self._texts.get(self.locate(path)) if self._texts else None


def _with_names(one: Diagnostic, name_of: Callable[[str], str], run: Run) -> Diagnostic:
    """Return a diagnostic whose related places have the canonical paths of their files."""
    if all(related.file is None for related in one.related):
        return one
    related = []
    for it in one.related:
        span = (it.start, it.end)
        if it.file == COMMAND_LINE:
            span = _span_in_script(run, *span)
        related.append(Related(it.message, *span, None if it.file is None else name_of(it.file)))
    return Diagnostic(one.code, one.severity, one.message, one.start, one.end, related, one.fix)


def _with_values(experiment: Experiment, source: str, found: list[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics with the places in a script that give their variables a value."""
    texts = {one.name: one.text for one in experiment.configuration.layers.sources}
    given: dict[str, tuple[int, int]] = {}
    at = 0
    for item in experiment.run.items:
        length = len(encodable(item).encode())
        given[item.partition("=")[0].strip().lower()] = (at, at + length)
        at += length + 1
    result = []
    for one in found:
        names = VARIABLE.findall(texts.get(source, b"")[one.start : one.end])
        spans = [given.get(name.decode("utf-8", "replace").lower()) for name in names]
        notes = [
            Related("Its value comes from here.", *span, COMMAND_LINE)
            for span in spans
            if span is not None
        ]
        if notes and not one.related:
            one = Diagnostic(
                one.code, one.severity, one.message, one.start, one.end, notes, one.fix
            )
        result.append(one)
    return result


def _in_script(one: Diagnostic, run: Run) -> Diagnostic:
    """Return a diagnostic on a command line at its place in the script, without its fix."""
    start, end = _span_in_script(run, one.start, one.end)
    related = [
        it if it.file else Related(it.message, *_span_in_script(run, it.start, it.end))
        for it in one.related
    ]
    return Diagnostic(one.code, one.severity, one.message, start, end, related)


def _span_in_script(run: Run, start: int, end: int) -> tuple[int, int]:
    """Return the span in a script of a place on a command line; assignments after it have none."""
    if run.origin is None:
        return start, end
    at = 0
    spans = []
    for item, span in zip(run.items, run.origin.spans, strict=False):
        length = len(encodable(item).encode())
        if at <= end and start <= at + length:
            spans.append(span)
        at += length + 1
    if not spans:
        spans = [run.origin.spans[-1]]
    return spans[0][0], max(spans[-1][1], spans[0][1])
