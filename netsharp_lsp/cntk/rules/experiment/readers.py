"""Rules on readers: unknown types and libraries, missing parts, options that exclude each other."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.meaning.usage import sections
from netsharp_lsp.cntk.configuration.options import MODULES, READERS, block
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.findings import Finding, Note, placed
from netsharp_lsp.cntk.rules.proposals import proposal
from netsharp_lsp.cntk.versions import ALWAYS, rank
from netsharp_lsp.cntk.vocabulary import TRUE
from netsharp_lsp.diagnostics.nearest import suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.options import Block
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.versions import Releases
    from netsharp_lsp.diagnostics.model import Severity


def _readers(experiment: Experiment, *tables: str) -> Iterator[Visit]:
    """Yield the blocks of readers of some types, of any type if none is given."""
    for visit in experiment.visits:
        name = visit.table.name
        if visit.command.listed and (name in tables if tables else _is_reader(visit)):
            yield visit


def _is_reader(visit: Visit) -> bool:
    return visit.is_open or visit.table.name == "readers" or visit.table.name.lower() in READERS


def _value(found: Found) -> str:
    return found.text.text.decode("utf-8", "replace")


@rule("CK101", "warning", on=EXPERIMENT)
def unknown_readers(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report types of readers, and libraries of deserializers, that are not part of CNTK."""
    known = {table.name: _released(table, "readerType", table.name) for table in READERS.values()}
    modules = {module: _of_module(kinds) for module, kinds in MODULES.items()}
    for visit in _readers(experiment):
        found = visit.option("readerType") if visit.is_open else None
        if found is None or found.problem is not None:
            continue
        name = _value(found)
        message = (
            f"CNTK has no reader '{name}' and looks for a library of that name."
            f"{proposal(name, known.items(), experiment).sentence}"
        )
        yield Finding("CK101", placed(found.text.place(0, len(found.text))), message)
    for visit in _readers(experiment, "deserializer"):
        found = visit.option("module")
        if found is None or found.problem is not None or _value(found) in MODULES:
            continue
        name = _value(found)
        hint = proposal(name, modules.items(), experiment).sentence
        message = f"CNTK has no library '{name}' of deserializers.{hint}"
        yield Finding("CK101", placed(found.text.place(0, len(found.text))), message)


def _released(table: Block | None, key: str, word: str) -> Releases:
    """Return the releases that have a value of an option."""
    option = table.find(key) if table is not None else None
    return option.word(word) if option is not None else ALWAYS


def _of_module(kinds: Iterable[str]) -> Releases:
    """Return the releases that have a library: those that have the first of its deserializers."""
    table = block("deserializer")
    return min((_released(table, "type", kind) for kind in kinds), key=lambda one: rank(one.since))


