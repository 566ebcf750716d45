"""A whole evaluation: the library, the program's own variables, includes, and the value of a
builder in any of its forms.
"""

from __future__ import annotations

from typing import NamedTuple

from netsharp_lsp.cntk.brainscript.evaluation.classes import CLASSES
from netsharp_lsp.cntk.brainscript.evaluation.evaluator import NOWHERE, Evaluator
from netsharp_lsp.cntk.brainscript.evaluation.values import (
    Absent,
    Built,
    Failure,
    Fault,
    Record,
    Thunk,
)
from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.brainscript.reading.syntax import Include, New, Place
from netsharp_lsp.cntk.brainscript.reading.syntax import Record as RecordLiteral

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from netsharp_lsp.cntk.brainscript.evaluation.values import Value
    from netsharp_lsp.cntk.brainscript.reading.syntax import Entry, Expression, Script
    from netsharp_lsp.cntk.networks.node import Network

    #: The bytes of a file, or None where there is none.
    Reader = Callable[[str], bytes | None]


class Surroundings(NamedTuple):
    """What a text is evaluated in: how files are read, the texts that come before it, and the
    folders that its includes are looked for in, in this order.
    """

    read: Reader
    library: tuple[Script, ...]
    folders: tuple[str, ...] = ()
    precision: str = "float"
    device: float = -1.0
    trace_level: float = 0.0


class Outcome(NamedTuple):
    """What came out: a network, or None, and every fault on the way."""

    network: Network | None
    faults: tuple[Fault, ...]


def evaluate_builder(data: bytes, source: str, around: Surroundings) -> Outcome:
    """The network of a builder's value: `{...}`, `[...]`, `(...)` or `new ComputationNetwork`."""
    script = parse(data, source)
    if script.built is None:
        fault = Fault(
            "builder",
            "a network is described by a record in { } or an expression in ( ).",
            Place(source, 0, len(data)),
        )
        return Outcome(None, (fault,))
    return evaluate_network(script.built, around)


def evaluate_network(built: Expression, around: Surroundings) -> Outcome:
    """The network of an expression; a plain record stands for the network of its members."""
    run = Evaluator(CLASSES)
    if isinstance(built, RecordLiteral):
        built = New(built.place, "ComputationNetwork", built.place, built)
    try:
        scope = outer_scope(run, around)
        value = run.evaluate(_spliced(built, around), scope, "network")
        return _outcome(run, value, built)
    except Failure as failure:
        run.note(failure.fault)
        return Outcome(None, tuple(run.faults))


def evaluate_member(data: bytes, source: str, name: str, around: Surroundings) -> Value | Fault:
    """The value of one member of a text that is a list of members."""
    run = Evaluator(CLASSES)
    try:
        scope = outer_scope(run, around)
        script = parse(data, source)
        inner = Record(scope, script.place)
        run.fill(inner, spliced(script.entries, around, (source,)), "")
        found = inner.find(name)
        if found is None:
            return Fault("unknown-name", f"`{name}` is not defined.", script.place)
        return found.force()
    except Failure as failure:
        return failure.fault


def outer_scope(run: Evaluator, around: Surroundings) -> Record:
    """The library and what the program defines, which every network sees."""
    scope = Record(None, NOWHERE)
    values = {
        "deviceId": around.device,
        "traceLevel": around.trace_level,
        "precision": around.precision,
    }
    for name, value in values.items():
        scope.members[name] = Thunk.of(value, NOWHERE)
    for script in around.library:
        run.fill(scope, spliced(script.entries, around, (script.place.source,)), "")
    return scope


def _outcome(run: Evaluator, value: Value, built: Expression) -> Outcome:
    if isinstance(value, Built):
        return Outcome(value.network, tuple(run.faults))
    if not isinstance(value, Absent):
        run.note(Fault("kind", "this has to be a network.", built.place))
    return Outcome(None, tuple(run.faults))


def spliced(
    entries: Iterable[Entry], around: Surroundings, open_files: tuple[str, ...]
) -> list[Entry]:
    """Members with includes replaced by what they hold."""
    found: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Include):
            found += _included(entry, around, open_files)
        else:
            found.append(entry)
    return found


def _included(entry: Include, around: Surroundings, open_files: tuple[str, ...]) -> list[Entry]:
    for candidate in candidates(entry.path, open_files, around.folders):
        data = around.read(candidate)
        if data is None:
            continue
        if candidate in open_files:
            message = f"`{entry.path}` includes itself: {' → '.join((*open_files, candidate))}."
            raise Failure(Fault("include-cycle", message, entry.place))
        return spliced(parse(data, candidate).entries, around, (*open_files, candidate))
    raise Failure(Fault("include", f"`{entry.path}` is not found.", entry.place))


def candidates(path: str, open_files: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Where an include is looked for: as it is, then its last part alone beside the files that
    are being included, innermost first, then in the folders.
    """
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    beside = [_folder(file) for file in reversed(open_files)]
    return [path, *(f"{folder}{name}" for folder in beside), *(_joined(f, name) for f in folders)]


def _folder(file: str) -> str:
    cut = max(file.rfind("/"), file.rfind("\\"))
    return file[: cut + 1]


def _joined(folder: str, name: str) -> str:
    return f"{folder}{name}" if folder.endswith(("/", "\\")) or not folder else f"{folder}/{name}"


def _spliced(built: Expression, around: Surroundings) -> Expression:
    """An expression whose outermost record has its includes replaced."""
    if isinstance(built, RecordLiteral):
        entries = spliced(built.entries, around, (built.place.source,))
        return built._replace(entries=tuple(entries))
    if isinstance(built, New):
        return built._replace(arguments=_spliced(built.arguments, around))
    if hasattr(built, "record"):
        return built._replace(record=_spliced(built.record, around))
    return built
