"""`netsharp.run`: a configuration of CNTK from Python, its figures and its faults."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import netsharp
from tests.cntk.training.experiments import made, run


def test_a_file_and_its_text_are_run_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path)
    monkeypatch.chdir(folder)
    _, follower = run(folder)
    epochs = [one["loss"] for one in follower.epochs]
    by_file = netsharp.run("net.cntk", set={"modelPath": "a.dnn"})
    by_path = netsharp.run(Path("net.cntk"), ["learn", "score"], set={"modelPath": "b.dnn"})
    by_text = netsharp.run((folder / "net.cntk").read_text(), set={"modelPath": "c.dnn"})
    for done in (by_file, by_path, by_text):
        assert list(done) == ["learn", "score"]
        assert [one["loss"] for one in done["learn"].history] == epochs
        assert done["learn"].samples == 600
        (tested,) = done["score"].history
        assert done["score"].metrics == tested["evaluation"]
    bytes_of = {(folder / f"{name}.dnn").read_bytes() for name in "abc"}
    assert bytes_of == {(folder / "out" / "net.dnn").read_bytes()}
    assert netsharp.run("net.cntk", "learn") == {}
    (folder / "more.cntk").write_text("learn = [SGD = [maxEpochs = 2]]\n")
    layered = netsharp.run("net.cntk+more.cntk", "learn", set={"modelPath": "d.dnn"})
    assert layered["learn"].loss == epochs[1]


def test_a_device_computes_and_changes_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three commands two have figures; the third, which writes, has a device alone."""
    monkeypatch.chdir(made(tmp_path))
    plain = netsharp.run("net.cntk", set={"modelPath": "a.dnn"})
    done = netsharp.run("net.cntk", set={"modelPath": "b.dnn"}, device="cpu")
    assert list(done) == list(plain) == ["learn", "score"]
    assert [one.loss for one in done.values()] == [one.loss for one in plain.values()]
    for given, error, said in (
        ({"device": "rocm"}, netsharp.TrainingError, "There is no device 'rocm'"),
        ({"device": "cpu", "precision": "bf16"}, netsharp.TrainingError, "no products of bf16"),
        ({"precision": "float64"}, ValueError, "precision is 'float64'"),
    ):
        with pytest.raises(error, match=said):
            netsharp.run("net.cntk", **given)


@pytest.mark.parametrize(
    ("items", "error", "word"),
    [
        ({"precision": "half"}, netsharp.SpecificationError, "precision"),
        ({"makeMode": "maybe"}, netsharp.SpecificationError, "makeMode"),
        ({"modelPath": "../x.dnn"}, netsharp.TrainingError, "outside"),
        ({"learn": '[reader=[file="../x.ctf"]]'}, netsharp.TrainingError, "outside"),
        ({"learn": "[SGD=[learningRatesPerSample=1e38]]"}, netsharp.TrainingError, "not a number"),
    ],
)
def test_faults_are_exceptions(
    items: dict[str, str],
    error: type[Exception],
    word: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = made(tmp_path / "run")
    monkeypatch.chdir(folder)
    with pytest.raises(error, match=word):
        netsharp.run("net.cntk", "learn", set=items)


def test_what_was_done_all_the_same_is_on_the_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path)
    monkeypatch.chdir(folder)
    whole = netsharp.run("net.cntk", set={"modelPath": "a.dnn"})
    with pytest.raises(netsharp.TrainingError, match="nodeUnitTest") as raised:
        netsharp.run("net.cntk", set={"tell": "[nodeUnitTest=true]", "modelPath": "b.dnn"})
    found = raised.value.results
    assert {name: one.loss for name, one in found.items()} == {
        name: one.loss for name, one in whole.items()
    }
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.results["score"]) == (str(raised.value), found["score"])
    text = (folder / "data.ctf").read_text()
    (folder / "broken.ctf").write_text(text.replace("|labels", "|labels x", 1))
    broken = {"score": '[reader=[file="broken.ctf"]]', "modelPath": "c.dnn"}
    with pytest.raises(netsharp.DataError) as faulty:
        netsharp.run("net.cntk", set=broken)
    assert all(one.command == name for name, one in faulty.value.results.items())
    with pytest.raises(netsharp.SpecificationError) as wrong:
        netsharp.run("net.cntk", set={"precision": "half"})
    assert wrong.value.results == {}
    assert pickle.loads(pickle.dumps(wrong.value)).results == {}


def test_what_is_no_configuration_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.nn").write_text("input A [2]; output B [2] from A all;")
    (tmp_path / "net.ndl").write_text("run = ndl\n")
    for name in ("net.nn", "net.ndl"):
        with pytest.raises(ValueError, match="is not a configuration"):
            netsharp.run(name)
    with pytest.raises(FileNotFoundError):
        netsharp.run("none.cntk")


def test_data_that_are_not_there_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path)
    monkeypatch.chdir(folder)
    (folder / "data.ctf").unlink()
    with pytest.raises(ValueError, match=r"data\.ctf"):
        netsharp.run("net.cntk", "learn")


def test_wrong_data_are_a_data_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path)
    monkeypatch.chdir(folder)
    with (folder / "data.ctf").open("a") as stream:
        stream.write("|features 1 a |labels 1 0 0\n")
    with pytest.raises(netsharp.DataError, match="line 151"):
        netsharp.run("net.cntk", "learn")
