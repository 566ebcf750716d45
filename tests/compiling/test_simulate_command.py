"""`netsharp simulate`: a manifest alone answers rows, and is compared with the model it came of."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.evaluating.comparing import AnswersApart
from netsharp_compile.refusal import CompileError
from netsharp_compile.simulating import SimulatedNetwork
from tests.cli.command_line import netsharp as command
from tests.compiling.networks import DEEP, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
MIXED = "a,b,c,label\n" + "".join(
    f"{n % 7},{['red', 'green', 'blue'][n % 3]},{'' if n % 11 == 4 else n * n % 5},"
    f"{'yes' if (n % 7) + (n % 3) > 4 else 'no'}\n"
    for n in range(120)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a compiled network of a table with categories and gaps, and its model."""
    made = tmp_path_factory.mktemp("simulate")
    (made / "rows.csv").write_text(MIXED)
    (made / "net.nn").write_text(ONE.format("tanh", "softmax") + "\n")
    train = ("--train", "rows.csv", "--label", "label", "--categorical", "b")
    answer = command("run", "net.nn", *train, "--missing", "indicator", cwd=made)
    assert answer.code == 0, answer.err
    assert command("compile", "net.safetensors", "--output", "out", cwd=made).code == 0
    return made


def test_answers_stand_as_those_of_predict(folder: Path) -> None:
    """The columns and classes are the same, the numbers those that integers give."""
    given = ("--data", "rows.csv", "--keep", "b")
    answer = command("simulate", "out/net.json", *given, cwd=folder)
    assert (answer.code, answer.err) == (0, "")
    wanted = command("predict", "net.safetensors", *given, cwd=folder)
    found, known = (list(csv.DictReader(io.StringIO(one.out))) for one in (answer, wanted))
    assert list(found[0]) == list(known[0])
    assert [row["b"] for row in found] == [row["b"] for row in known]
    same = [a["predicted"] == b["predicted"] for a, b in zip(found, known, strict=True)]
    assert np.mean(same) >= 0.98
    model = netsharp.load(folder / "net.safetensors")
    names = ("yes", "no")
    chances = np.array([[float(row[f"probability_{name}"]) for name in names] for row in found])
    exact = np.array([[float(row[f"probability_{name}"]) for name in names] for row in known])
    assert 0 < np.abs(chances - exact).max() < 0.05
    assert model.classes == ("no", "yes")


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_a_manifest_answers_without_its_model(task: str, tmp_path: Path) -> None:
    last = "linear" if task == "regression" else "sigmoid"
    model, x = trained(ONE.format("tanh", last), task)
    made = netsharp.compile(model, x)
    made.write(tmp_path / "out")
    simulated = SimulatedNetwork.read(tmp_path / "out" / "net.json")
    answers = simulated.form.objective.answers(simulated.compute(x.astype(np.float32)))
    wanted = made.simulate(x)
    if task == "regression":
        np.testing.assert_allclose(answers.predicted, wanted.predicted, rtol=1e-6)
        return
    assert list(answers.predicted) == list(wanted.predicted)
    np.testing.assert_allclose(answers.probabilities, wanted.probabilities, rtol=1e-6)
    text = (tmp_path / "out" / "net.json").read_text()
    for value in model.tensors["H/X/weights"].ravel().tolist():
        assert float(value).hex() not in text
        assert repr(value) not in text


def test_output_files_and_lines_of_json(folder: Path) -> None:
    given = ("simulate", "out/net.json", "--data", "rows.csv")
    lines = command(*given, "--format", "json", cwd=folder).out.splitlines()
    assert len(lines) == 120
    assert list(json.loads(lines[0])) == ["predicted", "probability_no", "probability_yes"]
    answer = command(*given, "--output", "answers.jsonl", cwd=folder)
    assert (answer.code, answer.out) == (0, "")
    assert (folder / "answers.jsonl").read_text().splitlines() == lines


def test_a_comparison_says_how_far_answers_are_apart(folder: Path) -> None:
    given = ("simulate", "out/net.json", "--data", "rows.csv", "--compare", "net.safetensors")
    answer = command(*given, cwd=folder)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("on 120 rows: ")
    output = json.loads(command(*given, "--format", "json", cwd=folder).out)
    assert (output["version"], output["rows"], output["within"], output["allowed"]) == (
        1,
        120,
        True,
        1.0,
    )
    model, simulated = (
        netsharp.load(folder / "net.safetensors"),
        SimulatedNetwork.read(folder / "out" / "net.json"),
    )
    (part,) = simulated.form.rows([str(folder / "rows.csv")], simulated.form.read_options())
    apart = simulated.compute(part.features) - model.compute(part.features).astype(np.float64)
    wanted = model.compute(part.features).astype(np.float64)
    assert output["largest"] == pytest.approx(np.abs(apart).max())
    assert output["error"] == pytest.approx(np.sqrt(np.square(apart).mean()) / wanted.std())


