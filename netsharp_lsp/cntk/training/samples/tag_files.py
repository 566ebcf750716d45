"""Sentences of tagged words, as the block of LUSequenceReader describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.samples.groups import Grouping, Sentences
from netsharp_engine.cntk.samples.tagged import TagStreams, read_tagged, survey_tagged
from netsharp_engine.cntk.samples.vocabulary import Classes, Vocabulary
from netsharp_engine.excerpt import excerpt
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.samples.text_files import located
from netsharp_lsp.cntk.training.samples.word_lists import (
    classes,
    in_and_out,
    number_in,
    required_lines,
    vocabulary,
    where_of_option,
)
from netsharp_lsp.cntk.vocabulary import FALSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from netsharp_engine.cntk.samples.faults import DataSurvey
    from netsharp_engine.cntk.samples.minibatches import Sweeps
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_engine.cntk.samples.truncated import Cut
    from netsharp_lsp.cntk.networks.node import Where
    from netsharp_lsp.cntk.run.files import RunFiles
    from netsharp_lsp.cntk.training.options import Options

_READER = "LUSequenceReader"
_NAMED, _PLAIN, _CLASS = "category", "plain", "class"
_UNORDERED = (
    "LUSequenceReader shuffled with a seed of its own; the order is that of the GNU library of "
    "2016 according to its source, and was not compared with a log. randomize=none keeps the order "
    "of the file."
)


class TaggedFile(NamedTuple):
    """The sentences of a file, and the options to read and batch them."""

    path: str
    where: Where
    streams: TagStreams
    grouping: Grouping

    @property
    def sizes(self) -> Mapping[str, int]:
        """The numbers of a sample, by stream."""
        streams = self.streams
        return {
            streams.features: streams.words.size * len(streams.context),
            streams.labels: streams.tags.size if streams.classes is None else 4,
        }

    @property
    def files(self) -> tuple[TaggedFile]:
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
        lists = tuple(streams.words.ids.items()), tuple(streams.tags.ids)
        return self.path, lists, streams.words.unknown, streams.tags.unknown

    def read(self, dtype: str) -> Sequences:
        """Return its samples; DataError where it cannot be used."""
        return read_tagged(self.path, self.streams, dtype)

    def survey(self) -> DataSurvey:
        """Return all its faults; DataError where it cannot be read."""
        return survey_tagged(self.path, self.streams)

    def sweeps(self, sequences: Sequences, randomize: bool, cut: Cut | None) -> Sweeps:
        """Return minibatches of parallel sentences."""
        assert cut is None, "sentences are whole here"
        if randomize:
            sequences.warnings.append(_UNORDERED)
        return Sentences(sequences, self.grouping, randomize, twisted=False)


def tagged_file(options: Options, files: RunFiles) -> TaggedFile:
    """Return the file of a LUSequenceReader."""
    _refuse(options)
    (features, _), labels = in_and_out(options, _READER)
    (_, words), (name, tags) = _chosen(labels, options)
    for label, section in labels:
        if section.text("labelType", _NAMED).lower() != _NAMED:
            reason = f"'labelType' of {label} has to be category in a {_READER}."
            raise Refused(RunRefusal(reason, where_of_option(section, "labelType")))
        if section.truth("isProposal", False):
            reason = f"'isProposal' of {label} is not supported. Remove it."
            raise Refused(RunRefusal(reason, where_of_option(section, "isProposal")))
    beside = options.whole("nbruttsineachrecurrentiter", 1)
    if beside < 1:
        reason = f"'nbruttsineachrecurrentiter' of a {_READER} has to be 1 or more."
        where = where_of_option(options, "nbruttsineachrecurrentiter")
        raise Refused(RunRefusal(reason, where))
    alike = options.truth("equalLength", True)
    streams = TagStreams(
        _listed(words, options, files)[0],
        *_listed(tags, options, files)[:1],
        features,
        name,
        tuple(options.wholes("wordContext") or [0]),
        _listed(tags, options, files)[1],
        words.text("endSequence").encode(),
        tags.text("endSequence").encode(),
    )
    grouping = Grouping(beside, alike, next=beside if alike else 0, sentences=True)
    return TaggedFile(*located(options, files), streams, grouping)


def _refuse(options: Options) -> None:
    """Refuse features of the reader that are not supported."""
    for key, otherwise in (
        ("dataMultiPass", "With epochSize=0 an epoch is a pass over the data."),
        ("ignoresentencebegintag", "CNTK of November 2016 rejects it, too."),
    ):
        if options.text(key, "false") not in FALSE:
            reason = f"'{key}' of {_READER} is not supported. {otherwise} Remove it."
            raise Refused(RunRefusal(reason, where_of_option(options, key)))
    if options.names("ioNodeNames"):
        reason = (
            f"'ioNodeNames' of {_READER} is not supported: only one input and one output are read."
        )
        raise Refused(RunRefusal(reason, where_of_option(options, "ioNodeNames")))


def _chosen(labels: list[tuple[str, Options]], options: Options) -> Iterator[tuple[str, Options]]:
    """Yield the block of the input, then that of the output."""
    for at, key in enumerate(("inputLabel", "outputLabel")):
        wanted = options.text(key)
        found = [one for one in labels if one[0] == wanted] if wanted else [labels[at]]
        if not found:
            reason = f"'{key}' is '{wanted}', and no block of labels has that name."
            raise Refused(RunRefusal(reason, where_of_option(options, key)))
        yield found[0]


def _listed(
    section: Options, options: Options, files: RunFiles
) -> tuple[Vocabulary, Classes | None]:
    """Return the words of a block of labels, and their classes."""
    mode = section.text("mode", _PLAIN).lower()
    if mode not in (_PLAIN, _CLASS):
        reason = f"'mode' is '{mode}', and neither plain nor class."
        raise Refused(RunRefusal(reason, where_of_option(section, "mode")))
    key = "token" if section.path("token") else "labelMappingFile"
    if not section.path(key):
        reason = "a block of labels has no 'token', the file with its words, one on each line."
        raise Refused(RunRefusal(reason, where_of(section.scope.text)))
    lines = _until_empty(required_lines(section, key, files))
    unknown = options.text("unk", "<unk>")
    found: Classes | None = None
    if mode == _CLASS:
        cells = [line.split() for line in lines]
        kinds = [number_in(one[1]) if len(one) > 1 else None for one in cells]
        if None in kinds:
            reason = f"'{section.path(key)}' needs a word and its class on each line (mode=class)."
            raise Refused(RunRefusal(reason, where_of_option(section, key)))
        found = classes([one for one in kinds if one is not None], section, key)
        lines = [one[0] for one in cells]
    words = vocabulary(lines, 0, unknown)
    if section.truth("useWordMap", False):
        words = _mapped(words, section, options, files)
    return words, found


def _mapped(words: Vocabulary, section: Options, options: Options, files: RunFiles) -> Vocabulary:
    """Return a vocabulary whose words are mapped to others, and all other words to the unknown one.

    CNTK visits its words in order and reads what it has just written.
    """
    pairs: dict[bytes, bytes] = {}
    if options.path("wordmap"):
        for number, line in enumerate(_until_empty(required_lines(options, "wordmap", files)), 1):
            cells = line.split()
            if len(cells) < 2:
                reason = f"'{options.path('wordmap')}', line {number:,}: expected two words."
                raise Refused(RunRefusal(reason, where_of_option(options, "wordmap")))
            pairs[cells[0]] = cells[1]
    ids = dict(words.ids)
    other = ids.get(words.unknown)
    for word in sorted(ids):
        meant = pairs.get(word)
        found = other if meant is None else ids.get(meant)
        if found is None:
            lacking = excerpt(
                (words.unknown if meant is None else meant).decode("utf-8", "replace")
            )
            shown = excerpt(word.decode("utf-8", "replace"))
            reason = f"the word map maps '{shown}' to '{lacking}', which is in no list."
            raise Refused(RunRefusal(reason, where_of_option(section, "useWordMap")))
        ids[word] = found
        if word == words.unknown:
            other = found
    return words._replace(ids=ids)


def _until_empty(lines: Sequence[bytes]) -> list[bytes]:
    """Return the lines before the first that is empty, after which nothing is read."""
    found = list(lines)
    return found[: found.index(b"")] if b"" in found else found