@rule("CK102", "error", on=EXPERIMENT)
def foreign_types(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report deserializers that another library has."""
    owners = {kind: module for module, kinds in MODULES.items() for kind in kinds}
    for visit in _readers(experiment, "deserializer"):
        module, found = visit.text("module"), visit.option("type")
        kind = visit.text("type")
        if module not in MODULES or found is None or kind not in owners or kind is None:
            continue
        if kind in MODULES[module]:
            continue
        kinds = [one for one in MODULES[module] if experiment.has(_of_module((one,)))]
        only = f"has only {', '.join(kinds)}" if kinds else "has none"
        message = f"'{kind}' belongs to the module {owners[kind]}, and {module} {only}: CNTK stops."
        yield Finding("CK102", placed(found.text.place(0, len(found.text))), message)


@rule("CK103", "error", on=EXPERIMENT)
def repeated_aliases(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report two streams with the same name in the file, or one with an empty name."""
    for visit in _readers(experiment, "streams"):
        known: dict[str, Visit] = {}
        for stream in experiment.visits:
            if stream.outer is not visit or stream.table.name != "stream":
                continue
            alias = stream.text("alias") if stream.option("alias") else stream.name
            if alias is None:
                continue
            yield from _repeated(alias, stream, known)


def _repeated(alias: str, stream: Visit, known: dict[str, Visit]) -> Iterator[Finding]:
    found = stream.option("alias")
    key = stream.found.entry.parts[-1].key
    place = placed(key if found is None else found.entry.parts[-1].value)
    if not alias:
        message = f"The alias of the stream '{stream.name}' is empty: CNTK stops."
        yield Finding("CK103", place, message)
        return
    before = known.setdefault(alias, stream)
    if before is stream:
        return
    message = (
        f"The alias '{alias}' of the stream '{stream.name}' is already that of the stream "
        f"'{before.name}': CNTK stops. Give each its own."
    )
    note = Note(f"'{before.name}' is here.", placed(before.found.entry.parts[-1].key))
    yield Finding("CK103", place, message, [note])


@rule("CK104", "error", on=EXPERIMENT)
def missing_readers(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report names in `readers` whose blocks do not exist."""
    for visit in _readers(experiment, "readers"):
        listed = visit.option("readers")
        for element in elements(listed.text) or () if listed is not None else ():
            name = element.text.decode("utf-8", "replace")
            if "$" in name or visit.scope.look_up(element.text) is not None:
                continue
            blocks = [
                entry.key.decode("utf-8", "replace")
                for entry in visit.scope
                if entry.kind == "block"
            ]
            message = (
                f"readers names '{name}', and there is no such block: CNTK stops."
                f"{suggestion(name, blocks)}"
            )
            yield Finding("CK104", placed(element.place(0, len(element))), message)


@rule("CK109", "error", on=EXPERIMENT)
def frames_and_pieces(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report single frames together with truncated sequences."""
    for visit in _readers(experiment, "CompositeDataReader", "HTKMLFReader", "HTKDeserializers"):
        default = "false" if visit.table.name == "CompositeDataReader" else "true"
        frames = visit.scope.option(b"frameMode", default) in TRUE
        found = visit.option("truncated")
        cut = found is not None and visit.text("truncated") in TRUE
        if not frames or not cut or found is None or "write" in visit.command.actions:
            continue
        mode = visit.option("frameMode")
        notes = [] if mode is None else [_here(mode, "frameMode")]
        by = "" if mode is not None else ", and frameMode is true by default"
        message = f"truncated cuts sequences, and with frameMode there are none{by}: CNTK stops."
        yield Finding("CK109", placed(found.entry.parts[-1].value), message, notes)


def _here(found: Found, name: str) -> Note:
    return Note(f"{name} is given here.", placed(found.entry.parts[-1].key))


@rule("CK110", "error", on=EXPERIMENT)
def pieces_without_length(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report truncated sequences without a length."""
    for visit in _readers(experiment, "CompositeDataReader"):
        found = visit.option("truncated")
        cut = found is not None and visit.text("truncated") in TRUE
        length = visit.option("truncationLength")
        known = length is None or length.problem is None
        if not cut or found is None or not known or "write" in visit.command.actions:
            continue
        if length is None or _value(length).strip() == "0":
            # Values at the top level are often overridden when CNTK is started.
            overridden = found.scope.parent is None and not experiment.run.declared
            message = "truncated needs truncationLength of at least 1: CNTK stops."
            place = placed(found.entry.parts[-1].value)
            severity: Severity | None = "warning" if overridden else None
            yield Finding("CK110", place, message, severity=severity)


@rule("CK111", "error", on=EXPERIMENT)
def image_sections(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report an ImageReader without exactly one block of images and one of labels."""
    for visit in _readers(experiment, "ImageReader"):
        own = [one for one in experiment.visits if one.outer is visit]
        if not own or len(own) < len([1 for _, it in sections(visit) if it.problem]):
            continue
        images = sum(one.scope.here(b"width") is not None for one in own)
        labels = sum(one.scope.here(b"labelDim") is not None for one in own)
        if (images, labels) == (1, 1):
            continue
        message = (
            "An ImageReader needs exactly one block of images (with width) and one of labels (with "
            f"labelDim), but has {images} and {labels}: CNTK stops."
        )
        yield Finding("CK111", placed(visit.found.entry.parts[-1].key), message)


@rule("CK112", "error", on=EXPERIMENT)
def odd_windows(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report a context window that has no middle, or more than two sides."""
    for visit in _readers(experiment, "speech section", "kaldi section", "deserialized stream"):
        found = visit.option("contextWindow")
        if found is None or found.problem is not None:
            continue
        sides = [one.text.decode("utf-8", "replace").strip() for one in elements(found.text) or ()]
        if not all(side.isdecimal() for side in sides):
            continue
        if len(sides) == 1 and sides[0][-1] in "02468":
            what = f"{sides[0]} frames have none in the middle"
        elif len(sides) > 2:
            what = f"{len(sides)} values are given"
        else:
            continue
        message = (
            f"contextWindow is an odd number of frames, or left:right, and {what}: CNTK stops."
        )
        yield Finding("CK112", placed(found.entry.parts[-1].value), message)


@rule("CK113", "error", on=EXPERIMENT)
def methods(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report `randomize=none` with a method that shuffles."""
    tables = ("HTKMLFReader", "HTKDeserializers", "Kaldi2Reader", "KaldiReader")
    for visit in _readers(experiment, *tables):
        method = visit.scope.option(b"readMethod", "blockRandomize")
        found = visit.option("randomize")
        if method != "blockRandomize" or found is None or found.problem is not None:
            continue
        if _value(found).lower() != "none" or "write" in visit.command.actions:
            continue
        message = (
            "randomize cannot be none while readMethod is blockRandomize: CNTK stops. Write "
            "readMethod=rollingWindow, or none with HTKDeserializers."
        )
        yield Finding("CK113", placed(found.entry.parts[-1].value), message)
