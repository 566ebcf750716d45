"""What runs say about files: each run is analysed once, and what is found goes to its files.

Knows no disk; a file is known by the one name that its reader gives it.
"""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.judging.check import diagnostics_by_file
from netsharp_lsp.cntk.library import PREFIX
from netsharp_lsp.cntk.rules import tells_unknown
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

#: What a text is called that has no name.
NAMELESS = "<text>"
#: What the names of sources begin with that are no files.
NOT_FILES = (COMMAND_LINE, PREFIX)


class Analysis:
    """What one run gave: diagnostics, and the bytes of what was read, by the one names of files."""

    __slots__ = ("diagnostics", "texts")

    def __init__(self, diagnostics: dict[str, list[Diagnostic]], texts: dict[str, bytes]) -> None:
        self.diagnostics = diagnostics
        self.texts = texts


def analysed(experiment: Experiment) -> Analysis:
    """Check a run; what belongs to a diagnostic in another file carries that file's one name."""
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
    """Put together what several runs say about one file: the same comes once, the gravest wins.

    Of those that say that something is not known the first stays.
    """
    found: dict[object, Diagnostic] = {}
    for diagnostics in several:
        for one in diagnostics:
            known = found.setdefault(one.sort_key, one)
            if RANKS[one.severity] < RANKS[known.severity]:
                found[one.sort_key] = one
    ordered = sorted(found.values(), key=lambda one: one.sort_key)
    unknown = next((one for one in ordered if tells_unknown(one.code)), None)
    return [one for one in ordered if one is unknown or not tells_unknown(one.code)]


def diagnostics_of(
    language_id: str, data: bytes, workspace: Workspace | None = None
) -> list[Diagnostic]:
    """What is wrong with a text in all runs that use it; where there is none, with it alone."""
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
    """What runs say about one file, by its one name."""
    return merged(analysed(experiment).diagnostics.get(name, ()) for experiment in experiments)


def _experiment(
    run: Run | None, language_id: str, files: Folders, workspace: Workspace
) -> Experiment:
    if run is None:
        return SingleFile(workspace.name, language_id, files, workspace.library, workspace.given)
    return Experiment(run, files, workspace.library, workspace.given).among(files)


class Over:
    """Files of which some have other texts, or are not there at all, by their one names."""

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
        """Whether there is a file or a folder of that name; reads nothing."""
        return self._files.exists(path) or self._text(path) is not None

    def kind(self, path: str) -> str | None:
        """Return what has a name; None where nothing is seen there."""
        return self._files.kind(path) if self._text(path) is None else "file"

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return what `count` makes of a file of data; None where none may be read."""
        text = self._text(path)
        return self._files.counted(path, count) if text is None else count((text,))

    def outside(self, path: str) -> bool:
        """Whether nothing can be known of a file."""
        return self._text(path) is None and self._files.outside(path)

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; none where it cannot be read."""
        return self._files.names_in(folder)

    def _text(self, path: str) -> bytes | None:
        """The other text of a file; where none has one, nobody asks where a name leads."""
        return self._texts.get(self.locate(path)) if self._texts else None


def _with_names(one: Diagnostic, name_of: Callable[[str], str], run: Run) -> Diagnostic:
    """A diagnostic whose related places in other files carry the one names of these."""
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
    """Diagnostics with the places of a script that give variables in them their values."""
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
    """A diagnostic on a command line, where a script has it; what would mend it is not told."""
    start, end = _span_in_script(run, one.start, one.end)
    related = [
        it if it.file else Related(it.message, *_span_in_script(run, it.start, it.end))
        for it in one.related
    ]
    return Diagnostic(one.code, one.severity, one.message, start, end, related)


def _span_in_script(run: Run, start: int, end: int) -> tuple[int, int]:
    """Where a script has the words of a command line's place; assignments behind it have none."""
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
