"""Files that a run reads and that do not exist: texts of networks, and data."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options import READERS
from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.experiment.starts import files_of_starts
from netsharp_lsp.cntk.rules.findings import Finding, Place, placed
from netsharp_lsp.cntk.rules.paths import FOLDER, not_a_file
from netsharp_lsp.cntk.run.edits import normal
from netsharp_lsp.cntk.run.models import goes_on, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

#: Options that name texts of networks, and what separates several.
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
#: What a reader writes itself where it is not there.
_MADE = frozenset(("labelmappingfile", "token"))


@rule("CK116", "error", on=EXPERIMENT)
def missing_texts(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Files of NDL and MEL that are named and not there."""
    told: set[object] = set()
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
                    said = f"{name}: {not_a_file(one, kind)}"
                    grave: Severity | None = "warning" if kind == FOLDER else "hint"
                    finding = Finding("CK116", finding.place, said, severity=grave)
                if (finding.place, one) not in told:
                    told.add((finding.place, one))
                    yield finding


def _is_there(path: str, experiment: Experiment) -> bool:
    """Whether a file is there, or where nobody may look."""
    return experiment.files.exists(path) or experiment.files.outside(path)


def _is_beside(path: str, experiment: Experiment) -> bool:
    """Whether a file of that name is in the folder of a configuration."""
    folders = {source.name.rpartition("/")[0] for source in experiment.configuration.layers.sources}
    base = normal(path).rpartition("/")[2]
    return any(experiment.files.exists(f"{one}/{base}" if one else base) for one in folders)


def _missing(name: str, path: str, found: Found, visit: Visit, experiment: Experiment) -> Finding:
    message = (
        f"{name}: there is no file '{path}'. Paths are relative to the folder that the program is "
        "started in."
    )
    grave: Severity | None = None if visit.command.listed else "warning"
    if not experiment.run.declared and found.text.uses and _is_beside(path, experiment):
        # Whoever starts the program is likely to say where its folders are.
        grave = "info"
    elif name == "networkDescription" and goes_on(visit.command, experiment):
        message += " It is needed unless there is the model that a command before this one writes."
        grave = "warning"
    at = found.text.text.find(path.encode())
    place = found.text.place(at, at + len(path.encode())) if at >= 0 else found.text.place(0, 0)
    return Finding("CK116", placed(place), message, severity=grave)


@rule("CK117", "hint", on=EXPERIMENT)
def missing_data(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Data that are named and not there, once a reader; worth more where other data are there."""
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
            said = f"{name}: {not_a_file(path, kind)}"
            yield Finding("CK117", place, said, severity="warning" if kind == FOLDER else "hint")
        elif kind is not None:
            continue
        elif _is_there(path, experiment):
            some = True
        elif _is_path(path):
            lacking.setdefault(reader, []).append((name, path, place))
    told: set[object] = set()
    for (name, path, place), *others in lacking.values():
        paths = {other for _, other, _ in others} - {path}
        more = f" Nor are there {len(paths)} more that this reader names." if len(paths) > 1 else ""
        more = f" Nor is there '{paths.pop()}'." if len(paths) == 1 else more
        if place not in told:
            told.add(place)
            message = f"{name}: there is no file '{path}' here.{more}"
            yield Finding("CK117", place, message, severity="info" if some else None)


def _data(experiment: Experiment) -> Iterator[tuple[object, str, str, Place]]:
    """The files of data that listed commands name: for which reader, by which option, and where."""
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
    """The files that parameters of networks start from, each of which stands for itself."""
    for name, path, place in files_of_starts(experiment):
        yield place, name, path, place


def _reader(visit: Visit) -> object:
    """Where the reader of a block stands, or what else of data is around it."""
    while visit.outer is not None and visit.outer.table.name in _DATA:
        visit = visit.outer
    return visit.found.text.place(0, len(visit.found.text)).key


def _is_path(text: str) -> bool:
    """Whether a value is one path, rather than several or a program's output."""
    return not any(sign in text for sign in "|{}[]\n*") and not text.startswith("$")


def _made(experiment: Experiment) -> set[str]:
    """The files that commands of the run write."""
    return {
        normal(path)
        for visit in experiment.visits
        for option in visit.table
        if option.kind == "output" and (path := path_of(visit.option(option.name))) is not None
    }