def test_answers_too_far_apart_are_an_exit_code(folder: Path, tmp_path: Path) -> None:
    manifest = json.loads((folder / "out" / "net.json").read_text())
    manifest["layers"][-1]["biases"].reverse()
    (tmp_path / "other.json").write_text(json.dumps(manifest))
    given = ("--data", "rows.csv", "--compare", "net.safetensors")
    answer = command("simulate", str(tmp_path / "other.json"), *given, cwd=folder)
    assert answer.code == 1
    assert "above the 1 % that --max-apart allows" in answer.err
    assert answer.out.startswith("on 120 rows: ")
    loose = command(
        "simulate", str(tmp_path / "other.json"), *given, "--max-apart", "100", cwd=folder
    )
    assert loose.code == 0


def test_one_row_of_another_class_is_allowed() -> None:
    assert AnswersApart(10, 1, 0.5, 1.0).is_within(1)
    assert not AnswersApart(10, 2, 0.0, 0.0).is_within(1)
    assert AnswersApart(1000, 10, 0.0, 0.0).is_within(1)
    assert not AnswersApart(1000, 11, 0.0, 0.0).is_within(1)
    assert not AnswersApart(10, None, 0.03, 0.0).is_within(2)


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("manifest", "rest", "message"),
    [
        ("none.json", (), "none.json: cannot be read: No such file"),
        ("rows.csv", (), "rows.csv: This is not the manifest of a compiled network."),
        ("new.json", (), "new.json: The manifest has version 2, and 1 is read here"),
        ("half.json", (), "half.json: The manifest is damaged (KeyError: 'layers')"),
        ("out/net.json", ("--data", "other.csv"), "other.csv has no column 'a'"),
        ("out/net.json", ("--data", "empty.csv"), "empty.csv"),
        ("out/net.json", ("--compare", "rows.csv"), "rows.csv"),
        ("out/net.json", ("--compare", "else.safetensors"), "is of another model"),
        ("out/net.json", ("--compare", "net.safetensors", "--keep", "b"), "row by row"),
        ("out/net.json", ("--max-apart", "-1"), "must be a number of at least 0, found '-1'"),
        ("out/net.json", ("--max-apart", "3"), "is about a comparison"),
        ("out/net.json", ("--output", "no/where.csv"), "no/where.csv"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    manifest: str, rest: tuple[str, ...], message: str, folder: Path
) -> None:
    found = json.loads((folder / "out" / "net.json").read_text())
    (folder / "new.json").write_text(json.dumps({**found, "netsharp_manifest": 2}))
    found.pop("layers")
    (folder / "half.json").write_text(json.dumps(found))
    (folder / "other.csv").write_text("x,y\n1,2\n")
    (folder / "empty.csv").write_text("a,b,c,label\n")
    netsharp.save(trained(DEEP)[0], folder / "else.safetensors")
    data = () if "--data" in rest else ("--data", "rows.csv")
    answer = command("simulate", manifest, *data, *rest, cwd=folder)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert "Traceback" not in answer.err


def _damaged(value: Any) -> Iterator[Any]:
    """The same value with one place in it that is something else, for many places."""
    yield from (None, -1, 1 << 70, "x", [], {}, 1e300)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {name: one for name, one in value.items() if name != key}
            yield from ({**value, key: one} for one in _damaged(inner))
    elif isinstance(value, list) and value:
        yield value[1:]
        yield from ([one, *value[1:]] for one in _damaged(value[0]))


@pytest.mark.costly
@pytest.mark.filterwarnings("error")
def test_a_damaged_manifest_is_a_sentence_or_answers(folder: Path, tmp_path: Path) -> None:
    whole = json.loads((folder / "out" / "net.json").read_text())
    refused = tried = 0
    for found in _damaged(whole):
        (tmp_path / "net.json").write_text(json.dumps(found))
        tried += 1
        try:
            simulated = SimulatedNetwork.read(tmp_path / "net.json")
        except CompileError as error:
            refused += str(error).startswith(str(tmp_path / "net.json"))
            continue
        features = len(simulated.network.features.offset)
        assert simulated.compute(np.ones((2, features))).shape == (2, 2)
    assert tried > 500
    assert refused > tried / 2
