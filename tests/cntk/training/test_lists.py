"""Actions that make lists and smaller models: writeWordAndClass, createLabelMap, SVD."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.samples.word_counts import grouped_words
from netsharp_engine.cntk.stored.model_file import read_model
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import Follower, made, run
from tests.cntk.training.test_columns import in_columns
from tests.cntk.training.test_sentence_runs import SENTENCES, language

WORDS = """command = words
words = { action = "writeWordAndClass" ; inputFile = "text.txt" ; vocabSize = SIZE ; nbrClass = 2
    outputVocabFile = "out/vocab.txt" ; outputMappingFile = "out/map.txt" ; cutoff = CUT
    outputWord2Cls = "out/word2cls.txt" ; outputCls2Index = "out/cls2idx.txt"
    beginSequence = "</s>" ; endSequence = "</s>" }
"""


def counted(folder: Path, text: str, *items: str, size: int = 4, cut: int = 0) -> Follower:
    (folder / "text.txt").write_text(text)
    written = WORDS.replace("SIZE", str(size)).replace("CUT", str(cut))
    (folder / "net.cntk").write_text(written)
    answer, follower = run(folder, *items)
    assert answer.code == 0, (answer.complaints, answer.reports)
    return follower


def lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


def test_words_are_counted_and_put_into_classes(tmp_path: Path) -> None:
    counted(tmp_path, "</s> a a b </s>\na b\tc\n a b a </s>\nd\n")
    # a comes 5 times, </s> once a sentence, b 3 times; c and d are unknown.
    vocabulary = lines(tmp_path / "out/vocab.txt")
    assert [one[:3] for one in vocabulary] == [
        *(["0", "5", "a"], ["1", "4", "</s>"], ["2", "3", "b"], ["3", "2", "<unk>"])
    ]
    groups = [int(one[3]) for one in vocabulary]
    assert groups == [0, 1, 1, 1]  # the roots of 5 and 4 are more than half of all
    assert lines(tmp_path / "out/map.txt") == [["a"], ["</s>"], ["b"], ["<unk>"]]
    assert lines(tmp_path / "out/word2cls.txt") == [[str(one)] for one in groups]
    assert lines(tmp_path / "out/cls2idx.txt") == [["0"], ["1"]]


def test_without_classes_all_words_stand_in_their_order(tmp_path: Path) -> None:
    counted(tmp_path, "b a\nb c\n", "words=[nbrClass=0]")
    found = lines(tmp_path / "out/vocab.txt")
    assert [(one[2], one[1], one[3]) for one in found] == [
        *(("</s>", "2", "0"), ("a", "1", "0"), ("b", "2", "0"), ("c", "1", "0"))
    ]
    assert not (tmp_path / "out/word2cls.txt").exists()


def test_lists_that_are_newer_than_the_text_are_kept(tmp_path: Path) -> None:
    counted(tmp_path, "a b\n")
    before = (tmp_path / "out/vocab.txt").read_text()
    (tmp_path / "out/vocab.txt").write_text("mine\n")
    _, follower = run(tmp_path)
    assert any("nothing is done" in one for one in follower.notices)
    assert (tmp_path / "out/vocab.txt").read_text() == "mine\n"
    run(tmp_path, "words=[makeMode=false]")
    assert (tmp_path / "out/vocab.txt").read_text() == before


def test_rare_words_make_the_vocabulary_smaller(tmp_path: Path) -> None:
    follower = counted(tmp_path, "a a a b b c\n", size=9, cut=1)
    assert any("only 2 words" in one for one in follower.notices)
    assert [one[2] for one in lines(tmp_path / "out/vocab.txt")] == ["<unk>", "a"]
    (tmp_path / "text.txt").write_text("a b\n")
    answer, _ = run(tmp_path, "words=[makeMode=false]")
    assert answer.code == 1
    assert "no word occurs more than 1 times" in answer.complaints[0]


def test_classes_have_about_the_same_weight_of_roots() -> None:
    random = np.random.default_rng(1)
    counts = {f"w{one}".encode(): int(x) for one, x in enumerate(random.integers(1, 999, 200))}
    found = grouped_words(counts, 150, 5, b"<unk>")
    assert len(found) == 150
    assert sum(one.times for one in found) == sum(counts.values())
    groups = [one.group for one in found]
    assert sorted(set(groups)) == [*range(5)]
    assert groups == sorted(groups)
    weights = [sum(np.sqrt(x.times) for x in found if x.group == one) for one in range(5)]
    assert max(weights) < 1.5 * min(weights)


def test_what_is_written_is_read_by_the_reader_of_sentences(tmp_path: Path) -> None:
    folder = language(tmp_path, SENTENCES, beside=0, block=50_000)
    text = (folder / "net.cntk").read_text()
    part = WORDS.replace("SIZE", "21").replace("CUT", "0").replace("nbrClass = 2", "nbrClass = 3")
    part = part.replace("command = words\n", "").replace("out/vocab.txt", "words.txt")
    (folder / "net.cntk").write_text(text + part)
    answer, _ = run(folder, "command=words", "words=[makeMode=false]")
    assert answer.code == 0, answer.complaints
    kept = len(lines(folder / "words.txt"))
    sizes = f"layerSizes={kept}:8:{kept};vocabSize={kept}"
    dims = f"reader=[labelIn=[labelDim={kept}];labels=[labelDim={kept}]]"
    answer, follower = run(
        folder, "command=learn", f"learn=[SimpleNetworkBuilder=[{sizes}];{dims};SGD=[maxEpochs=1]]"
    )
    assert answer.code == 0, (answer.complaints, answer.reports)
    assert len(follower.epochs) == 1


def test_a_list_of_labels_is_made_once_and_read(tmp_path: Path) -> None:
    folder = in_columns(tmp_path)
    (folder / "names.txt").unlink()
    text = (folder / "net.cntk").read_text()
    (folder / "net.cntk").write_text(text + 'map = { action = "createLabelMap" ; section = learn }')
    answer, follower = run(folder, "command=map:learn")
    assert answer.code == 0, (answer.complaints, answer.reports)
    in_turn = follower.epochs[-1]["loss"]
    shutil.rmtree(folder / "out")
    (folder / "names.txt").unlink()
    answer, _ = run(folder)
    assert answer.code == 2
    message = [str(one.message) for r in answer.reports for f in r for one in f.diagnostics]
    assert any("createLabelMap" in one for one in (*answer.complaints, *message))
    answer, _ = run(folder, "command=map")
    assert answer.code == 0, answer.complaints
    first = [one.split()[-1] for one in (folder / "data.txt").read_text().splitlines()]
    assert (folder / "names.txt").read_text().split() == list(dict.fromkeys(first))
    _, follower = run(folder, "command=map")
    assert any("nothing is done" in one for one in follower.notices)
    answer, follower = run(folder)
    assert answer.code == 0
    assert follower.epochs[-1]["loss"] == in_turn


def test_words_are_counted_for_the_commands_after(tmp_path: Path) -> None:
    """Lists that one command writes are read by the next."""
    folder = language(tmp_path, SENTENCES, beside=1, block=100, equal="true")
    text = (folder / "net.cntk").read_text()
    made = """words = { action = "writeWordAndClass" ; inputFile = "text.txt" ; vocabSize = 30
        nbrClass = 3 ; cutoff = 0 ; outputVocabFile = "made.txt" ; outputWord2Cls = "a.txt"
        outputCls2Index = "b.txt" ; beginSequence = "</s>" ; endSequence = "</s>" }
    """
    text = text.replace("words.txt", "made.txt").replace("labelDim = 21", "labelDim = 0")
    (folder / "net.cntk").write_text(text + made)
    answer, follower = run(folder, "command=words:learn")
    assert answer.code == 0, (answer.complaints, answer.reports, answer.printed)
    assert len(follower.epochs) > 1
    assert (folder / "made.txt").exists()


def loss(follower: Follower) -> float:
    return float(next(one["loss"] for one in follower.events if one["event"] == "end"))


SPLIT = 'small = { action = "SVD" ; outputmodelPath = "out/small.dnn" ; AlignedSize = 1 MORE }\n'


def trained(folder: Path, more: str) -> Path:
    folder = made(folder)
    text = (folder / "net.cntk").read_text()
    (folder / "net.cntk").write_text(text + SPLIT.replace("MORE", more))
    answer, _ = run(folder, "command=learn", "precision=double")
    assert answer.code == 0
    return folder


def test_all_singular_values_leave_the_network_as_it_was(tmp_path: Path) -> None:
    folder = trained(tmp_path, '; NodeNameRegex = "W.*" ; KeepRatio = 1')
    _, whole = run(folder, "command=score", "precision=double")
    answer, follower = run(folder, "command=small", "precision=double")
    assert answer.code == 0, (answer.complaints, answer.reports)
    assert sum("Performing SVD" in one for one in follower.lines) == 2
    _, small = run(folder, "command=score", "precision=double", "score=[modelPath=out/small.dnn]")
    assert loss(small) == pytest.approx(loss(whole), rel=1e-12)
    nodes = {one.name: one for one in read_model((folder / "out/small.dnn").read_bytes()).nodes}
    assert nodes["W0"].operation == "Times"
    assert nodes["W0"].inputs == ("W0_U", "W0_V")
    assert (nodes["W0_U"].shape, nodes["W0_V"].shape) == ((8, 2), (2, 2))


@pytest.mark.parametrize(("share", "aligned", "rank"), [(0.3, 1, 1), (0.3, 2, 2), (0.3, 8, 2)])
def test_a_share_of_singular_values_is_rounded_up(
    share: float, aligned: int, rank: int, tmp_path: Path
) -> None:
    folder = trained(tmp_path, f'; NodeNameRegex = "W0" ; KeepRatio = {share}')
    answer, _ = run(folder, "command=small", "precision=double", f"small=[AlignedSize={aligned}]")
    assert answer.code == 0
    before, after = (
        {one.name: one for one in read_model((folder / f"out/{name}.dnn").read_bytes()).nodes}
        for name in ("net", "small")
    )
    left, right = after["W0_U"], after["W0_V"]
    assert (left.shape, right.shape) == ((8, rank), (rank, 2))
    assert left.values is not None
    assert right.values is not None
    product = left.values.reshape(rank, 8).T @ right.values.reshape(2, rank).T
    matrix = np.asarray(before["W0"].values).reshape(2, 8).T
    values = np.linalg.svd(matrix, compute_uv=False)
    assert np.linalg.norm(matrix - product) == pytest.approx(
        float(np.sqrt((values[rank:] ** 2).sum())), abs=1e-9
    )
    # It is trained on.
    answer, _ = run(folder, "command=score", "precision=double", "score=[modelPath=out/small.dnn]")
    assert answer.code == 0


@pytest.mark.parametrize("stale", [False, True])
def test_a_model_that_is_split_in_the_same_run_is_tested_and_written(
    stale: bool, tmp_path: Path
) -> None:
    """Against singular values and a network by hand; of what an earlier run left there, which is
    split nowhere, nothing is taken.
    """
    folder = trained(tmp_path, '; NodeNameRegex = "W.*" ; KeepRatio = 0.3')
    if stale:
        run(folder, "command=small", "precision=double", "small=[NodeNameRegex=B0]")
    again = 'again = { action = "dumpNode" ; modelPath = "out/small.dnn" ; nodeName = "W0_U" }\n'
    (folder / "net.cntk").write_text((folder / "net.cntk").read_text() + again)
    items = "score=[modelPath=out/small.dnn]", "tell=[modelPath=out/small.dnn]", "makeMode=false"
    answer, follower = run(
        folder, "command=learn:small:score:tell:again", "precision=double", *items
    )
    assert answer.code == 0, (answer.complaints, answer.reports)
    values = {
        one.name: np.asarray(one.values).reshape(one.shape[::-1] or -1).T
        for one in read_model((folder / "out/net.dnn").read_bytes()).nodes
        if one.values is not None
    }
    for name in ("W0", "W1"):
        left, spread, right = np.linalg.svd(values[name], full_matrices=False)
        kept = int(np.argmax(np.cumsum(spread) > 0.3 * spread.sum())) + 1
        assert kept < len(spread)
        values[name] = (left[:, :kept] * spread[:kept]) @ right[:kept]
    rows = [line.split() for line in (folder / "data.ctf").read_text().splitlines()]
    labels, points = (np.array([row[a:b] for row in rows], float) for a, b in ((1, 4), (5, 7)))
    scaled = (points - values["MeanOfFeatures"].ravel()) * values["InvStdOfFeatures"].ravel()
    hidden = np.tanh(scaled @ values["W0"].T + values["B0"].ravel())
    sums = hidden @ values["W1"].T + values["B1"].ravel()
    logs = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
    assert loss(follower) == pytest.approx(-(labels * logs).sum() / len(labels), rel=1e-9)
    reported = np.loadtxt(folder / "out/told.PosteriorProb")
    np.testing.assert_allclose(reported, np.exp(logs), atol=1e-6)
    assert "W0_U=" in (folder / "out/small.dnn.W0_U.txt").read_text()


def test_a_test_after_a_split_is_looked_through_before_anything_is_done(tmp_path: Path) -> None:
    folder = trained(tmp_path, '; NodeNameRegex = "W.*"')
    (folder / "out/net.dnn").unlink()
    items = "score=[modelPath=out/small.dnn]", "score=[evalNodeNames=lost]"
    answer, _ = run(folder, "command=learn:small:score", "precision=double", *items)
    assert answer.code == 2
    reported = [*answer.complaints, *answer.printed]
    reported += [one.message for r in answer.reports for f in r for one in f.diagnostics]
    assert any("the network has no node 'lost'" in one for one in reported)


def test_parts_are_not_split_again_by_a_later_pattern(tmp_path: Path) -> None:
    """The names are gathered before anything is split."""
    folder = trained(tmp_path, '; SVDConfig = "shares.txt"')
    (folder / "shares.txt").write_text("W0 1\nW0.* 0.1\n")
    answer, follower = run(folder, "command=small", "precision=double")
    assert answer.code == 0
    assert sum("Performing SVD" in one for one in follower.lines) == 1
    names = {one.name for one in read_model((folder / "out/small.dnn").read_bytes()).nodes}
    assert {"W0_U", "W0_V"} <= names
    assert not any(name.startswith("W0_U_") for name in names)


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ("", "neither 'NodeNameRegex' nor 'SVDConfig'"),
        ('; NodeNameRegex = "W["', "is not a valid pattern"),
        ('; NodeNameRegex = "(W+)+"', "repeats a group"),
        ('; SVDConfig = "none.txt"', "none.txt"),
        ('; SVDConfig = "net.cntk"', "expected a pattern"),
        ('; NodeNameRegex = "W0" ; AlignedSize = 0', "AlignedSize"),
    ],
)
def test_what_cannot_be_split_is_reported(more: str, word: str, tmp_path: Path) -> None:
    folder = trained(tmp_path, more)
    answer, _ = run(folder, "command=small", "precision=double")
    reported: list[Any] = [*answer.complaints]
    reported += [str(one.message) for r in answer.reports for f in r for one in f.diagnostics]
    assert answer.code in (1, 2)
    assert any(word in one for one in reported), reported
    assert not (folder / "out/small.dnn").exists()


def test_the_network_of_a_smaller_model_is_described_once_it_is_there(tmp_path: Path) -> None:
    """How many singular values are kept depends on trained numbers."""
    folder = trained(tmp_path, '; NodeNameRegex = "W0" ; KeepRatio = 0.3 ; AlignedSize = 1')
    items = ("command=small:score", "score=[modelPath=out/small.dnn]")
    words = (
        "describe",
        "net.cntk",
        "--command",
        "score",
        *(w for i in items for w in ("--set", i)),
    )
    before = netsharp(*words, cwd=folder)
    assert (before.code, before.out) == (2, ""), before.out
    assert "'small' writes 'out/small.dnn'" in before.err
    assert "depends on trained numbers" in before.err
    answer, _ = run(folder, "command=small", "precision=double")
    assert answer.code == 0
    described = netsharp(*words, "--format", "json", cwd=folder)
    assert described.code == 0, described.err
    nodes = {one["name"]: one for one in json.loads(described.out)["nodes"]}
    assert nodes["W0"]["operation"] == "Times"
    assert [nodes[name]["shape"] for name in ("W0_U", "W0_V")] == [[8, 1], [1, 2]]
    # The file may be older than the texts: it is no reason for a finding.
    (folder / "net.cntk").write_text((folder / "net.cntk").read_text().replace("W0", "Z0"))
    assert "W0" not in netsharp("check", "net.cntk", cwd=folder).out
