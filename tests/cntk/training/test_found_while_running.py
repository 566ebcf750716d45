"""What only data show while a network runs, and what a loop cannot compute: a sentence each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cntk.training.experiments import run
from tests.cntk.training.test_rarer_nodes import experiment

WORDS = """\
command = learn
modelPath = "out/net.dnn"
learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        x = Input (3) ; y = Input (4)
        V = Parameter (3, 5) ; C = Parameter (2, 3)
        ce = ClassBasedCrossEntropyWithSoftmax (y, x, V, C * x)
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce) ; outputNodes = (ce)
    }
    SGD = { maxEpochs = 2 ; minibatchSize = 2 ; learningRatesPerSample = 0.02 }
    reader = { file = "data.ctf" ; input = {
        x = { dim = 3 ; format = "dense" } ; y = { dim = 4 ; format = "dense" } } }
}
"""


def words(folder: Path, last: str) -> None:
    """Three samples: a word, its class, and where the words of the class begin and end."""
    labels = ("0 0 0 2", "4 1 2 5", last)
    (folder / "data.ctf").write_text("".join(f"|x 1 2 3 |y {one}\n" for one in labels))
    (folder / "net.cntk").write_text(WORDS)


def test_words_of_their_classes_are_trained(tmp_path: Path) -> None:
    words(tmp_path, "2 1 2 5")
    answer, follower = run(tmp_path)
    assert answer.code == 0, answer.complaints
    assert len(follower.epochs) == 2


@pytest.mark.parametrize("label", ["1 1 2 5", "5 1 2 5", "4 1 2 6", "4 2 2 5", "4 -1 2 5"])
def test_a_word_that_is_none_of_its_class_is_a_fault_of_the_data(
    label: str, tmp_path: Path
) -> None:
    words(tmp_path, label)
    answer, _ = run(tmp_path)
    (sentence,) = answer.complaints
    assert answer.code == 1
    assert sentence.startswith(f"'ce' has the label {', '.join(label.split())}: ")
    assert sentence.endswith("5 words in 2 classes.")


def test_what_a_loop_cannot_compute_is_refused_at_its_place(tmp_path: Path) -> None:
    made = "BatchNormalizationLayer {} (t)"
    loop = f"d = PastValue (2, r) ; t = Tanh (d + h) ; r = {made} ; ce = SquareError (y, r)"
    experiment(tmp_path, loop)
    answer, follower = run(tmp_path, "command=learn")
    (sentence,) = answer.complaints
    assert answer.code == 2
    assert "net.cntk, line " in sentence
    assert sentence.endswith("Put it in front of the loop.")
    assert "'BatchNormalization' in a loop over time joins samples of one step" in sentence
    assert follower.events == []
    assert not (tmp_path / "out").exists()
