"""LMSequenceReader and LUSequenceReader: their files, and how sentences come together."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.samples.groups import Grouping, Sentences, shuffled_block
from netsharp_engine.cntk.samples.sentences import (
    SentenceOptions,
    SentenceStreams,
    read_sentences,
    survey_sentences,
)
from netsharp_engine.cntk.samples.tagged import TagStreams, read_tagged, survey_tagged
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.cntk.samples.truncated import Cut, Truncated
from netsharp_engine.cntk.samples.vocabulary import Classes, NoiseWords, Vocabulary
from netsharp_engine.data import DataError
from netsharp_engine.program import Packed, Sparse

WORDS = {b"</s>": 0, b"<unk>": 1, b"a": 2, b"b": 3, b"c": 4}
KNOWN = Vocabulary(WORDS, 5)
CLASSES = Classes([0, 0, 1, 1, 2])
LM = SentenceStreams(KNOWN, KNOWN, "x", "y", CLASSES)


def columns(found: Sequences, name: str) -> list[list[int]]:
    """The places of ones in each sample of a sparse stream."""
    one = found.values[name]
    assert isinstance(one, Sparse)
    assert set(np.asarray(one.values).tolist()) <= {1.0}
    starts = np.asarray(one.starts)
    return [one.columns[a:b].tolist() for a, b in pairwise(starts)]


def lm(folder: Path, data: bytes, streams: SentenceStreams = LM, block: int = 50_000) -> Sequences:
    path = folder / "text.txt"
    path.write_bytes(data)
    return read_sentences(str(path), streams, "float64", SentenceOptions(block))


#: Files of sentences that are read silently, with the samples and first numbers of labels.
MESSAGES: Mapping[str, tuple[bytes, list[int], list[int], list[int]]] = {
    "a sentence": (b"</s> a b </s>\n", [0, 2, 3], [2, 3, 0], [3]),
    "two of them": (b"</s> a </s>\nc b a\n", [0, 2, 4, 3], [2, 0, 3, 2], [2, 2]),
    "tabs and many blanks": (b"  a\t\tb   c \n", [2, 3], [3, 4], [2]),
    "no end of the last line": (b"a b c", [2, 3], [3, 4], [2]),
    "line ends of Windows": (b"a b c\r\nc b a\r\n", [2, 3, 4, 3], [3, 4, 3, 2], [2, 2]),
    "a word that is unknown": (b"a zebra b\n", [2, 1], [1, 3], [2]),
    "empty lines": (b"\n\na b c\n\n", [2, 3], [3, 4], [2]),
    "a mark of UTF-8": (b"\xef\xbb\xbfa b c\n", [2, 3], [3, 4], [2]),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_sentences_are_read(name: str, tmp_path: Path) -> None:
    data, words, nexts, lengths = MESSAGES[name]
    found = lm(tmp_path, data)
    assert columns(found, "x") == [[one] for one in words]
    labels = np.asarray(found.values["y"])
    assert labels[:, 0].tolist() == nexts
    four = {0: [0, 0, 2], 1: [0, 0, 2], 2: [1, 2, 4], 3: [1, 2, 4], 4: [2, 4, 5]}
    assert labels[:, 1:].tolist() == [four[one] for one in nexts]
    assert found.lines is not None
    assert found.lines.tolist() == lengths
    assert found.warnings == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"a b\n", "holds no sentence of 3 words or more"),
        (
            b"a b c\na x b\n",
            "line 2, column 3: 'x' is not a word of the vocabulary, and neither is",
        ),
        (b"a b  zz\n", "line 1, column 6: 'zz' is not a word"),
        (b"a b d\n", "line 1, column 5: 'd' is in no class of words: it is number 5 of 5"),
        (b"\xff\xfea\0", "UTF-16"),
    ],
)
def test_sentences_that_cannot_be_read_are_reported_by_their_place(
    data: bytes, words: str, tmp_path: Path
) -> None:
    ids = {**WORDS, b"d": 5}
    del ids[b"<unk>"]
    words_and_more = Vocabulary(ids, 6)
    with pytest.raises(DataError) as raised:
        lm(tmp_path, data, SentenceStreams(words_and_more, words_and_more, "x", "y", CLASSES))
    assert words in str(raised.value)
    assert "text.txt" in str(raised.value)


def test_short_sentences_are_passed_over_with_a_word(tmp_path: Path) -> None:
    found = lm(tmp_path, b"a b\na b c\n")
    assert found.total == 2
    assert "line 1: the sentence has fewer than 3 words" in found.warnings[0]


def test_labels_may_be_one_number_or_none_at_all(tmp_path: Path) -> None:
    found = lm(tmp_path, b"a </s> b\n", LM._replace(classes=None))
    assert found.values["y"].tolist() == [[1e-6], [3]]
    found = lm(tmp_path, b"a b c\n", LM._replace(labels="", classes=None))
    assert list(found.values) == ["x"]
    assert columns(found, "x") == [[2], [3], [4]]


def test_all_sentences_that_are_wrong_are_found_at_once(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"a x b\na b c\nx b x\n")
    ids = {word: one for word, one in WORDS.items() if word != b"<unk>"}
    survey = survey_sentences(str(path), LM._replace(words=Vocabulary(ids, 5)))
    assert [(one.line, one.start, one.end) for one in survey.faults] == [(1, 2, 3), (3, 0, 1)]


def test_classes_have_to_be_sorted() -> None:
    with pytest.raises(DataError, match="class of word 2 is below"):
        Classes([0, 1, 0])


TAGS = Vocabulary({b"O": 0, b"B": 1}, 2)
LU = TagStreams(Vocabulary({b"<unk>": 0, b"a": 1, b"b": 2, b"EOS": 3}, 4), TAGS, "x", "y")


def lu(folder: Path, data: bytes, streams: TagStreams = LU) -> Sequences:
    path = folder / "tags.txt"
    path.write_bytes(data)
    return read_tagged(str(path), streams, "float64")


#: Files of tagged words that are read silently, with the words, tags and lengths.
TAGGED: Mapping[str, tuple[bytes, list[list[int]], list[int], list[int]]] = {
    "a sentence": (b"a O\nb B\n", [[1], [2]], [0, 1], [2]),
    "an empty line between": (b"a O\n\nb B\na B\n", [[1], [2], [1]], [0, 1, 1], [1, 2]),
    "many empty lines": (b"a O\n\n \n\nb B\n\n", [[1], [2]], [0, 1], [1, 1]),
    "empty lines first": (b"\n\na O\n", [[1]], [0], [1]),
    "several columns": (b"a b O\nb b B\n", [[1, 2], [2]], [0, 1], [2]),
    "a word that is unknown": (b"zebra O\n", [[0]], [0], [1]),
    "the last word of a sentence": (b"a O\nEOS O\nb B\n", [[1], [3], [2]], [0, 0, 1], [2, 1]),
    "tabs and line ends of Windows": (b"a\tO\r\n\r\nb\t B\r\n", [[1], [2]], [0, 1], [1, 1]),
}


@pytest.mark.parametrize("name", TAGGED)
def test_tagged_words_are_read(name: str, tmp_path: Path) -> None:
    data, words, tags, lengths = TAGGED[name]
    found = lu(tmp_path, data, LU._replace(last_word=b"EOS"))
    assert columns(found, "x") == words
    assert columns(found, "y") == [[one] for one in tags]
    assert found.lines is not None
    assert (found.lines.tolist(), found.warnings) == (lengths, [])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "holds no line of a word and its tag"),
        (b"a O\nb X\n", "line 2, column 3: 'X' is not a word of the list of tags"),
        (b"a O\nb c O\n", "line 2, column 3: 'c' is not a word of the list of words"),
    ],
)
def test_tagged_words_that_cannot_be_read_are_reported_by_their_place(
    data: bytes, words: str, tmp_path: Path
) -> None:
    streams = LU._replace(words=Vocabulary({b"a": 0, b"b": 1}, 2))
    with pytest.raises(DataError) as raised:
        lu(tmp_path, data, streams)
    assert words in str(raised.value)


def test_lines_that_are_passed_over_are_reported(tmp_path: Path) -> None:
    found = lu(tmp_path, b"alone\na O\nb B")
    assert found.total == 1
    assert "line 1: the line has one column alone" in found.warnings[0]
    assert "line 3, column 3: the last line does not end" in found.warnings[1]


def test_neighbouring_words_follow_each_other_and_stop_at_the_ends(tmp_path: Path) -> None:
    found = lu(tmp_path, b"a O\nb O\nEOS O\n\na b O\n", LU._replace(context=(-1, 0, 2)))
    assert columns(found, "x") == [[1, 5, 11], [1, 6, 11], [2, 7, 11], [1, 2, 5, 6, 9, 10]]


def test_a_tag_ends_a_sentence_and_classes_of_tags_have_four_numbers(tmp_path: Path) -> None:
    streams = LU._replace(last_tag=b"O", classes=Classes([0, 1]))
    found = lu(tmp_path, b"a B\nb O\na O\n", streams)
    assert found.lines is not None
    assert found.lines.tolist() == [2, 1]
    assert np.asarray(found.values["y"]).tolist() == [[1, 1, 1, 2], [0, 0, 0, 1], [0, 0, 0, 1]]


def test_every_wrong_line_of_tags_is_found(tmp_path: Path) -> None:
    path = tmp_path / "tags.txt"
    path.write_bytes(b"a X\nb O\nb Y\n")
    faults = survey_tagged(str(path), LU).faults
    assert [(one.line, one.start, one.end) for one in faults] == [(1, 2, 3), (3, 2, 3)]


def groups(lengths: list[int], grouping: Grouping, samples: int) -> list[list[int]]:
    every = range(len(lengths))
    return [[*one] for one in grouping.groups(every, np.array(lengths), samples)]


LENGTHS = [2, 3, 2, 4, 2, 3, 2]


@pytest.mark.parametrize(
    ("grouping", "samples", "expected"),
    [
        (Grouping(2), 9, [[0, 2], [1, 5], [3], [4, 6]]),
        (Grouping(1), 9, [[one] for one in range(7)]),
        # Three words each, of which two are samples: two sentences have less than 7.
        (Grouping(0, spare=1), 7, [[0, 2], [1], [3], [4, 6], [5]]),
        (Grouping(0, spare=1), 99, [[0, 2, 4, 6], [1, 5], [3]]),
        (Grouping(0, spare=1), 1, [[one] for one in range(7)]),
        (Grouping(3, alike=False), 9, [[0, 1, 2], [3, 4, 5], [6]]),
        # Of the next three that are left: 0 and 2 are alike, then 1 and 5 do not stand so near.
        (Grouping(3, next=3), 9, [[0, 2], [1], [3], [4, 6], [5]]),
    ],
)
def test_sentences_come_together(
    grouping: Grouping, samples: int, expected: list[list[int]]
) -> None:
    assert groups(LENGTHS, grouping, samples) == expected


def test_the_twister_is_the_one_of_the_standard() -> None:
    # The standard of C++ gives the 10,000th number of its default seed: 4123659995.
    from netsharp_engine.cntk.samples import groups as module

    draws = module._mersenne_draws(5489)
    found = [next(draws) for _ in range(10_000)]
    assert (found[0], found[-1]) == (3499211612, 4123659995)
    draws = module._standard(1)
    found = [next(draws) + 1 for _ in range(10_000)]
    assert (found[0], found[-1]) == (16807, 1043618065)


@pytest.mark.parametrize("twisted", [True, False])
def test_a_shuffle_keeps_all_and_depends_on_its_seed_alone(twisted: bool) -> None:
    ordered = [*range(200)]
    one, again, other = (shuffled_block([*ordered], seed, twisted) for seed in (3, 3, 4))
    assert one == again
    assert one not in (other, ordered)
    assert sorted(one) == ordered
    assert shuffled_block([5], 1, twisted) == [5]
    counts = np.zeros((4, 4), int)
    for seed in range(600):
        counts[range(4), shuffled_block([*range(4)], 7919 * seed, twisted)] += 1
    assert counts.min() > 100  # each of four places gets each of four sentences about 150 times
    assert counts.max() < 200


def taken(found: Sequences, grouping: Grouping, number: int, size: int) -> list[list[int]]:
    sweeps = Sentences(found, grouping, randomize=True, twisted=True)
    return [one.sequences.tolist() for one in sweeps.epoch(number, size, 9)]


def test_epochs_begin_at_the_file_and_shuffle_each_block_by_a_seed_of_its_own(
    tmp_path: Path,
) -> None:
    found = lm(tmp_path, b"a b c\n" * 12, block=12)
    assert found.chunks == [4, 4, 4]
    first = [*chain(*taken(found, Grouping(1), 0, 0))]
    blocks = [first[at : at + 4] for at in (0, 4, 8)]
    assert [sorted(one) for one in blocks] == [[*range(at, at + 4)] for at in (0, 4, 8)]
    assert blocks[0] == shuffled_block([*range(4)], 1, True)
    assert blocks[1] == shuffled_block([*range(4, 8)], 2, True)
    second = [*chain(*taken(found, Grouping(1), 1, 0))]
    assert second[:4] == shuffled_block([*range(4)], 2, True)
    # Two samples a sentence: an epoch of four ends after the first that exceeds it.
    assert len(taken(found, Grouping(1), 0, 4)) == 3
    assert len(taken(found, Grouping(1, sentences=True), 0, 4)) == 5
    one = lm(tmp_path, b"a b c\n" * 12, block=1)
    assert [*chain(*taken(one, Grouping(1), 5, 0))] == [*range(12)]


def test_noise_stands_beside_each_word_and_begins_again_with_the_epoch(tmp_path: Path) -> None:
    counts, drawn = [4, 1, 3, 2, 5], 3
    noise = NoiseWords(counts, drawn)
    streams = SentenceStreams(KNOWN, KNOWN, "x", "y", noise=noise)
    found = lm(tmp_path, b"a b c\nc b a\nb c a\n" * 4, streams)
    sweeps = Sentences(found, Grouping(2), randomize=True, twisted=True, noise=("y", noise))
    for epoch in (0, 2, 0):
        other = NoiseWords(counts, drawn)
        other.begin(epoch)
        for batch in sweeps.epoch(epoch, 0, 9):
            labels, data = batch.inputs["y"], batch.inputs["x"]
            assert isinstance(labels, Packed)
            assert isinstance(data, Packed)
            assert isinstance(labels.values, np.ndarray)
            assert isinstance(data.values, Sparse)
            assert labels.values.shape == (batch.samples, 2 * (drawn + 1))
            words = labels.values[:, 0].astype(int)
            assert set(zip(data.values.columns.tolist(), words.tolist(), strict=True)) <= {
                *((2, 3), (3, 4), (4, 3), (3, 2), (4, 2))
            }
            assert np.array_equal(labels.values, other.labels(words, "float64"))


def test_a_sentence_that_does_not_fit_is_refused_before_the_first_minibatch(
    tmp_path: Path,
) -> None:
    found = lm(tmp_path, b"a b c\n" + b"a " * 11 + b"\n")
    with pytest.raises(DataError, match="sentence 2 has 10 samples, more than the 9"):
        taken(found, Grouping(2), 0, 0)
    assert len(taken(found, Grouping(2, cuts=True), 0, 0)) == 3
    assert len(taken(found, Grouping(0, spare=1), 0, 0)) == 2


@pytest.mark.parametrize("steps", [1, 3, 4, 9])
def test_a_sentence_longer_than_a_minibatch_comes_in_pieces(steps: int, tmp_path: Path) -> None:
    """Two of 10 words beside each other: the same columns as sequences that are cut."""
    words = (b"a b c a b c a b c a b", b"b c b c b c b c b c b", b"c a b")
    found = lm(tmp_path, b"\n".join(words) + b"\n")
    assert found.lines is not None
    assert found.lines.tolist()[:2] == [10, 10]
    sweeps = Sentences(found, Grouping(2, cuts=True), randomize=False, twisted=False)
    assert [sweeps.cuts(one) for one in (steps, 10)] == [steps, 0]
    assert next(one.samples for one in sweeps.epoch(0, 0, 10)) == 20
    batches = list(sweeps.epoch(0, 0, steps))
    long = [one for one in batches if len(one.sequences) == 2]
    assert [one.samples for one in long] == [2 * min(steps, 10 - at) for at in range(0, 10, steps)]
    sizes = dict.fromkeys(found.values, 8)
    others = Truncated(found, False, None, Cut(steps, 2), sizes).epoch(0, 20, 2 * steps)
    for ours, other in zip(long, others, strict=True):
        assert ours.columns == 2 * (ours.samples // 2)
        for name, one in ours.inputs.items():
            twin = other.inputs[name]
            assert isinstance(one, Packed)
            assert isinstance(twin, Packed)
            assert one.packing.length.tolist() == twin.packing.length.tolist()
            assert one.packing.before is not None
            assert twin.packing.before is not None
            assert one.packing.before.tolist() == twin.packing.before.tolist()
            if isinstance(one.values, Sparse):
                places = np.nonzero(twin.values)
                assert one.values.columns.tolist() == places[1].tolist()
            else:
                wanted = np.asarray(twin.values)[twin.packing.places]
                np.testing.assert_array_equal(one.values[one.packing.places], wanted)


def test_an_epoch_may_end_inside_a_sentence(tmp_path: Path) -> None:
    """The original looks at what is done before each minibatch."""
    found = lm(tmp_path, b"a b c a b c a b c a b\n" * 2)
    sweeps = Sentences(found, Grouping(1, cuts=True), randomize=False, twisted=False)
    assert [one.samples for one in sweeps.epoch(0, 7, 4)] == [4, 4]
    assert [one.samples for one in sweeps.epoch(1, 7, 4)] == [4, 4]


def test_columns_are_those_of_sentences_beside_each_other(tmp_path: Path) -> None:
    found = lu(tmp_path, b"a O\n\na O\nb O\nb B\n\nb B\n")
    sweeps = Sentences(found, Grouping(3, alike=False), randomize=False, twisted=False)
    (batch,) = sweeps.epoch(0, 0, 9)
    assert (batch.samples, batch.columns) == (5, 9)
    assert isinstance(batch.inputs["x"], Packed)
