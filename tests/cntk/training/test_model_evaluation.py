"""Models of CNTK's over sequences and with several outputs, asked from Python and the shell."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import netsharp as public
import netsharp_engine.cntk.model_evaluation as model_evaluation
from netsharp_engine.tensor_backend import TensorProgram
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import run

ROOT = Path(__file__).parents[3]
SENTENCES = ROOT / "examples" / "cntk" / "sentences"
SLU = ROOT.parent / "shared" / "peer" / "models" / "slu.forward.backward.cmf"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger in both directions and a classifier of sentences, scarcely trained."""
    place = tmp_path_factory.mktemp("sentences")
    for name in ("train.ctf", "test.ctf"):
        shutil.copy(SENTENCES / name, place / name)
    text = (SENTENCES / "sentences.cntk").read_text().replace("maxEpochs = 12", "maxEpochs = 2")
    (place / "sentences.cntk").write_text(text)
    read = "file=test.ctf;input=[word=[dim=60;format=sparse];tag=[dim=3;format=sparse]]"
    tell = f"tell=[action=write;modelPath=out/tags.dnn;outputPath=out/told;reader=[{read}]]"
    answer, _ = run(place, "command=tagging:sorting:tell", tell)
    assert answer.code == 0, answer.complaints
    return place


def sentences(folder: Path) -> list[np.ndarray]:
    """The words of the test set, sentence by sentence."""
    found: dict[str, list[int]] = {}
    for line in (folder / "test.ctf").read_text().splitlines():
        number, word, *_ = line.split("|")
        found.setdefault(number.strip(), []).append(int(word.split()[1].split(":")[0]))
    return [np.array(one) for one in found.values()]


def written(folder: Path) -> np.ndarray:
    """What the action write says of the test set, step by step."""
    lines = (folder / "out" / "told.z").read_text().split()
    return np.array(lines, float).reshape(-1, 3)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_lists_of_sequences_are_answered_as_write_does(folder: Path) -> None:
    model = public.load(folder / "out" / "tags.dnn")
    assert isinstance(model, public.Model)
    assert model.inputs == {"word": (60,)}
    assert model.outputs == {"z": (3,)}
    assert model.parameters["embed.E"].shape == (60, 12)
    words, message = sentences(folder), written(folder)
    found = model.predict({"word": words}, outputs=["z"])
    assert np.abs(found.values["z"] - message).max() < 2e-5
    assert found.lengths is not None
    assert found.lengths.tolist() == [len(one) for one in words]
    answers = model.predict({"word": words})
    assert [int(one) for one in answers.predicted] == message.argmax(1).tolist()
    alone = np.concatenate(
        [model.predict({"word": one}, outputs=["z"]).values["z"] for one in words]
    )
    assert np.abs(alone - message).max() < 2e-5
    hot = np.eye(60)[words[0]]
    same = model.predict({"word": [hot]}, outputs=["z"]).values["z"]
    assert np.abs(same - message[: len(hot)]).max() < 2e-5


