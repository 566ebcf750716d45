"""The actions that write lists about data: words with their classes, and labels."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.reports import FINISHED
from netsharp_engine.cntk.samples.columns import column_labels
from netsharp_engine.cntk.samples.word_counts import count_words, grouped_words
from netsharp_engine.data.errors import DataError
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal
from netsharp_lsp.cntk.training.samples.column_files import LabelMap, label_maps
from netsharp_lsp.cntk.training.samples.text_files import located
from netsharp_lsp.cntk.training.samples.word_lists import where_of_option
from netsharp_lsp.cntk.training.work import refuse_outside, work_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from netsharp_engine.cntk.samples.word_counts import CountedWord
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.training.reporting import RunReporter
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop

_COLUMNS = "ucifastreader"
_TARGETS = ("outputVocabFile", "outputMappingFile", "outputWord2Cls", "outputCls2Index")


class WriteWords(NamedTuple):
    """The action writeWordAndClass: output files by the options that name them."""

    work: CommandWork
    source: str
    targets: Mapping[str, str]
    size: int
    groups: int
    cutoff: int
    ends: tuple[bytes, bytes, bytes]

    def run(self, reporter: RunReporter) -> str:
        """Count the words and write the lists."""
        reporter.begun()
        if self.work.options.truth("makeMode", True) and self._is_done():
            reporter.line("All output files up to date.")
            reporter.notice("the lists are newer than the text, so nothing is done.")
            reporter.done()
            return FINISHED
        size, texts = self.texts()
        if size < self.size:
            reporter.notice(f"only {size:,} words are kept, fewer than 'vocabSize'.")
        for key, target in self.targets.items():
            self.work.store.write_text(self.work.shop.path(target), texts[key])
            reporter.wrote(target)
        reporter.done()
        return FINISHED

    def texts(self) -> tuple[int, Mapping[str, Iterator[str]]]:
        """Return the number of words that are kept, and the texts by option; raise DataError if no
        word is left to count.
        """
        begin, end, unknown = self.ends
        counts = count_words(self.source, begin, end)
        left = sum(count > self.cutoff for count in counts.values()) if self.cutoff > 0 else 0
        if self.cutoff > 0 and not left:
            raise DataError(
                f"{self.source}: no word occurs more than {self.cutoff} times. Lower 'cutoff'."
            )
        size = min(self.size, left or len(counts))
        if self.groups:
            found: Sequence[CountedWord] = grouped_words(counts, size, self.groups, unknown)
            lines = [(one.word, one.times, one.group) for one in found]
        else:
            lines = [(word, counts[word], 0) for word in sorted(counts)]
        return size, _texts(lines, self.groups)

    def _is_done(self) -> bool:
        paths = [
            self.work.shop.path(path)
            for key, path in self.targets.items()
            if key != "outputMappingFile"
        ]
        if not all(map(os.path.exists, paths)) or not os.path.exists(self.source):
            return False
        return min(map(os.path.getmtime, paths)) >= os.path.getmtime(self.source)


def _texts(lines: Sequence[tuple[bytes, int, int]], groups: int) -> Mapping[str, Iterator[str]]:
    """Return the lines of each file, in CNTK's format."""
    words = [(word.decode("utf-8", "replace"), count, group) for word, count, group in lines]
    firsts = {group: at for at, (_, _, group) in reversed([*enumerate(words)])}
    return {
        "outputVocabFile": (
            f"     {at}\t     {count:g}\t{word}\t{group}\n"
            for at, (word, count, group) in enumerate(words)
        ),
        "outputMappingFile": (f"{word}\n" for word, _, _ in words),
        "outputWord2Cls": (f"{group}\n" for _, _, group in words),
        "outputCls2Index": (f"{firsts.get(group, 0)}\n" for group in range(groups)),
    }


def write_words(command: Command, action: str, shop: Workshop) -> WriteWords:
    """Prepare the action writeWordAndClass of a command."""
    work = work_of(command, action, shop, "")
    options = work.options
    source, _ = located(options, shop.experiment.files, "inputFile")
    groups = options.whole("nbrClass", 0)
    options.required("vocabSize", work.name)
    size = options.whole("vocabSize", 0)
    if size < 1 or groups < 0:
        raise work.refused("'vocabSize' has to be 1 or more, and 'nbrClass' not negative.")
    ends = tuple(options.text(key) for key in ("beginSequence", "endSequence"))
    if not all(ends):
        raise work.refused(
            "'beginSequence' and 'endSequence' have to name the words that begin and end sentences."
        )
    keys = _TARGETS if groups else _TARGETS[:2]
    needed = [key for key in keys if key != "outputMappingFile" or options.path(key)]
    targets = {key: options.required_path(key, work.name) for key in needed}
    for target in targets.values():
        refuse_outside(work, shop.path(target))
    words = options.text("unk", "<unk>").encode()
    begin, end = (one.encode() for one in ends)
    cutoff = options.whole("cutoff", 1)
    made = WriteWords(work, source, targets, size, groups, cutoff, (begin, end, words))
    if work.is_followed and not all(os.path.exists(shop.path(one)) for one in targets.values()):
        _, texts = made.texts()
        for key, target in targets.items():
            shop.experiment.files.texts[target] = "".join(texts[key]).encode()
    return made


class CreateLabelMap(NamedTuple):
    """The action createLabelMap: files of labels that do not exist yet."""

    work: CommandWork
    maps: Sequence[LabelMap]

    def run(self, reporter: RunReporter) -> str:
        """Write the labels of the data, in the order of the file."""
        reporter.begun()
        for one in self.maps:
            path = self.work.shop.path(one.target)
            if os.path.exists(path):
                reporter.line(
                    f"CreateLabelMap: the label mapping file '{one.target}' already exists, no "
                    "work to do."
                )
                reporter.notice(f"'{one.target}' exists, so nothing is done.")
                continue
            labels = column_labels(one.path, one.start, one.form)
            self.work.store.write_text(path, _lines(labels))
            reporter.wrote(one.target)
        reporter.done()
        return FINISHED


def create_label_map(command: Command, action: str, shop: Workshop) -> CreateLabelMap:
    """Prepare the action createLabelMap of a command."""
    work = work_of(command, action, shop, "")
    section = work.options.required("section", work.name)
    found = work.options.found(section)
    if found is None:
        raise work.refused(f"no block '{section}' exists, whose reader would be used.")
    scope = work.options.scope.inside(found)
    reader = Options(scope).found("reader")
    if reader is None:
        raise work.refused(f"'{section}' has no reader.")
    options = Options(scope.inside(reader))
    kind = options.text("readerType")
    if kind.lower() != _COLUMNS:
        reason = (
            f"createLabelMap is supported for UCIFastReader, and '{section}' has "
            f"{kind or 'CNTKTextFormatReader'}, whose labels are numbers or have a list already."
        )
        raise Refused(RunRefusal(reason, where_of_option(options, "readerType")))
    maps = label_maps(options, shop.experiment.files)
    if not maps:
        raise work.refused(f"the reader of '{section}' has no block of labels.")
    for one in maps:
        refuse_outside(work, shop.path(one.target))
        if work.is_followed and not os.path.exists(shop.path(one.target)):
            # Later commands are prepared now, and read what it will write.
            text = "".join(_lines(column_labels(one.path, one.start, one.form)))
            shop.experiment.files.texts[one.target] = text.encode()
    return CreateLabelMap(work, maps)


def _lines(labels: Iterable[str]) -> Iterator[str]:
    return (f"{label}\n" for label in labels)
