"""Bad input from end to end: what can be known is reported before the first minibatch, at its
place.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import Follower, made, run
from tests.cntk.training.test_columns import in_columns
from tests.cntk.training.test_image_runs import COMPOSED, drawn
from tests.cntk.training.test_image_runs import TEXT as LABELS
from tests.cntk.training.test_sentence_runs import SENTENCES, TAGGED_WORDS, language, tagging
from tests.cntk.training.test_validation import checked

#: What is replaced in the configuration or in the data, the code, the place and words.
KNOWN = {
    "a missing file of data": (
        "net.cntk",
        'reader = { file = "data.ctf"',
        'reader = { file = "lost.ctf"',
        (1, "lost.ctf: cannot be read: No such file"),
    ),
    "a folder in the place of data": (
        "net.cntk",
        'reader = { file = "data.ctf"',
        'reader = { file = "."',
        (1, "run: cannot be read"),
    ),
    "labels of another dimension": (
        "net.cntk",
        "labels = { dim = 3",
        "labels = { dim = 4",
        (1, "has 4 numbers per sample"),
    ),
    "a stream that the network does not have": (
        "net.cntk",
        "features = { dim = 2",
        "points = { dim = 2",
        (1, "features"),
    ),
    "a label out of range": (
        "data.ctf",
        "|labels 0 1 0",
        "|labels 0 0 0 1",
        (1, "'labels' has 4 numbers, and its dim is 3"),
    ),
    "an option of the wrong kind": (
        "net.cntk",
        "maxEpochs = 4",
        "maxEpochs = many",
        (1, "maxEpochs"),
    ),
    "a truth of the wrong kind": (
        "net.cntk",
        "applyMeanVarNorm = true",
        "applyMeanVarNorm = perhaps",
        (1, "applyMeanVarNorm"),
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_can_be_known_is_reported_before_the_first_minibatch(
    name: str, tmp_path: Path
) -> None:
    file, before, after, (code, words) = KNOWN[name]
    folder = made(tmp_path / "run")
    path = folder / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    done = netsharp("run", "net.cntk", "command=learn", cwd=folder)
    assert (done.code, done.out) == (code, ""), done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert not (folder / "out").exists()


#: Data that are taken away, by reader: who makes the experiment, and the file.
TAKEN: dict[str, tuple[Callable[[Path], Path], str]] = {
    "text": (made, "data.ctf"),
    "columns": (in_columns, "data.txt"),
    "images": (drawn, "map.txt"),
    "several": (
        lambda one: drawn(one, COMPOSED, random="true", labels="unused", text=LABELS),
        "labels.ctf",
    ),
    "sentences": (lambda one: language(one, SENTENCES, beside=1, block=1), "text.txt"),
    "tags": (lambda one: tagging(one, TAGGED_WORDS, beside=1, equal="true"), "tags.txt"),
}


@pytest.mark.parametrize("taken", TAKEN)
def test_missing_data_are_named_with_the_line_that_names_them(taken: str, tmp_path: Path) -> None:
    make, name = TAKEN[taken]
    folder = make(tmp_path)
    (folder / name).unlink()
    lines = (folder / "net.cntk").read_text().splitlines()
    line = next(at for at, one in enumerate(lines, 1) if f'"{name}"' in one)
    answer, follower = run(folder, "command=learn")
    message = f"net.cntk, line {line}: {folder / name}: cannot be read: No such file or directory."
    assert (answer.code, follower.events) == (1, [])
    assert [one.removeprefix(f"{folder}/") for one in answer.complaints] == [message]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"|# nothing\n"])
def test_a_set_without_samples_is_a_sentence(data: bytes, tmp_path: Path) -> None:
    folder = made(tmp_path)
    (folder / "data.ctf").write_bytes(data)
    answer, follower = run(folder, "command=learn")
    assert answer.code == 1
    assert "data.ctf" in answer.complaints[0]
    assert follower.events == []


def test_a_minibatch_larger_than_the_set_is_the_set(tmp_path: Path) -> None:
    folder = made(tmp_path)
    few = "learn=[SGD=[maxEpochs=2;minibatchSize=100000]]"
    answer, follower = run(folder, "command=learn:score", "score=[minibatchSize=100000]", few)
    assert answer.code == 0
    assert [(one["step"], one["samples"]) for one in follower.epochs] == [(1, 150), (2, 300)]


def test_a_sequence_longer_than_a_minibatch_is_one(tmp_path: Path) -> None:
    folder = made(tmp_path)
    lines = (folder / "data.ctf").read_text().splitlines()
    whole = [f"{at // 30} {line}" for at, line in enumerate(lines)]
    (folder / "data.ctf").write_text("\n".join(whole) + "\n")
    answer, follower = run(folder, "command=learn", "learn=[SGD=[maxEpochs=2;minibatchSize=7]]")
    assert answer.code == 0, answer.complaints
    assert [(one["step"], one["samples"]) for one in follower.epochs] == [(5, 150), (10, 300)]


def test_a_loop_without_a_delay_is_reported_at_its_place(tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    text = path.read_text()
    first, last = text.index("    SimpleNetworkBuilder"), text.index("    SGD = {")
    network = """    BrainScriptNetworkBuilder = {
        features = Input {2} ; labels = Input {3}
        h = Tanh (z) ; z = LinearLayer {3} (h + features)
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
    }
