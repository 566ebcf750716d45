"""Reads sentences, one a line, as LMSequenceReader does: each word with the next one as label.

Source: CNTK, Readers/LMSequenceReader.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.faults import AllowedFaults, DataSurvey, LineFault, LineFaults
from netsharp_engine.cntk.samples.lines import opened
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.cntk.samples.vocabulary import Classes, NoiseWords, Vocabulary
from netsharp_engine.data.errors import DataError
from netsharp_engine.excerpt import excerpt
from netsharp_engine.packing import Indices
from netsharp_engine.program import Sparse

#: A sentence of fewer words has nothing between its begin and its end.
_LEAST = 3
#: The label of the word 0, where a label is one number, as CNTK has it (LMSequenceReader/
#: SequenceReader.cpp): truncated it is 0 again.
_NEARLY_NONE = 1e-6


class SentenceStreams(NamedTuple):
    """The streams that sentences provide: each word as one of ``words``, and the next one as label,
    by ``nexts``; words alone without a name for ``labels``. With ``classes`` a label has four
    numbers, with ``noise`` the number that ``noise`` gives, else one.
    """

    words: Vocabulary
    nexts: Vocabulary
    features: str = ""
    labels: str = ""
    classes: Classes | None = None
    noise: NoiseWords | None = None

    @property
    def has_labels(self) -> bool:
        """Return whether the last word of a sentence is only a label."""
        return bool(self.labels)


class SentenceOptions(NamedTuple):
    """``block``: whole sentences of about that number of words are shuffled together."""

    block: int = 50_000  # CNTK, LMSequenceReader/SequenceReader.h, m_cacheBlockSize


DEFAULTS = SentenceOptions()


def read_sentences(
    path: str, streams: SentenceStreams, dtype: str, options: SentenceOptions = DEFAULTS
) -> Sequences:
    """Read a whole file; DataError, a sentence, where it cannot be used."""
    faults = AllowedFaults(path, 0)
    words, nexts, lengths = array("q"), array("q"), array("q")
    chunks, filled = [0], 0
    for one, other, count in _sentences(path, streams, faults):
        if filled >= options.block:
            chunks.append(0)
            filled = 0
        words.extend(one)
        nexts.extend(other)
        lengths.append(len(one))
        chunks[-1] += 1
        filled += count
    if not lengths:
        raise DataError(f"{path}: holds no sentence of {_LEAST} words or more.")
    values: dict[str, Array | Sparse] = {}
    if streams.features:
        values[streams.features] = one_hot(np.array(words, np.intp), dtype)
    if streams.labels:
        values[streams.labels] = _labels(np.array(nexts, np.intp), streams, dtype)
    return Sequences(values, chunks, faults.finish(), np.array(lengths, np.intp))


def survey_sentences(path: str, streams: SentenceStreams) -> DataSurvey:
    """Return all faults of a file, which is read to its end. DataError where it cannot be read."""
    survey = DataSurvey()
    for _ in _sentences(path, streams, survey):
        pass
    return survey


def _labelled(streams: SentenceStreams) -> int:
    """Return the number of words that can be labels."""
    if streams.classes is not None:
        return len(streams.classes)
    return streams.nexts.size if streams.noise is None else streams.noise.words


def one_hot(places: Indices, dtype: str) -> Sparse:
    """Return sparse rows, one for each of ``places`` [rows], with a 1 at that place."""
    return Sparse(np.ones(len(places), dtype), places, np.arange(len(places) + 1))


def word_bounds(line: bytes, number: int) -> tuple[int, int]:
    """Return the bounds, in bytes, of one of the words of a line."""
    end = 0
    for word in line.split()[: number + 1]:
        start = line.index(word, end)
        end = start + len(word)
    return start, end


def unknown_word(word: bytes, vocabulary: Vocabulary, where: str) -> str:
    """Return the message about a word that has no number."""
    shown, other = (excerpt(one.decode("utf-8", "replace")) for one in (word, vocabulary.unknown))
    return f"'{shown}' is not a word of {where}, and neither is '{other}', which would stand for it"


def _labels(nexts: Indices, streams: SentenceStreams, dtype: str) -> Array:
    if streams.classes is not None:
        return streams.classes.labels(nexts, dtype)
    if streams.noise is not None:  # It is drawn for each minibatch.
        return nexts.astype(np.float64)[:, None]
    return np.where(nexts == 0, _NEARLY_NONE, nexts).astype(dtype)[:, None]


def _sentences(
    path: str, streams: SentenceStreams, faults: LineFaults
) -> Iterator[tuple[list[int], list[int], int]]:
    """Yield the numbers of words, those of the words after them, and the number of words of each
    sentence.
    """
    with opened(path) as (first, rest):
        for number, line in enumerate(chain((first,), rest), 1):
            words = line.split()
            if len(words) < _LEAST:
                if words:
                    message = f"the sentence has fewer than {_LEAST} words, and is skipped"
                    faults.add(LineFault(number, line.rstrip(), 0, 0, message, counts=False))
                continue
            ends = len(words) - 1 if streams.has_labels else len(words)
            found = _numbers(number, line, words, (0, ends), streams, faults)
            nexts = _numbers(number, line, words, (1, len(words)), streams, faults)
            if found is not None and nexts is not None:
                yield found, nexts, len(words)


def _numbers(
    number: int,
    line: bytes,
    words: list[bytes],
    span: tuple[int, int],
    streams: SentenceStreams,
    faults: LineFaults,
) -> list[int] | None:
    """Return the numbers of some words, or of those after the first where they are labels; None
    where one is unknown.
    """
    is_label = span[0] > 0
    if is_label and not streams.has_labels:
        return []
    vocabulary = streams.nexts if is_label else streams.words
    found = [vocabulary.find(word) for word in words[span[0] : span[1]]]
    least = vocabulary.size if not is_label else _labelled(streams)
    wrong = [at for at, one in enumerate(found) if one is None or one >= least]
    for at in wrong:
        word, one = words[span[0] + at], found[at]
        message = unknown_word(word, vocabulary, "the vocabulary")
        if one is not None:
            shown = excerpt(word.decode("utf-8", "replace"))
            message = f"'{shown}' is in no class of words: it is number {one:,} of {least:,}"
        place = word_bounds(line, span[0] + at)
        faults.add(LineFault(number, line.rstrip(), *place, message, counts=False, ends=True))
    return None if wrong else [one for one in found if one is not None]
