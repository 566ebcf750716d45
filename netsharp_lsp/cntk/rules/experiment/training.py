"""Rules on options of training that contradict each other."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.findings import Finding, Note, placed
from netsharp_lsp.cntk.vocabulary import TRUE
from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.run.experiment import Experiment

_MOMENTUM = ("momentumPerMB", "momentumPerSample", "momentumAsTimeConstant")
_BLOCK_SIZES = ("blockSize", "blockSizePerWorker", "syncPeriod", "syncFrequencyInFrames")
_BLOCK_MOMENTUM = ("blockMomentumPerSync", "blockMomentumAsTimeConstant")


def _visits(experiment: Experiment, *tables: str) -> Iterator[Visit]:
    for visit in experiment.visits:
        if visit.table.name in tables and visit.command.listed:
            yield visit


def _given(visit: Visit, names: tuple[str, ...]) -> list[tuple[str, Found]]:
    """Return which of several options are found."""
    found = ((name, visit.option(name)) for name in names)
    return [(name, one) for name, one in found if one is not None and one.text.text]


def _only_one(code: str, visit: Visit, names: tuple[str, ...], why: str) -> Iterator[Finding]:
    given = _given(visit, names)
    if len(given) < 2:
        return
    (first, before), (second, after) = given[:2]
    note = Note(f"{first} is given here.", placed(before.entry.parts[-1].key))
    message = f"{first} and {second} are both given: {why} Remove one of them."
    yield Finding(code, placed(after.entry.parts[-1].key), message, [note])


@rule("CK060", "error", on=EXPERIMENT)
def two_rates(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report learning rates given both per sample and per minibatch."""
    for visit in _visits(experiment, "SGD"):
        names = ("learningRatesPerMB", "learningRatesPerSample")
        yield from _only_one("CK060", visit, names, "CNTK stops.")


@rule("CK062", "error", on=EXPERIMENT)
def several_momentums(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report momentum in more than one unit."""
    for visit in _visits(experiment, "SGD"):
        yield from _only_one("CK062", visit, _MOMENTUM, "CNTK stops.")


@rule("CK063", "error", on=EXPERIMENT)
def small_epochs(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report an epoch with fewer samples than a minibatch."""
    for visit in _visits(experiment, "SGD"):
        epoch = _whole(visit.text("epochSize"))
        found = visit.option("minibatchSize")
        place = visit.option("epochSize")
        if not epoch or place is None:
            continue
        sizes = [256] if found is None else _wholes(found)
        too_large = [size for size in sizes if size > epoch]
        if not too_large:
            continue
        source = "its default" if found is None else "minibatchSize"
        message = (
            f"An epoch of {epoch} samples is smaller than a minibatch of {max(too_large)} "
            f"({source}): CNTK stops. Raise epochSize (0 means all data), or make "
            "minibatches smaller."
        )
        yield Finding("CK063", placed(place.entry.parts[-1].value), message)


@rule("CK064", "warning", on=EXPERIMENT)
def two_block_sizes(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report two options of parallel training that set the same value."""
    why = "with several workers CNTK stops."
    for visit in _visits(experiment, "ModelAveragingSGD", "BlockMomentumSGD"):
        yield from _only_one("CK064", visit, _BLOCK_SIZES, why)
        yield from _only_one("CK064", visit, _BLOCK_MOMENTUM, why)


@rule("CK065", "info", on=EXPERIMENT)
def idle_parallel_block(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report a ParallelTrain block in a run of one worker."""
    root = experiment.configuration.root
    switch = root.look_up(b"parallelTrain")
    if switch is None or switch.text.text.lower() not in (b"false", b"f", b"0"):
        return
    for visit in _visits(experiment, "ParallelTrain"):
        place = placed(visit.found.entry.parts[-1].key)
        note = Note("parallelTrain is given here.", placed(switch.entry.parts[-1].key))
        message = "parallelTrain is false, so this block is not read."
        yield Finding("CK065", place, message, [note])


@rule("CK066", "error", on=EXPERIMENT)
def gradient_check(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report a gradient check in single precision."""
    precision = experiment.configuration.root.option(b"precision", "float")
    for visit in _visits(experiment, "SGD"):
        found = visit.option("gradientcheck")
        if found is None or visit.text("gradientcheck") not in TRUE or precision != "float":
            continue
        message = "gradientcheck needs precision=double at the top level: CNTK stops."
        yield Finding("CK066", placed(found.entry.parts[-1].value), message)


@rule("CK067", "warning", on=EXPERIMENT)
def options_without_effect(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report options of AutoAdjust while nothing is adjusted."""
    for visit in _visits(experiment, "AutoAdjust"):
        rate = visit.scope.option(b"autoAdjustLR", "none").lower()
        size = visit.scope.option(b"autoAdjustMinibatch", "false")
        if rate not in ("none", "false") or size in TRUE:
            continue
        idle = [
            entry
            for entry in visit.scope
            if entry.key.lower() not in (b"autoadjustlr", b"autoadjustminibatch")
        ]
        if idle:
            message = (
                "autoAdjustLR is none, so nothing is adjusted and this block has no effect. Write "
                "autoAdjustLR=adjustAfterEpoch, or remove the block."
            )
            yield Finding("CK067", placed(visit.found.entry.parts[-1].key), message)


@rule("CK068", "error", on=EXPERIMENT)
def truncated_reader(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report `truncated` only in the reader of a training, which CNTK rejects."""
    if experiment.configuration.root.here(b"truncated") is not None:
        return
    for visit in experiment.visits:
        if visit.outer is not None or not visit.command.listed:
            continue
        if not {"train", "trainRNN"}.intersection(visit.command.actions):
            continue
        reader, training = visit.scope.block(b"reader"), visit.scope.block(b"SGD")
        entry = None if reader is None else reader.here(b"truncated")
        if entry is None or training is None or training.here(b"truncated") is not None:
            continue
        message = (
            "truncated is given in the reader and not in SGD: CNTK stops. Write it at the "
            "top level instead, where both find it."
        )
        yield Finding("CK068", placed(entry.parts[-1].key), message)


def _wholes(found: Found) -> list[int]:
    texts = elements(found.text) or () if found.problem is None else ()
    values = (_whole(text.text.decode("utf-8", "replace")) for text in texts)
    return [value for value in values if value is not None]


def _whole(text: str | None) -> int | None:
    return None if text is None else whole_number(text.strip())