def test_the_size_of_parameters_does_not_part_sequences(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many samples are answered at once as nodes of samples let, whatever is looked up in."""
    words = sentences(folder)
    model = public.load(folder / "out" / "tags.dnn")
    assert isinstance(model, public.Model)
    steps, largest = sum(map(len, words)), 60
    assert model.parameters["embed.E"].size > largest
    passes = []
    forward = TensorProgram.forward

    def counted(program: TensorProgram) -> None:
        passes.append(program)
        forward(program)

    monkeypatch.setattr(TensorProgram, "forward", counted)
    monkeypatch.setattr(model_evaluation, "_HELD", largest * steps)
    found = model.predict({"word": words}, outputs=["z"])
    assert len(passes) == 1
    assert np.abs(found.values["z"] - written(folder)).max() < 2e-5


def test_graphs_that_are_asked_for_again_are_not_made_again(folder: Path) -> None:
    model = public.load(folder / "out" / "tags.dnn")
    assert isinstance(model, public.Model)
    words = sentences(folder)[:3]
    first = model.predict({"word": words}, outputs=["z"]).values["z"]
    for name in ("z", "embed.E", "z"):
        if name == "z":
            again = model.predict({"word": words}, outputs=[name]).values[name]
            assert again.tobytes() == first.tobytes()
        else:
            with pytest.raises(public.ModelError):
                model.predict({"word": words}, outputs=[name])


def test_the_shell_tells_sequence_and_step(folder: Path) -> None:
    reported = written(folder)
    done = netsharp("predict", "out/tags.dnn", "--data", "test.ctf", cwd=folder)
    assert done.code == 0, done.err
    found = rows(done.out)
    assert [int(one["predicted"]) for one in found] == reported.argmax(1).tolist()
    places = [(one["sequence"], int(one["step"])) for one in found]
    lengths = [len(one) for one in sentences(folder)]
    assert places == [(str(n), step) for n, long in enumerate(lengths) for step in range(long)]
    named = ("--output", "z", "--output", "out.csv")
    done = netsharp("predict", "out/tags.dnn", "--data", "test.ctf", *named, cwd=folder)
    assert done.code == 0, done.err
    found = rows((folder / "out.csv").read_text())
    values = [[float(one[f"z_{at}"]) for at in range(3)] for one in found]
    assert np.abs(np.array(values) - reported).max() < 2e-5


def test_what_a_sequence_has_once_is_in_one_row(folder: Path) -> None:
    done = netsharp("predict", "out/kinds.dnn", "--data", "test.ctf", cwd=folder)
    assert done.code == 0, done.err
    assert [one["step"] for one in rows(done.out)] == ["0"] * len(sentences(folder))
    model = public.load(folder / "out" / "kinds.dnn")
    words = sentences(folder)
    once = [np.zeros(1, int)] * len(words)
    found = model.predict({"word": words, "kind": once})
    assert len(found) == len(words)


@pytest.mark.parametrize("command", [("tagging", "tags"), ("sorting", "kinds")])
def test_criteria_are_those_of_the_action_test(command: tuple[str, str], folder: Path) -> None:
    name = {"tagging": "tagged", "sorting": "sorted"}[command[0]]
    _, scored = run(folder, f"command={name}")
    end = scored.events[-1]
    words = ("evaluate", f"out/{command[1]}.dnn", "--data", "test.ctf")
    done = netsharp(*words, "--format", "json", cwd=folder)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["samples"] == end["samples"]
    assert found["criteria"]["ce"] == pytest.approx(end["loss"], rel=1e-6)
    assert found["criteria"]["errs"] == pytest.approx(end["evaluation"]["errs"], rel=1e-6)
    done = netsharp(*words, cwd=folder)
    line = next(one for one in scored.lines if one.startswith("Final Results"))
    assert done.out.split(";")[0] == line.split(";")[0]


def test_archives_and_tables_say_the_same(folder: Path) -> None:
    words, message = sentences(folder), written(folder)
    lengths = np.array([len(one) for one in words])
    np.savez(folder / "words.npz", word=np.concatenate(words), lengths=lengths)
    head = ",".join(["sequence", *(f"w{at}" for at in range(60))])
    lines = [
        ",".join([f"s{number}", *map(str, np.eye(60, dtype=int)[word])])
        for number, one in enumerate(words[:20])
        for word in one
    ]
    (folder / "words.csv").write_text("\n".join([head, *lines]) + "\n")
    for name in ("words.npz", "words.csv"):
        done = netsharp("predict", "out/tags.dnn", "--data", name, "--output", "z", cwd=folder)
        assert done.code == 0, done.err
        found = rows(done.out)
        values = [[float(one[f"z_{at}"]) for at in range(3)] for one in found]
        assert np.abs(np.array(values) - message[: len(values)]).max() < 2e-5
        assert len(found) in (len(message), len(lines))
    assert found[0]["sequence"] == "s0"


def test_classes_have_the_names_of_a_file(folder: Path) -> None:
    (folder / "tags.txt").write_text("noun\nverb\nrest\n")
    flags = ("--data", "test.ctf", "--classes", "tags.txt", "--rows", "7")
    done = netsharp("predict", "out/tags.dnn", *flags, cwd=folder)
    assert done.code == 0, done.err
    found = rows(done.out)
    assert len(found) == 7
    assert {one["predicted"] for one in found} <= {"noun", "verb", "rest"}
    assert "probability_verb" in found[0]
    (folder / "tags.txt").write_text("noun\nverb\n")
    done = netsharp("predict", "out/tags.dnn", *flags, cwd=folder)
    assert done.code == 2
    assert "3 classes; 2 names" in done.err


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (("--output", "zz"), "no node is called 'zz'"),
        (("--output", "ce"), "sum over samples"),
        (("--stream", "word=wrod"), "no stream 'wrod'"),
        (("--stream", "wrod=tag"), "Did you mean 'word'"),
        (("--stream", "word"), "INPUT=STREAM"),
        (("--keep", "tag"), "--keep"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(
    flags: tuple[str, ...], word: str, folder: Path
) -> None:
    done = netsharp("predict", "out/tags.dnn", "--data", "test.ctf", *flags, cwd=folder)
    assert done.code == 2
    assert word in done.err
    assert "Traceback" not in done.err
    assert not done.out


def test_streams_are_called_as_the_file_calls_them(folder: Path) -> None:
    text = (folder / "test.ctf").read_text().replace("|word", "|S0").replace("|tag", "|S2")
    (folder / "renamed.ctf").write_text(text)
    named = ("--stream", "word=S0", "--stream", "tag=S2")
    output = [
        netsharp("evaluate", "out/tags.dnn", "--data", *data, cwd=folder).out
        for data in (["test.ctf"], ["renamed.ctf", *named])
    ]
    assert output[0] == output[1]
    assert "Final Results" in output[0]


@pytest.mark.skipif(not SLU.exists(), reason="the published models are not here")
def test_a_published_tagger_says_what_is_recorded() -> None:
    model = public.load(SLU)
    words = np.array([178, 770, 429, 444, 272, 851, 789, 564, 654, 601, 179])
    found = model.predict({"query": words})
    wanted = [128, 128, 128, 128, 48, 128, 78, 125, 128, 26, 128]
    assert [int(one) for one in found.predicted] == wanted
    z = model.predict({"query": words}, outputs=["z"]).values["z"]
    assert np.abs(z[4, [0, 48, 128]] - [0.4314146, 25.40861, -0.834043]).max() < 3e-5
    last = [-3.469237, 0.970907, -1.308161, -1.449348, -5.579846, 1.389093]
    assert np.abs(z[-1, :6] - last).max() < 3e-5


def test_arrays_that_do_not_fit_are_named(folder: Path) -> None:
    model = public.load(folder / "out" / "tags.dnn")
    for given, word in (
        ({"wrod": [1]}, "input 'word'"),
        ({"word": np.array([60])}, "index 60"),
        ({"word": np.zeros((3, 7))}, "samples of"),
        ({"word": np.array(["a"])}, "samples of"),
    ):
        with pytest.raises(ValueError, match=word):
            model.predict(given)
    with pytest.raises(ValueError, match="goes through sequences"):
        model.predict(np.zeros((2, 60)))


def test_a_file_of_many_streams_is_refused_in_a_short_sentence(folder: Path) -> None:
    streams = " ".join(f"|stream{number} 1:1" for number in range(3000))
    (folder / "many.ctf").write_text(f"0 {streams}\n")
    answer = netsharp("predict", "out/tags.dnn", "--data", "many.ctf", cwd=folder)
    assert answer.code == 2
    assert "no stream 'word' in its first lines" in answer.err
    assert len(answer.err) < 300
