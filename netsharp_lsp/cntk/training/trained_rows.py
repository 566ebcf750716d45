"""The samples that a model was trained on and is evaluated on, as the readers of its run provide
them.

Reads files only through the readers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.data.errors import DataError, nearest
from netsharp_lsp.cntk.run.models import model_of, models_written, trains
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.samples.word_lists import lines_of, sections
from netsharp_lsp.cntk.training.work import samples_of, work_of
from netsharp_lsp.outcome import ReadSamples, TrainedOn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from netsharp_engine.cntk.samples.given import Wants
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.training.samples.reader import SampleReader
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop

#: The action that renews the statistics of a model, on rows of its own.
_COUNTING = "bnstat"
_TESTING = ("test", "eval", "cv")


class SamplesAsRead(NamedTuple):
    """The samples of a reader, whatever file is asked for, in its own order."""

    reader: SampleReader

    def read(self, path: str, wanted: Wants) -> Sequences:
        """Read the requested streams. Raises DataError where the reader does not provide them."""
        sizes = self.reader.file.sizes
        for one in wanted.inputs:
            stream = one.alias or one.name
            if stream not in sizes:
                raise DataError(
                    f"{path}: the reader has no stream '{stream}'.{nearest(stream, sizes)}"
                )
            if sizes[stream] != one.size:
                raise DataError(
                    f"{path}: the reader provides {sizes[stream]:,} numbers for '{stream}', and "
                    f"the network needs {one.size:,}."
                )
        return wanted.renamed(self.reader.sequences(wanted.dtype))


def samples_trained_on(shop: Workshop, models: Sequence[str], label: str) -> TrainedOn | None:
    """Return the samples that the run of a workshop trains one of some models on, by their
    canonical paths, and the names of the classes of a ``label``; None where it trains none of them.

    Raises Refused where a reader is not supported.
    """
    experiment = shop.experiment
    for command in experiment.commands:
        learns = trains(command) or _COUNTING in command.actions
        if learns and not _places(models_written(command), shop).isdisjoint(models):
            work = work_of(command, command.actions[0], shop)
            others = [
                one for one in experiment.commands if not _read_by(one, shop).isdisjoint(models)
            ]
            held_back, what = _held_out(work, others, shop)
            learned = _samples(work, "reader")
            classes = _classes(work, others, shop, label)
            return TrainedOn(command.name, learned, held_back, what, classes)
    return None


def _held_out(
    work: CommandWork, others: list[Command], shop: Workshop
) -> tuple[ReadSamples | None, str]:
    """Return the samples of validation, else those of the first command that tests the model."""
    if work.options.found("cvReader") is not None:
        return _samples(work, "cvReader"), "validation"
    for other in others:
        action = next((one for one in other.actions if one in _TESTING), None)
        if action is not None and other.scope is not None:
            return _samples(work_of(other, action, shop), "reader"), "test"
    return None, ""


def _samples(work: CommandWork, name: str) -> ReadSamples:
    reader = samples_of(work, shuffled=False, may_randomize=False, name=name)
    path = reader.file.path
    return ReadSamples(path, frozenset(reader.file.sizes), SamplesAsRead(reader).read)


def _places(models: Iterable[str], shop: Workshop) -> set[str]:
    return {os.path.realpath(shop.path(one)) for one in models}


def _read_by(command: Command, shop: Workshop) -> set[str]:
    """Return the model that a command reads, by canonical path."""
    found = None if trains(command) or _COUNTING in command.actions else model_of(command)
    return _places([] if found is None else [found], shop)


def _classes(
    work: CommandWork, others: list[Command], shop: Workshop, label: str
) -> tuple[str, ...]:
    """Return the names in the mapping of a reader's labels, else of what writes classes; empty
    without.
    """
    files = shop.experiment.files
    for options in _mapped(work, others, shop, label):
        lines = lines_of(options, "labelMappingFile", files)
        if lines is not None:
            names = (line.decode("utf-8", "replace") for line in lines)
            return tuple(name for name in names if name)
    return ()


def _mapped(
    work: CommandWork, others: list[Command], shop: Workshop, label: str
) -> Iterator[Options]:
    """Yield the blocks that may name a mapping of labels."""
    testing = [work_of(one, one.actions[0], shop) for one in others if one.scope is not None]
    for one in (work, *testing):
        found = one.options.found("reader")
        if found is not None:
            reader = Options(one.options.scope.inside(found))
            yield from (block for name, block in _deep(reader) if name.lower() == label.lower())
    for one in testing:
        found = one.options.found("format")
        if "write" in one.command.actions and found is not None:
            yield Options(one.options.scope.inside(found))


def _deep(options: Options) -> Iterator[tuple[str, Options]]:
    """Yield the blocks in a block, and those in them."""
    for name, block in sections(options):
        yield name, block
        yield from sections(block)
