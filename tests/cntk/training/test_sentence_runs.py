"""Experiments that read sentences and tagged words: what is learnt, refused and resumed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import Follower, run
from tests.conftest import SEED

TEXT = """command = learn:score
precision = "double"
modelPath = "out/net.dnn"
learn = {
    action = "train"
    SimpleNetworkBuilder = {
        rnnType = CLASSLM ; recurrentLayer = 1
        layerSizes = 21:8:21 ; vocabSize = 21 ; nbrClass = 3 ; uniformInit = true
        trainingCriterion = classCrossEntropyWithSoftmax
        evalCriterion = classCrossEntropyWithSoftmax
        addPrior = false ; applyMeanVarNorm = false
    }
    SGD = {
        maxEpochs = 4 ; minibatchSize = 20 ; learningRatesPerSample = 0.1
        momentumAsTimeConstant = 0
    }
    reader = { READER }
}
score = { action = "test" ; minibatchSize = 20 ; reader = { READER } }
"""
SENTENCES = """readerType = "LMSequenceReader" ; file = "text.txt" ; wordclass = "words.txt"
        nbruttsineachrecurrentiter = BESIDE ; cacheBlockSize = BLOCK
        features = { dim = 0 }
        labelIn = { dim = 1 ; labelDim = 21 ; labelType = "Category"
            beginSequence = "</s>" ; endSequence = "</s>" }
        labels = { dim = 1 ; labelType = "NextWord" ; labelDim = 21 }
"""
PLAIN = """file = "text.ctf" ; randomize = false ; input = {
        features = { dim = 21 ; format = "sparse" } ; labels = { dim = 4 ; format = "dense" } }
