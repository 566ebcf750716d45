"""Reads sentences of tagged words, a word a line, as LUSequenceReader does: each word with those
around it, and its tag as label.

Source: CNTK, Readers/LUSequenceReader.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.faults import AllowedFaults, DataSurvey, LineFault, LineFaults
from netsharp_engine.cntk.samples.lines import opened
from netsharp_engine.cntk.samples.sentences import one_hot, unknown_word, word_bounds
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.cntk.samples.vocabulary import Classes, Vocabulary
from netsharp_engine.data.errors import DataError
from netsharp_engine.packing import Indices
from netsharp_engine.program import Sparse

#: The number of sentences that are shuffled together.
_BLOCK = 50_000
#: The columns of a word and its tag.
_LEAST = 2


class TagStreams(NamedTuple):
    """The streams that sentences provide: words, each with those at some places around it
    (``context``), and tags; with ``classes`` a tag has four numbers, else it is one of all.

    A sentence ends after a line whose first column is ``last_word``, or whose last is ``last_tag``.
    """

    words: Vocabulary
    tags: Vocabulary
    features: str = ""
    labels: str = ""
    context: Sequence[int] = (0,)
    classes: Classes | None = None
    last_word: bytes = b""
    last_tag: bytes = b""


class _Word(NamedTuple):
    """The numbers of a word, one for each column, and that of its tag."""

    numbers: list[int]
    tag: int


def read_tagged(path: str, streams: TagStreams, dtype: str) -> Sequences:
    """Read a whole file of words with tags: sparse rows or words in context, and their labels, a
    row for each word, in ``dtype``. Raises DataError, one sentence, where the file cannot be used.
    Source: CNTK, Readers/LUSequenceReader.
    """
    faults = AllowedFaults(path, 0)
    numbers, counts = array("q"), array("q")
    tags, lengths = array("q"), array("q")
    for sentence in _sentences(path, streams, faults):
        lengths.append(len(sentence))
        for word in sentence:
            numbers.extend(word.numbers)
            counts.append(len(word.numbers))
            tags.append(word.tag)
    if not lengths:
        raise DataError(f"{path}: holds no line of a word and its tag.")
    held = np.array(lengths, np.intp)
    values: dict[str, Array | Sparse] = {}
    if streams.features:
        every = np.array(numbers, np.intp), np.array(counts, np.intp)
        values[streams.features] = _in_context(every, held, streams, dtype)
    if streams.labels:
        found = np.array(tags, np.intp)
        classes = streams.classes
        values[streams.labels] = (
            one_hot(found, dtype) if classes is None else classes.labels(found, dtype)
        )
    chunks = [min(_BLOCK, len(held) - at) for at in range(0, len(held), _BLOCK)]
    return Sequences(values, chunks, faults.finish(), held)


def survey_tagged(path: str, streams: TagStreams) -> DataSurvey:
    """Return all faults of a file, which is read to its end. DataError where it cannot be read."""
    survey = DataSurvey()
    for _ in _sentences(path, streams, survey):
        pass
    return survey


def _in_context(
    every: tuple[Indices, Indices], lengths: Indices, streams: TagStreams, dtype: str
) -> Sparse:
    """Return, for each word, those around it, one place after the other; beyond a sentence its
    first and last word are repeated.
    """
    numbers, counts = every
    begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
    ends = begins + np.repeat(lengths, lengths) - 1
    here = np.arange(len(counts))
    taken = [np.clip(here + offset, begins, ends) for offset in streams.context]
    words = np.stack(taken, axis=1).ravel()
    starts = np.cumsum(counts) - counts
    sizes = counts[words]
    firsts = np.r_[0, np.cumsum(sizes)]
    inside = np.arange(firsts[-1]) - np.repeat(firsts[:-1], sizes)
    shift = np.tile(np.arange(len(taken)), len(counts)) * streams.words.size
    columns = numbers[np.repeat(starts[words], sizes) + inside] + np.repeat(shift, sizes)
    return Sparse(np.ones(len(columns), dtype), columns, firsts[:: len(taken)])


def _sentences(path: str, streams: TagStreams, faults: LineFaults) -> Iterator[list[_Word]]:
    """Yield the words of each sentence; a sentence with an invalid word is left out."""
    found: list[_Word] = []
    with opened(path) as (first, rest):
        for number, line in enumerate(chain((first,), rest), 1):
            if not line.endswith(b"\n"):
                message = "the last line does not end, and is left out"
                at = len(line) - 1, len(line)
                faults.add(LineFault(number, line, *at, message, counts=False))
                break
            words = line.split()
            if len(words) >= _LEAST:
                word = _word(number, line, words, streams, faults)
                if word is not None:
                    found.append(word)
                ended = words[0] == streams.last_word or words[-1] == streams.last_tag
            else:
                if words:
                    message = "the line has one column alone, and is skipped"
                    faults.add(LineFault(number, line.rstrip(), 0, 0, message, counts=False))
                ended = not words
            if ended and found:
                yield found
                found = []
    if found:
        yield found


def _word(
    number: int, line: bytes, words: list[bytes], streams: TagStreams, faults: LineFaults
) -> _Word | None:
    numbers = [streams.words.find(one) for one in words[:-1]]
    tag = streams.tags.find(words[-1])
    for at, one in enumerate([*numbers, tag]):
        if one is None:
            is_tag = at == len(numbers)
            vocabulary = streams.tags if is_tag else streams.words
            where = "the list of tags" if is_tag else "the list of words"
            message, place = unknown_word(words[at], vocabulary, where), word_bounds(line, at)
            faults.add(LineFault(number, line.rstrip(), *place, message, counts=False, ends=True))
    if tag is None or None in numbers:
        return None
    return _Word(list(dict.fromkeys(one for one in numbers if one is not None)), tag)
