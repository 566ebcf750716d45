"""Models of CNTK answer on a requested device as on the processor, and only there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_engine.data.answers import SampleQuery
from netsharp_engine.model import Model, ModelError, evaluate
from netsharp_engine.tensor_backend import TensorDraft
from tests.cntk.training.experiments import made, run
from tests.conftest import SEED

pytest.importorskip("torch", reason="PyTorch is in the dependency group 'peers'")

SENTENCES = Path(__file__).parents[3] / "examples" / "cntk" / "sentences"
TORCH = "torch:cpu"
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = made(tmp_path_factory.mktemp("rows"))
    answer, _ = run(place, "command=learn", "learn=[SGD=[maxEpochs=1]]", "precision=double")
    assert answer.code == 0, answer.complaints
    return place


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sentences") / "run"
    shutil.copytree(SENTENCES, place, ignore=shutil.ignore_patterns("out"))
    few = [f"{name}=[SGD=[maxEpochs=1]]" for name in ("tagging", "sorting")]
    answer, _ = run(place, "command=tagging:sorting", *few, "precision=double")
    assert answer.code == 0, answer.complaints
    return place


def on_torch(path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    """A model on torch; a program of the processor's engine fails from now on."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the processor's engine computes")

    model = netsharp.load(path)
    said = model.compute_on(TORCH)
    assert said.startswith(f"{TORCH} computes (PyTorch ")
    assert said.endswith("): requested.")
    monkeypatch.setattr(TensorDraft, "program", refuse)
    return model


def judged(model: Model, file: Path) -> list[float]:
    assert model.network is not None
    found = model.network.criteria_on(SampleQuery([str(file)], model.read_options()))
    return [*found.means.values(), found.samples]


def test_rows_by_arrays_by_names_and_by_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, file = folder / "out" / "net.dnn", folder / "data.ctf"
    rows = np.random.default_rng(SEED).normal(size=(150, 2))
    outputs = ("H1", "PosteriorProb")

    def told(model: Model) -> list[Any]:
        named = model.predict({"features": rows}, outputs=outputs).values
        report = evaluate(model, str(file)).to_json()
        figures = [report["loss"], report["metrics"]["accuracy"]]
        chances = model.predict(rows).probabilities
        return [chances, *named.values(), judged(model, file), np.array(figures)]

    ours = told(netsharp.load(path))
    for first, second in zip(ours, told(on_torch(path, monkeypatch)), strict=True):
        np.testing.assert_allclose(second, first, **CLOSE)


@pytest.mark.parametrize("name", ["tags", "kinds"])
def test_sequences(name: str, sentences: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways through sentences of unequal length, and one answer for each."""
    path, file = sentences / "out" / f"{name}.dnn", sentences / "test.ctf"
    random = np.random.default_rng(SEED)
    given = {"word": [random.integers(60, size=size) for size in (5, 1, 3)]}
    if name == "kinds":
        given["kind"] = [np.zeros(1, int)] * 3

    def told(model: Model) -> list[Any]:
        found = model.predict(given)
        return [found.probabilities, found.lengths, judged(model, file)]

    ours = told(netsharp.load(path))
    for first, second in zip(ours, told(on_torch(path, monkeypatch)), strict=True):
        np.testing.assert_allclose(second, first, **CLOSE)


def test_a_device_that_is_not_there_changes_nothing(folder: Path) -> None:
    model, rows = netsharp.load(folder / "out" / "net.dnn"), np.ones((1, 2))
    before = model.predict({"features": rows}, outputs=["H1"]).values["H1"]
    assert model.compute_on("cpu") == "cpu computes (numpy): requested."
    for name, said in (
        ("rocm", "device rocm: There is no device 'rocm'. Name auto, cpu, torch"),
        ("torch:mps", "device torch:mps: PyTorch .* finds no mps here. It needs a Mac"),
    ):
        with pytest.raises(ModelError, match=said):
            model.compute_on(name)
    after = model.predict({"features": rows}, outputs=["H1"]).values["H1"]
    np.testing.assert_array_equal(before, after)