"""


def language(folder: Path, reader: str, **options: object) -> Path:
    """Sentences in which each word says what follows, and the same in text format."""
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(SEED)
    classes = [0] + [1] * 8 + [2] * 12
    names = ["</s>", *(f"w{one}" for one in range(1, 21))]
    table = [f"{at}\t{100 - at}\t{names[at]}\t{classes[at]}" for at in range(21)]
    (folder / "words.txt").write_text("\n".join(table) + "\n")
    follows = random.permutation(np.arange(1, 21))
    lines, plain = [], []
    for number in range(60):
        word = int(random.integers(1, 21))
        sentence = [0]
        for _ in range(int(random.integers(2, 7))):
            sentence.append(word)
            word = int(follows[word - 1])
        sentence.append(0)
        lines.append(" ".join(names[one] for one in sentence))
        for one, label in pairwise(sentence):
            kind = classes[label]
            span = classes.index(kind), 21 - classes[::-1].index(kind)
            plain.append(f"{number} |features {one}:1 |labels {label} {kind} {span[0]} {span[1]}")
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    (folder / "text.ctf").write_text("\n".join(plain) + "\n")
    for key, value in options.items():
        reader = reader.replace(key.upper(), str(value))
    (folder / "net.cntk").write_text(TEXT.replace("READER", reader))
    return folder


def figures(folder: Path, *items: str) -> list[dict[str, Any]]:
    answer, follower = run(folder, *items)
    assert answer.code == 0, (answer.complaints, answer.reports)
    keys = ("event", "loss", "evaluation", "samples")
    return [{key: one.get(key) for key in keys} for one in follower.events if "loss" in one]


def test_a_language_is_learnt_to_the_digits_of_the_text_format(tmp_path: Path) -> None:
    sentences = language(tmp_path / "lm", SENTENCES, beside=1, block=1)
    plain = language(tmp_path / "ctf", PLAIN)
    one = "learn=[SGD=[minibatchSize=1]]", "score=[minibatchSize=1]"
    assert figures(sentences) == figures(plain, *one)
    assert (sentences / "out/net.dnn").read_bytes() == (plain / "out/net.dnn").read_bytes()


def test_sentences_longer_than_a_minibatch_are_cut_and_say_the_same(tmp_path: Path) -> None:
    """States are carried on, so that a test has the same figures; training has others."""
    folder = language(tmp_path, SENTENCES, beside=4, block=50_000)
    whole = figures(folder)
    cut = figures(folder, "command=score", "score=[minibatchSize=2]")
    assert cut[-1]["loss"] == pytest.approx(whole[-1]["loss"], rel=1e-6)
    assert cut[-1]["samples"] == whole[-1]["samples"]
    other = figures(folder, "makeMode=false", "learn=[SGD=[minibatchSize=2]]")
    assert other[-1]["samples"] == whole[-1]["samples"]
    assert other[0]["loss"] != whole[0]["loss"]
    assert other[-1]["loss"] < other[0]["loss"]


def test_a_language_in_pieces_that_is_stopped_and_resumed_is_run_through(tmp_path: Path) -> None:
    whole, parts = (language(tmp_path / name, SENTENCES, beside=4, block=40) for name in "ab")
    items = "command=learn", "truncated=true", "learn=[SGD=[minibatchSize=3;epochSize=50]]"
    figures(whole, *items)
    stopped, _ = run(parts, *items, follower=Follower(ends=2))
    assert stopped.code == 130
    figures(parts, *items)
    assert (whole / "out/net.dnn").read_bytes() == (parts / "out/net.dnn").read_bytes()


def test_parts_of_pieces_of_sentences_learn_what_whole_minibatches_learn(tmp_path: Path) -> None:
    """Sentences of up to 7 steps beside each other, cut after 3 of them."""
    folder = language(tmp_path, SENTENCES, beside=4, block=40)
    recurrent(folder, "{4}")
    items = "precision=double", "makeMode=false", "learn=[SGD=[minibatchSize=3]]"
    whole = figures(folder, *items)
    parts = figures(folder, *items, "learn=[SGD=[numSubminibatches=3]]", "numSubminibatches=2")
    assert len(parts) == len(whole) > 2
    for ours, others in zip(parts, whole, strict=True):
        assert ours["loss"] == pytest.approx(others["loss"], rel=1e-11)
        assert ours["samples"] == others["samples"]


def recurrent(folder: Path, size: str) -> None:
    """Put a recurrent layer in the place of the simple builder."""
    path, simple = folder / "net.cntk", "SimpleNetworkBuilder = {"
    text = """BrainScriptNetworkBuilder = {
        features = Input {21, sparse=true} ; labels = Input {4}
        h = RecurrentLSTMLayer SIZE (features)
        ce = ClassBasedCrossEntropyWithSoftmax (labels, h, ParameterTensor ((4:21)),
            ParameterTensor ((3:4)) * h)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
        outputNodes = (h)
    }
    none = {"""
    path.write_text(path.read_text().replace(simple, text.replace("SIZE", size)))


def test_what_needs_whole_sentences_is_refused(tmp_path: Path) -> None:
    folder = language(tmp_path, SENTENCES, beside=4, block=40)
    recurrent(folder, "{4,goBackwards=true}")
    answer, _ = run(folder, "score=[minibatchSize=2]")
    assert answer.code == 2
    reported = answer.complaints or answer.printed
    assert any("reads later steps" in one for one in reported), answer


def test_a_language_is_learnt(tmp_path: Path) -> None:
    folder = language(tmp_path, SENTENCES, beside=0, block=50_000)
    answer, follower = run(folder, "learn=[SGD=[maxEpochs=10;learningRatesPerSample=0.5]]")
    assert answer.code == 0, answer.complaints
    assert any("always shuffles" in one for one in follower.notices)
    loss = follower.events[-1]["loss"]
    print(loss)
    assert loss < 1.5  # guessing gives 3.04; first words and ends cannot be known


def test_a_language_that_is_stopped_and_resumed_is_run_through(tmp_path: Path) -> None:
    whole, parts = (language(tmp_path / name, SENTENCES, beside=4, block=40) for name in "ab")
    figures(whole, "command=learn")
    stopped, _ = run(parts, "command=learn", follower=Follower(ends=2))
    assert stopped.code == 130
    figures(parts, "command=learn")
    assert (whole / "out/net.dnn").read_bytes() == (parts / "out/net.dnn").read_bytes()


TAGGING = """command = learn:score
modelPath = "out/net.dnn"
learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        features = Input {27, sparse=true} ; labels = Input {3, sparse=true}
        z = LinearLayer {3} (RecurrentLSTMLayer {8} (features))
        ce = CrossEntropyWithSoftmax (labels, z) ; errs = ClassificationError (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
        evaluationNodes = (errs) ; outputNodes = (z)
    }
    SGD = { maxEpochs = 6 ; minibatchSize = 30 ; learningRatesPerSample = 0.1
        momentumAsTimeConstant = 20 }
    reader = { READER }
}
score = { action = "test" ; minibatchSize = 30 ; reader = { READER } }
"""
TAGGED_WORDS = """readerType = "LUSequenceReader" ; file = "tags.txt" ; wordContext = -1:0:1
        nbruttsineachrecurrentiter = BESIDE ; equalLength = EQUAL ; wordmap = "map.txt"
        features = { dim = 0 }
        labelIn = { labelType = "Category" ; token = "words.txt" ; useWordMap = true
            beginSequence = "BOS" ; endSequence = "EOS" }
        labels = { labelType = "Category" ; token = "tags.lst" }
"""
PLAIN_TAGS = """file = "tags.ctf" ; randomize = false ; input = {
        features = { dim = 27 ; format = "sparse" } ; labels = { dim = 3 ; format = "sparse" } }
