"""Rules on files that a run reads and that do not exist: texts of networks, and data."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options import READERS
from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.experiment.starts import files_of_starts
from netsharp_lsp.cntk.rules.findings import Finding, Place, placed
from netsharp_lsp.cntk.rules.paths import FOLDER, not_a_file
from netsharp_lsp.cntk.run.edits import normal
from netsharp_lsp.cntk.run.models import may_resume, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

#: Options that name texts of networks, and the separator of several.
_TEXTS = {"networkDescription": "", "ndlMacros": "+", "editPath": ""}
#: Tables whose files are data.
_DATA = frozenset(
    (
        *(table.name for table in READERS.values()),
        *("stream", "deserializer", "deserialized stream", "image section", "transform"),
        *("speech section", "word section", "tag section", "column section", "sparse section"),
        *("SimpleNetworkBuilder", "writeWordAndClass"),
    )
)
#: Files that a reader creates itself.
_MADE = frozenset(("labelmappingfile", "token"))


@rule("CK116", "error", on=EXPERIMENT)
def missing_texts(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report files of NDL and MEL that are named and do not exist."""
    seen: set[object] = set()
    for visit in experiment.visits:
        for name, separator in _TEXTS.items():
            found = visit.option(name) if visit.table.find(name) is not None else None
            path = path_of(found)
            if found is None or path is None or is_block(path.encode()):
                continue
            for one in path.split(separator) if separator else [path]:
                if "+" in one or not one.strip():
                    continue
                kind = experiment.files.not_a_file(one)
                if kind is None and _is_there(one, experiment):
                    continue
                finding = _missing(name, one, found, visit, experiment)
                if kind is not None:
                    text = f"{name}: {not_a_file(one, kind)}"
                    severity: Severity | None = "warning" if kind == FOLDER else "hint"
                    finding = Finding("CK116", finding.place, text, severity=severity)
                if (finding.place, one) not in seen:
                    seen.add((finding.place, one))
                    yield finding


def _is_there(path: str, experiment: Experiment) -> bool:
    """Return whether a file exists, or is outside the allowed folders."""
    return experiment.files.exists(path) or experiment.files.outside(path)


def _is_beside(path: str, experiment: Experiment) -> bool:
    """Return whether a file of that name is in the folder of a configuration."""
    folders = {source.name.rpartition("/")[0] for source in experiment.configuration.layers.sources}
    base = normal(path).rpartition("/")[2]
    return any(experiment.files.exists(f"{one}/{base}" if one else base) for one in folders)


def _missing(name: str, path: str, found: Found, visit: Visit, experiment: Experiment) -> Finding:
    message = (
        f"{name}: there is no file '{path}'. Paths are relative to the folder in which CNTK is "
        "started."
    )
    severity: Severity | None = None if visit.command.listed else "warning"
    if not experiment.run.declared and found.text.uses and _is_beside(path, experiment):
        # The script that starts CNTK is likely to set the folders.
        severity = "info"
    elif name == "networkDescription" and may_resume(visit.command, experiment):
        message += " It is needed unless the model that an earlier command writes exists."
        severity = "warning"
    at = found.text.text.find(path.encode())
    place = found.text.place(at, at + len(path.encode())) if at >= 0 else found.text.place(0, 0)
    return Finding("CK116", placed(place), message, severity=severity)


@rule("CK117", "hint", on=EXPERIMENT)
def missing_data(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report data files that do not exist, once per reader; more severe if other data exist."""
    made = _made(experiment)
    lacking: dict[object, list[tuple[str, str, Place]]] = {}
    some = False
    odd: set[Place] = set()
    for reader, name, path, place in (*_data(experiment), *_starts(experiment)):
        if normal(path) in made:
            continue
        kind = experiment.files.not_a_file(path)
        if kind is not None and place not in odd:
            odd.add(place)
            text = f"{name}: {not_a_file(path, kind)}"
            yield Finding("CK117", place, text, severity="warning" if kind == FOLDER else "hint")
        elif kind is not None:
            continue
        elif _is_there(path, experiment):
            some = True
        elif _is_path(path):
            lacking.setdefault(reader, []).append((name, path, place))
    seen: set[object] = set()
    for (name, path, place), *others in lacking.values():
        paths = {other for _, other, _ in others} - {path}
        more = (
            f" {len(paths)} more files of this reader do not exist either."
            if len(paths) > 1
            else ""
        )
        more = f" '{paths.pop()}' does not exist either." if len(paths) == 1 else more
        if place not in seen:
            seen.add(place)
            message = f"{name}: there is no file '{path}' here.{more}"
            yield Finding("CK117", place, message, severity="info" if some else None)


def _data(experiment: Experiment) -> Iterator[tuple[object, str, str, Place]]:
    """Yield the data files that listed commands name: for which reader, by which option,
    and where.
    """
    for visit in experiment.visits:
        if visit.table.name not in _DATA or not visit.command.listed:
            continue
        for option in visit.table:
            found = visit.option(option.name) if option.kind == "input" else None
            path = path_of(found)
            if found is not None and path is not None and option.name.lower() not in _MADE:
                place = placed(found.text.place(0, len(found.text)))
                yield _reader(visit), option.name, path, place


def _starts(experiment: Experiment) -> Iterator[tuple[object, str, str, Place]]:
    """Yield the files that parameters of networks start from, each with its place as its reader."""
    for name, path, place in files_of_starts(experiment):
        yield place, name, path, place


def _reader(visit: Visit) -> object:
    """Return the place of the reader, or other block of data, that a block is in."""
    while visit.outer is not None and visit.outer.table.name in _DATA:
        visit = visit.outer
    return visit.found.text.place(0, len(visit.found.text)).key


def _is_path(text: str) -> bool:
    """Return whether a value is one path, rather than several or a program's output."""
    return not any(sign in text for sign in "|{}[]\n*") and not text.startswith("$")


def _made(experiment: Experiment) -> set[str]:
    """Return the files that commands of the run write."""
    return {
        normal(path)
        for visit in experiment.visits
        for option in visit.table
        if option.kind == "output" and (path := path_of(visit.option(option.name))) is not None
    }