"""
    path.write_text(text[:first] + network + text[last:])
    done = netsharp("run", "net.cntk", "command=learn", cwd=folder)
    assert done.code in (1, 2)
    assert "net.cntk:9:" in done.err or "net.cntk, line 9" in done.err, done.err
    assert "Traceback" not in done.err
    assert not (folder / "out").exists()


@pytest.mark.costly
def test_commands_are_done_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    """However they are listed, each as often as it is named; `tell` writes two files."""
    folder = made(tmp_path)
    assert run(folder, "command=learn", "learn=[SGD=[maxEpochs=1]]")[0].code == 0
    done = netsharp("run", "net.cntk", "command=score:tell:score", cwd=folder)
    assert done.code == 0, done.err
    assert [line.split(":")[0] for line in done.out.splitlines()] == [
        *("score", "tell", "tell", "score"),
    ]


@pytest.mark.parametrize("action", ["adapt", "convertdbn", "exportdbn"])
def test_an_action_that_is_not_done_is_refused_by_its_name(action: str, tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    message = (
        f'more = {{ action = "{action}" ; dbnModelPath = "a.dbn" ; origModelFileName = "a.dnn" }}\n'
    )
    path.write_text(path.read_text() + message)
    answer, follower = run(folder, "command=more")
    assert answer.code in (1, 2)
    reported = [*answer.complaints, *answer.printed]
    reported += [one.message for r in answer.reports for file in r for one in file.diagnostics]
    assert any(f"'{action}'" in one or f"({action})" in one for one in reported), reported
    assert follower.events == []


def test_a_run_with_cross_validation_that_is_resumed_is_run_through(tmp_path: Path) -> None:
    """With cross-validation that adjusts the rate, to the last bit."""
    adjust = "AutoAdjust=[autoAdjustLR=adjustAfterEpoch;reduceLearnRateIfImproveLessThan=0.5]"
    items = "command=learn", f"learn=[SGD=[{adjust}]]"
    assert run(checked(tmp_path / "whole"), *items)[0].code == 0
    folder = checked(tmp_path / "stopped")
    assert run(folder, *items, follower=Follower(ends=2))[0].code == 130
    assert run(folder, *items)[0].code == 0
    for name in ("net.dnn", "net.dnn.ckp"):
        ours = (folder / "out" / name).read_bytes()
        assert ours == (tmp_path / "whole" / "out" / name).read_bytes(), name
