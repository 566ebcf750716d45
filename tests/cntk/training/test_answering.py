"""Models of CNTK's that answer rows: `netsharp.load`, `predict` and `evaluate` of either format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import netsharp as public
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import made, run


def trained(folder: Path, *flags: str) -> Path:
    folder = made(folder)
    assert netsharp("run", "net.cntk", *flags, cwd=folder).code == 0
    return folder


def rows_of(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    lines = (folder / "data.ctf").read_text().splitlines()
    cells = [line.replace("|labels", "").split("|features") for line in lines]
    labels = np.array([[float(one) for one in left.split()] for left, _ in cells])
    return np.array([[float(one) for one in right.split()] for _, right in cells]), labels


@pytest.mark.parametrize("flags", [(), ("--model-format", "safetensors"), ("precision=double",)])
def test_predictions_are_what_write_writes(flags: tuple[str, ...], tmp_path: Path) -> None:
    folder = trained(tmp_path, *flags)
    features, labels = rows_of(folder)
    reported = np.loadtxt(folder / "out" / "told.PosteriorProb")
    model = public.load(folder / "out" / "net.dnn")
    assert isinstance(model, public.Model)
    found = model.predict(features)
    assert found.probabilities is not None
    assert np.abs(found.probabilities - reported).max() < 2e-6
    assert [int(one) for one in found.predicted] == reported.argmax(1).tolist()
    assert public.predict(folder / "out" / "net.dnn", features).tolist() == found.predicted
    assert {node.name for node in model.graph.inputs} == {"features"}
    assert model.tensors["W0"].shape == (2, 8)
    done = netsharp("predict", "out/net.dnn", "--data", "data.ctf", cwd=folder)
    assert done.code == 0, done.err
    written = list(csv.DictReader(io.StringIO(done.out)))
    assert [one["predicted"] for one in written] == found.predicted
    assert float(written[3]["probability_2"]) == pytest.approx(reported[3, 2], abs=2e-6)
    scored = netsharp("run", "net.cntk", "command=score", "--events", cwd=folder)
    reported_score = json.loads(scored.out.splitlines()[-1])
    done = netsharp("evaluate", "out/net.dnn", "--data", "data.ctf", "--format", "json", cwd=folder)
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["rows"] == len(features)
    right = (reported.argmax(1) == labels.argmax(1)).mean()
    assert report["metrics"]["accuracy"] == pytest.approx(right)
    entropy = reported_score["loss"]
    assert report["loss"] == pytest.approx(entropy, rel=1e-5)


def test_arrays_of_other_shapes_are_rows_or_refused(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    features, _ = rows_of(folder)
    model = public.load(folder / "out" / "net.dnn")
    wanted = model.predict(features).probabilities
    for given in (features.reshape(-1, 1, 1, 2), features.reshape(-1, 2, 1), features.tolist()):
        np.testing.assert_array_equal(model.predict(given).probabilities, wanted)
    columns = np.zeros((3, 5))
    for refused in (columns, features.T, features[0], 1.0, [], np.zeros((2, 2, 2, 2))):
        with pytest.raises(public.DataError, match=r"shape \(.*\); rows of 2 numbers are needed\."):
            model.predict(refused)


def test_the_files_of_a_checkpoint_are_named_as_such(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    for name in ("net.dnn.ckp", "net.dnn.ckp.safetensors"):
        for words in (("predict", "--data", "data.ctf"), ("evaluate", "--data", "data.ctf")):
            done = netsharp(words[0], f"out/{name}", *words[1:], cwd=folder)
            assert done.code == 2
            assert "checkpoint, from which a training resumes, not a model" in done.err
            assert "damaged" not in done.err
    done = netsharp("describe", "out/net.dnn.ckp.safetensors", cwd=folder)
    assert done.code == 2
    assert done.err.endswith("Name the model beside it, out/net.dnn.\n")
    with pytest.raises(public.ModelError, match="not a model"):
        public.load(folder / "out" / "net.dnn.ckp.safetensors")


def test_a_table_is_answered_by_position(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    features, labels = rows_of(folder)
    table = ["x,y,class"]
    table += [f"{x},{y},{one}" for (x, y), one in zip(features, labels.argmax(1), strict=True)]
    (folder / "rows.csv").write_text("\n".join(table) + "\n")
    done = netsharp("predict", "out/net.dnn", "--data", "rows.csv", "--keep", "class", cwd=folder)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == len(features) + 1
    reported = ("evaluate", "out/net.dnn", "--data", "rows.csv", "--label", "class")
    done = netsharp(*reported, cwd=folder)
    assert done.code == 0, done.err
    assert "accuracy" in done.out
    (folder / "blanks.txt").write_text("".join(f"{x} {y}\n" for x, y in features.tolist()))
    done = netsharp("predict", "out/net.dnn", "--data", "blanks.txt", cwd=folder)
    assert done.code == 2
    assert "has 1 column;" in done.err
    assert "--delimiter" in done.err
    blanks = ("--delimiter", "space")
    done = netsharp("predict", "out/net.dnn", "--data", "blanks.txt", *blanks, cwd=folder)
    assert done.code == 0, done.err


def test_labels_of_a_table_may_be_names(tmp_path: Path) -> None:
    """A model holds numbers of classes alone, so that their names are asked for."""
    folder = trained(tmp_path)
    features, labels = rows_of(folder)
    names, codes = ("low", "middle", "high"), labels.argmax(1)
    for file, of in (("numbers.csv", str), ("names.csv", names.__getitem__)):
        lines = [f"{x},{y},{of(one)}" for (x, y), one in zip(features, codes, strict=True)]
        (folder / file).write_text("\n".join(["x,y,class", *lines]) + "\n")
    (folder / "classes.txt").write_text("\n".join(names) + "\n")
    asked = ("evaluate", "out/net.dnn", "--label", "class", "--format", "json", "--data")
    plain = netsharp(*asked, "numbers.csv", cwd=folder)
    done = netsharp(*asked, "names.csv", cwd=folder)
    assert done.code == 2
    assert f"'{names[codes[0]]}' is none of the model's classes" in done.err
    assert "numbers from 0 to 2" in done.err
    assert "--classes FILE" in done.err
    done = netsharp(*asked, "names.csv", "--classes", "classes.txt", cwd=folder)
    assert done.code == 0, done.err
    found, output = (json.loads(one.out) for one in (done, plain))
    assert found["loss"] == output["loss"]
    assert found["metrics"]["accuracy"] == output["metrics"]["accuracy"]


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (lambda data: data[: len(data) // 2], "truncated"),
        (lambda data: data[:6] + b"x" + data[7:], "byte"),
        (lambda data: b"", "not a model file"),
    ],
)
def test_a_damaged_model_is_a_sentence(damage: object, word: str, tmp_path: Path) -> None:
    folder = trained(tmp_path)
    path = folder / "out" / "net.dnn"
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    for command in ("predict", "evaluate"):
        done = netsharp(command, "out/net.dnn", "--data", "data.ctf", cwd=folder)
        assert done.code == 2
        assert "net.dnn" in done.err
        assert word in done.err
    with pytest.raises(public.ModelError, match=word):
        public.load(path)


def test_the_weights_of_a_model_without_a_specification(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    done = netsharp("weights", "out/net.dnn", cwd=folder)
    assert done.code == 0
    assert "W0  [2, 8]" in done.out
    done = netsharp("weights", "out/net.dnn", "--spec", cwd=folder)
    assert done.code == 2
    assert "has no specification" in done.err
    with pytest.raises(public.ModelError, match="only the run that trains it"):
        public.save(public.load(folder / "out" / "net.dnn"), folder / "again.safetensors")


def test_one_number_is_a_regression(tmp_path: Path) -> None:
    folder = made(tmp_path)
    (folder / "data.ctf").write_text("".join(f"|labels {x} |features {x} 0\n" for x in range(30)))
    text = (folder / "net.cntk").read_text().replace("2:8:3", "2:8:1").replace("dim = 3", "dim = 1")
    text = text.replace("needPrior = true", "needPrior = false").replace("PosteriorProb", "HLast")
    for name in ("CrossEntropyWithSoftmax", "ClassificationError"):
        text = text.replace(f'"{name}"', '"SquareError"')
    (folder / "net.cntk").write_text(text)
    answer, _ = run(folder, "command=learn")
    assert answer.code == 0, (answer.complaints, answer.reports)
    done = netsharp("evaluate", "out/net.dnn", "--data", "data.ctf", "--format", "json", cwd=folder)
    assert done.code == 0, done.err
    loss = json.loads(done.out)["loss"]
    _, scored = run(folder, "command=score")
    assert loss == pytest.approx(scored.events[-1]["loss"], rel=1e-5)


_OVER_TIME = """
command = learn
modelPath = "time.dnn"
learn = {
    action = train
    BrainScriptNetworkBuilder = {
        x = Input {2} ; y = Input {1}
        z = LinearLayer {1} (RecurrentLSTMLayer {3} (x))
        loss = SquareError (y, z)
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (loss) ; outputNodes = (z)
    }
    SGD = { maxEpochs = 1 ; minibatchSize = 10 ; learningRatesPerSample = 0.01 }
    reader = { file = "time.ctf" ; input = {
        x = { dim = 2 ; format = dense } ; y = { dim = 1 ; format = dense } } }
}
"""


@pytest.mark.parametrize("form", ["original", "safetensors"])
def test_a_model_over_time_is_listed_described_and_answers(form: str, tmp_path: Path) -> None:
    (tmp_path / "time.cntk").write_text(_OVER_TIME)
    lines = [f"{number // 3} |x {number} 1 |y {number % 2}\n" for number in range(30)]
    (tmp_path / "time.ctf").write_text("".join(lines))
    done = netsharp("run", "time.cntk", "--model-format", form, cwd=tmp_path)
    assert done.code == 0, done.err
    done = netsharp("weights", "time.dnn", cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 5
    done = netsharp("describe", "time.dnn", "--format", "json", cwd=tmp_path)
    assert done.code == 0, done.err
    built = netsharp("describe", "time.cntk", "--format", "json", cwd=tmp_path)
    output, wanted = (json.loads(one.out) for one in (done, built))
    for key in ("parameters", "multiply_adds", "memory_bytes"):
        assert output[key] == wanted[key]
    shapes = [{node["name"]: node["shape"] for node in one["nodes"]} for one in (output, wanted)]
    assert shapes[0] == shapes[1]
    done = netsharp("describe", "time.dnn", cwd=tmp_path)
    assert "loop 1: " in done.out
    done = netsharp("predict", "time.dnn", "--data", "time.ctf", cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 31


def test_a_damaged_model_is_not_described(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    path = folder / "out" / "net.dnn"
    path.write_bytes(path.read_bytes()[:200])
    for command in ("describe", "weights"):
        done = netsharp(command, "out/net.dnn", cwd=folder)
        assert done.code == 2
        assert "truncated" in done.err


def test_what_a_node_remembers_is_listed_beside_its_weights(tmp_path: Path) -> None:
    text = _OVER_TIME.replace(
        "LinearLayer {1} (RecurrentLSTMLayer {3} (x))",
        "LinearLayer {1} (BatchNormalizationLayer {} (x))",
    )
    (tmp_path / "time.cntk").write_text(text)
    (tmp_path / "time.ctf").write_text("".join(f"|x {one} 1 |y {one}\n" for one in range(30)))
    assert netsharp("run", "time.cntk", cwd=tmp_path).code == 0
    done = netsharp("weights", "time.dnn", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "[1]  30 .. 30" in done.out
