"""Sentences, as the block of LMSequenceReader describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.samples.groups import Grouping, Sentences
from netsharp_engine.cntk.samples.sentences import (
    DEFAULTS,
    SentenceOptions,
    SentenceStreams,
    read_sentences,
    survey_sentences,
)
from netsharp_engine.cntk.samples.vocabulary import NoiseWords, Vocabulary
from netsharp_engine.data.errors import DataError
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.samples.text_files import located
from netsharp_lsp.cntk.training.samples.word_lists import (
    classes,
    in_and_out,
    lines_of,
    number_in,
    required_lines,
    vocabulary,
    where_of_option,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netsharp_engine.cntk.samples.faults import DataSurvey
    from netsharp_engine.cntk.samples.minibatches import Sweeps
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_engine.cntk.samples.truncated import Cut
    from netsharp_lsp.cntk.networks.node import Where
    from netsharp_lsp.cntk.run.files import RunFiles
    from netsharp_lsp.cntk.training.options import Options

_READER = "LMSequenceReader"
_NAMED, _NEXT, _NONE = "category", "nextword", "none"
_CLASS, _PLAIN, _NOISE = "class", "softmax", "nce"
_UNORDERED = (
    "LMSequenceReader always shuffles the sentences of a block; the order is that of the GNU "
    "library of 2016 according to its source, and was not compared with a log. cacheBlockSize=1 "
    "keeps the order of the file."
)


class SentenceFile(NamedTuple):
    """The sentences of a file, and the options to read and batch them."""

    path: str
    where: Where
    streams: SentenceStreams
    options: SentenceOptions
    beside: int

    @property
    def sizes(self) -> Mapping[str, int]:
        """The numbers of a sample, by stream."""
        found = {self.streams.features: self.streams.words.size}
        if self.streams.labels:
            found[self.streams.labels] = 1 if self.streams.classes is None else 4
            if self.streams.noise is not None:
                found[self.streams.labels] = self.streams.noise.size
        return found

    @property
    def files(self) -> tuple[SentenceFile]:
        """The file itself."""
        return (self,)

    @property
    def most_errors(self) -> int:
        """Return the number of skipped errors: none."""
        return 0

    @property
    def key(self) -> object:
        """Return a key that is equal for equal reads."""
        streams = self.streams
        ids = tuple(streams.words.ids), tuple(streams.nexts.ids)
        kinds = streams.classes is None, streams.noise is None
        return self.path, ids, streams.words.unknown, streams.has_labels, *kinds

    def read(self, dtype: str) -> Sequences:
        """Return its samples; DataError where it cannot be used."""
        return read_sentences(self.path, self.streams, dtype, self.options)

    def survey(self) -> DataSurvey:
        """Return all its faults; DataError where it cannot be read."""
        return survey_sentences(self.path, self.streams)

    def sweeps(self, sequences: Sequences, randomize: bool, cut: Cut | None) -> Sweeps:
        """Return minibatches of sentences of one length, always shuffled."""
        assert cut is None, "sentences longer than a minibatch are cut anyway"
        if max(sequences.chunks) > 1:
            sequences.warnings.append(_UNORDERED)
        grouping = Grouping(self.beside, spare=self.streams.has_labels, cuts=True)
        noise = None
        if self.streams.noise is not None and self.streams.labels in sequences.values:
            noise = self.streams.labels, self.streams.noise
        return Sentences(sequences, grouping, randomize=True, twisted=True, noise=noise)


def sentence_file(options: Options, files: RunFiles) -> SentenceFile:
    """Return the file of a LMSequenceReader."""
    (features, inner), labels = in_and_out(options, _READER)
    (_, before), (name, after) = labels
    kinds = [one.text("labelType", _NAMED).lower() for one in (before, after)]
    if kinds[0] != _NAMED or kinds[1] not in (_NAMED, _NEXT, _NONE):
        reason = (
            f"'labelType' of {labels[0][0]} has to be category, and that of {name} one of "
            "category, nextWord, none."
        )
        raise Refused(RunRefusal(reason, where_of(options.scope.text)))
    mode = inner.text("mode", _CLASS).lower()
    if mode not in (_CLASS, _PLAIN, _NOISE):
        reason = f"'mode={mode}' of {features} has to be one of class, softmax, nce."
        raise Refused(RunRefusal(reason, where_of_option(inner, "mode")))
    has_labels = kinds[1] != _NONE
    table = _table(options, files)
    words = _vocabulary(before, table, options, files)
    nexts = _vocabulary(after, table, options, files) if kinds[1] == _NAMED else words
    found = noise = None
    if has_labels and mode != _PLAIN:
        if table is None:
            reason = f"mode={mode} needs 'wordclass', the file of words, how often they come and "
            reason += "their classes."
            raise Refused(RunRefusal(reason, where_of(options.scope.text)))
        if mode == _CLASS:
            found = classes([one.kind for one in table], options, "wordclass")
        else:
            noise = _noise(inner, features, table, options)
    beside, block = (
        _not_negative(options, key, otherwise)
        for key, otherwise in (
            ("nbruttsineachrecurrentiter", 1),
            ("cacheBlockSize", DEFAULTS.block),
        )
    )
    streams = SentenceStreams(words, nexts, features, name if has_labels else "", found, noise)
    return SentenceFile(*located(options, files), streams, SentenceOptions(block), beside)


class _Row(NamedTuple):
    """A word of a file of classes, its class, and its count."""

    word: bytes
    kind: int
    often: float


def _noise(inner: Options, features: str, table: Sequence[_Row], options: Options) -> NoiseWords:
    """Return the distribution from which noise words are drawn."""
    drawn = inner.whole("noise_number", 0)
    if drawn < 1:
        reason = f"mode=nce of {features} needs 'noise_number', the number of noise words."
        raise Refused(RunRefusal(reason, where_of_option(inner, "mode")))
    try:
        return NoiseWords([row.often for row in table], drawn)
    except DataError as error:
        reason = f"'{options.path('wordclass')}': {error}"
        raise Refused(RunRefusal(reason, where_of_option(options, "wordclass"))) from None


def _table(options: Options, files: RunFiles) -> Sequence[_Row] | None:
    """Return the words of a file of classes in their order."""
    if not options.path("wordclass"):
        return None
    where, found = where_of_option(options, "wordclass"), dict[int, _Row]()
    lines = required_lines(options, "wordclass", files)
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells:
            continue
        place, kind = (number_in(cells[at]) if len(cells) == 4 else None for at in (0, 3))
        if place is None or kind is None:
            reason = (
                f"'{options.path('wordclass')}', line {number:,}: expected the number of a word, "
                "its count, the word and the number of its class."
            )
            raise Refused(RunRefusal(reason, where))
        found[place] = _Row(cells[2], kind, _count_in(cells[1]))
    if sorted(found) != list(range(len(found))):
        reason = f"'{options.path('wordclass')}' does not number its words from 0 on, without gaps."
        raise Refused(RunRefusal(reason, where))
    return [found[number] for number in range(len(found))]


def _vocabulary(
    section: Options,
    table: Sequence[_Row] | None,
    options: Options,
    files: RunFiles,
) -> Vocabulary:
    """Return the words of a block of labels: those of its file, else of the classes."""
    size, unknown = section.whole("labelDim", 0), options.text("unk", "<unk>")
    lines = lines_of(section, "labelMappingFile", files)
    if lines is not None:
        return vocabulary([line for line in lines if line], size, unknown)
    if table is None:
        found = section.path("labelMappingFile")
        missing = (
            f"the file '{found}' does not exist" if found else "no 'labelMappingFile' is given"
        )
        reason = f"{missing}, which lists the words, one on each line, and no 'wordclass' either."
        raise Refused(RunRefusal(reason, where_of_option(section, "labelMappingFile")))
    if size not in (0, len(table)):
        reason = (
            f"'labelDim' is {size:,}, and '{options.path('wordclass')}' has {len(table):,} words."
        )
        raise Refused(RunRefusal(reason, where_of_option(section, "labelDim")))
    return vocabulary([row.word for row in table], size, unknown)


def _count_in(cell: bytes) -> float:
    """Return a count as a whole number; it may be written with a fraction. 0 for anything else."""
    try:
        found = float(cell)
    except ValueError:
        return 0.0
    return float(int(found)) if 0 <= found < 2**63 else 0.0


def _not_negative(options: Options, key: str, otherwise: int) -> int:
    found = options.whole(key, otherwise)
    if found < 0:
        raise Refused(RunRefusal(f"'{key}' must not be negative.", where_of_option(options, key)))
    return found
