"""Images for a model file, read with the transforms of a configuration's reader."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from netsharp_lsp.__main__ import main
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import run
from tests.cntk.training.test_image_runs import COMPOSED, PLAIN, drawn
from tests.peers import peer

TELL = """tell = { action = "write" ; outputPath = "out/told" ; outputNodeNames = z
    reader = { READER } }
"""
SCORE = ("--reader", "net.cntk", "command=score")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model of images, what `write` says of them, and a list in a folder of its own."""
    folder = drawn(tmp_path_factory.mktemp("images"), kind="random")
    values = {"KIND": "center", "MORE": "", "THREADS": "1", "RANDOM": "none"}
    reader = PLAIN
    for key, value in values.items():
        reader = reader.replace(key, value)
    with (folder / "net.cntk").open("a") as stream:
        stream.write(TELL.replace("READER", reader))
    answer, follower = run(folder, "command=learn:score:tell", "learn=[SGD=[maxEpochs=2]]")
    assert answer.code == 0, (answer.complaints, answer.reports)
    (end,) = (one for one in follower.events if one["event"] == "end")
    (folder / "end.json").write_text(json.dumps(end))
    lines = (folder / "map.txt").read_text().splitlines()
    (folder / "few").mkdir()
    (folder / "few/some.txt").write_text(
        "".join(f"{one.replace('...', str(folder))}\n" for one in lines[:7])
    )
    return folder


def test_images_are_predicted_and_evaluated_as_the_run_does(folder: Path) -> None:
    """The nodes' values are those of the action write, the criteria those of the action test."""
    at = ("out/net.dnn", "--data", "map.txt", *SCORE)
    done = netsharp("predict", *at, "--output", "z", cwd=folder)
    assert done.code == 0, done.err
    found = np.loadtxt(done.out.splitlines()[1:], delimiter=",")
    np.testing.assert_allclose(found, np.loadtxt(folder / "out/told.z"), rtol=1e-5, atol=2e-6)
    done = netsharp("evaluate", *at, "--format", "json", cwd=folder)
    assert done.code == 0, done.err
    output, end = json.loads(done.out), json.loads((folder / "end.json").read_text())
    assert output["samples"] == 45
    assert output["criteria"]["ce"] == pytest.approx(end["loss"], rel=1e-6)
    assert output["criteria"]["errs"] == pytest.approx(end["evaluation"]["errs"])


def test_another_list_is_read_and_names_of_streams_may_differ(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (folder / "net.cntk").read_text()
    (folder / "other.cntk").write_text(text.replace("features = { width", "pixels = { width"))
    lists = ("out/net.dnn", "--data", "few/some.txt", "--output", "z")

    def predicted(*items: str) -> str:
        assert main(["predict", *items]) == 0
        return capsys.readouterr().out

    monkeypatch.chdir(folder)
    plain = predicted(*lists, *SCORE)
    found = np.loadtxt(plain.splitlines()[1:], delimiter=",")
    np.testing.assert_allclose(found, np.loadtxt(folder / "out/told.z")[:7], rtol=1e-5, atol=2e-6)
    other = ("--reader", "other.cntk", "command=score")
    assert predicted(*lists, *other, "--stream", "features=pixels") == plain
    assert main(["predict", *lists, *other]) == 2
    lost = capsys.readouterr().err
    assert "no stream 'features'" in lost
    assert "--stream features=STREAM" in lost
    rows = predicted(*lists[:3], *SCORE).splitlines()
    assert (len(rows), rows[0]) == (8, "predicted,probability_0,probability_1,probability_2")


@pytest.mark.parametrize("to", ["onnx", "torch"])
def test_an_export_is_compared_on_images(
    to: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    peer("torch" if to == "torch" else "onnxruntime")
    target = str(tmp_path / f"net.{'py' if to == 'torch' else to}")
    verify = ("--verify", "map.txt", *SCORE)
    monkeypatch.chdir(folder)
    assert main(["export", "out/net.dnn", "--to", to, target, *verify]) == 0
    assert "on map.txt: at most" in capsys.readouterr().out
    assert main(["export", "out/net.dnn", "--to", to, target, *SCORE]) == 2
    assert "--verify" in capsys.readouterr().err


def test_deserializers_bring_images_too(folder: Path, tmp_path: Path) -> None:
    made = drawn(tmp_path / "composed", COMPOSED, random="false")
    at = (str(folder / "out/net.dnn"), "--data", "map.txt", "--output", "z")
    done = netsharp("predict", *at, *SCORE, cwd=made)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 46


#: Values after --reader, and words of the sentence.
REFUSED = {
    "a run that is not there": (("none.cntk",), "none.cntk"),
    "what is drawn": (
        ("net.cntk", "command=learn"),
        "net.cntk, line 14: the reader of 'learn' changes",
    ),
    "another size": (("net.cntk", "command=score", "score=[reader=[features=[width=9]]]"), "216"),
    "no images": (("text.cntk",), "no command here has a reader of images"),
    "no command": (("net.cntk", "command=lost"), "no command here has a reader of images"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_reads_no_images_is_a_sentence(
    name: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    items, words = REFUSED[name]
    (folder / "text.cntk").write_text(
        'command = a\na = { action = "test" ; modelPath = "out/net.dnn" ; reader = {\n'
        '    file = "labels.ctf" ; input = { labels = { dim = 3 ; format = "dense" } } } }\n'
    )
    monkeypatch.chdir(folder)
    code = main(["predict", "out/net.dnn", "--data", "map.txt", "--reader", *items])
    output = capsys.readouterr()
    assert (code, output.out) == (2, "")
    assert words in output.err, output.err