"""
NAMES = ["<unk>", "BOS", "EOS", "one", "two", "three", "four", "five", "six"]


def tagging(folder: Path, reader: str, **options: object) -> Path:
    """Sentences whose tags depend on the words beside; two words are spelt in two ways."""
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(SEED)
    (folder / "words.txt").write_text("\n".join(NAMES) + "\n")
    mapped = [f"{one} {one}" for one in NAMES if one != "six"] + ["six five"]
    (folder / "map.txt").write_text("\n".join(mapped) + "\n")
    (folder / "tags.lst").write_text("less\nsame\nmore\n")
    lines, plain = [], []
    for number in range(50):
        ids = [1, *random.integers(3, 9, int(random.integers(2, 7))).tolist(), 2]
        meant = [7 if one == 8 else one for one in ids]
        for at, one in enumerate(meant):
            before, after = meant[max(at - 1, 0)], meant[min(at + 1, len(meant) - 1)]
            tag = 0 if before < one else 1 if before == one else 2
            lines.append(f"{NAMES[ids[at]]} {('less', 'same', 'more')[tag]}")
            plain.append(
                f"{number} |features {before}:1 {9 + one}:1 {18 + after}:1 |labels {tag}:1"
            )
    (folder / "tags.txt").write_text("\n".join(lines) + "\n")
    (folder / "tags.ctf").write_text("\n".join(plain) + "\n")
    for key, value in options.items():
        reader = reader.replace(key.upper(), str(value))
    (folder / "net.cntk").write_text(TAGGING.replace("READER", reader))
    return folder


def test_tags_are_learnt_to_the_digits_of_the_text_format(tmp_path: Path) -> None:
    tagged = tagging(tmp_path / "lu", TAGGED_WORDS, beside=1, equal="true")
    plain = tagging(tmp_path / "ctf", PLAIN_TAGS)
    one = "learn=[SGD=[minibatchSize=1]]", "score=[minibatchSize=1]"
    assert figures(tagged) == figures(plain, *one)
    assert (tagged / "out/net.dnn").read_bytes() == (plain / "out/net.dnn").read_bytes()


def test_tags_of_sentences_of_unequal_length_are_learnt(tmp_path: Path) -> None:
    folder = tagging(tmp_path, TAGGED_WORDS, beside=5, equal="false")
    reported = figures(folder, "learn=[SGD=[maxEpochs=20]]")
    print(reported[-1]["evaluation"])
    assert reported[-1]["evaluation"]["errs"] < 0.05
    # An epoch counts sentences: five at a time, the last ones go beyond.
    answer, follower = run(folder, "command=learn", "makeMode=false", "learn=[SGD=[epochSize=31]]")
    assert answer.code == 0, answer.complaints
    lengths = [len(one.split("EOS")) for one in (folder / "tags.txt").read_text().split("BOS")[1:]]
    assert len(lengths) == 50
    words = (folder / "tags.txt").read_text().split("BOS same")[1:36]
    assert follower.epochs[0]["samples"] == sum(one.count("\n") for one in words)


@pytest.mark.parametrize(
    ("maker", "before", "after", "word"),
    [
        (language, '"words.txt"', '"none.txt"', "the file 'none.txt'"),
        (language, "features = { dim = 0 }", "features = { mode = nce ; dim = 0 }", "noise_number"),
        (language, 'wordclass = "words.txt"', "", "no 'wordclass'"),
        (language, "labelDim = 21 ; labelType", "labelDim = 9 ; labelType", "has 21 words"),
        (language, '"NextWord"', '"odd"', "category, nextWord, none"),
        (language, '"NextWord"', '"NextWord" ; labelMappingFile = "/etc/passwd"', ""),
        (language, "features = { dim = 0 }", "", "needs a block with dim"),
        (tagging, 'token = "tags.lst"', "", "no 'token'"),
        (tagging, "equalLength", "dataMultiPass = true ; equalLength", "dataMultiPass"),
        (tagging, "equalLength", "ioNodeNames = a:b ; equalLength", "ioNodeNames"),
        (tagging, "equalLength", "inputLabel = other ; equalLength", "has that name"),
        (tagging, "iter = 1", "iter = 0", "1 or more"),
        (tagging, '"map.txt"', '"tags.lst"', "expected two words"),
        (tagging, "useWordMap = true", "isProposal = true", "isProposal"),
        (
            tagging,
            'token = "tags.lst"',
            'token = "tags.lst" ; mode = class',
            "a word and its class",
        ),
    ],
)
def test_what_cannot_be_read_is_reported_before_anything_is_done(
    maker: Any, before: str, after: str, word: str, tmp_path: Path
) -> None:
    reader = SENTENCES if maker is language else TAGGED_WORDS
    folder = maker(tmp_path, reader, beside=1, block=1, equal="true")
    path = folder / "net.cntk"
    text = path.read_text().replace(before, after)
    path.write_text(text)
    answer, follower = run(folder)
    message = [
        *answer.complaints,
        *(str(one.message) for r in answer.reports for f in r for one in f.diagnostics),
    ]
    if not word:
        assert answer.code == 0, message
        return
    assert answer.code in (1, 2)
    assert any(word in one for one in message), message
    assert follower.events == []


def test_a_check_of_the_data_reads_sentences_to_the_end(tmp_path: Path) -> None:
    folder = language(tmp_path, SENTENCES, beside=1, block=1)
    text = (folder / "text.txt").read_text().splitlines()
    text[3] = "</s> zebra w2 </s>"
    (folder / "text.txt").write_text("\n".join(text) + "\n")
    done = netsharp("check", "--read-data", "net.cntk", cwd=folder)
    assert done.code == 1
    assert "text.txt:4:6" in done.out
    assert "'zebra' is not a word of the vocabulary" in done.out
