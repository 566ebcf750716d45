"""A table as people have them: names, categories, weights, a column that marks validation."""

from __future__ import annotations

import csv
import json
import math
import random
from pathlib import Path

import pytest

from tests.cli.command_line import netsharp
from tests.e2e.test_faults import one_sentence
from tests.e2e.test_run_and_predict import rows_of

NETWORK = """\
input Person auto;
hidden H [6] tanh from Person all;
output Answer [1] sigmoid from H all;
"""
RUN_FILE = """\
[data]
train = "people.csv"
label = "answer"
weight = "weight"
categorical = ["city"]
exclude = ["id"]

[train]
task = "binary"
epochs = 30
batch_size = 8
optimizer = "sgd"
learning_rate = 0.3
validation = "part"
normalizer = "gaussian"
"""
CITIES = ("Oslo", "São Paulo", 'the "old" town', "a, b")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of people and a model trained on it by its run file."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "people.nn").write_text(NETWORK)
    (folder / "people.toml").write_text(RUN_FILE)
    write_people(folder / "people.csv", CITIES)
    answer = netsharp("run", "people.nn", cwd=folder)
    assert answer.code == 0, answer.err
    assert "AUC" in answer.out
    assert "validation: 60 rows" in answer.out
    return folder


def write_people(path: Path, cities: tuple[str, ...]) -> None:
    chance = random.Random(4)
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(("id", "age", "city", "income", "weight", "part", "answer"))
        for number in range(300):
            age, income = chance.gauss(40, 12), chance.gauss(5, 2)
            city = chance.choice(cities)
            score = age / 10 + income + 2 * (city == "Oslo")
            part = "validation" if number % 5 == 0 else "train"
            answer = "yes" if score > 9.5 else "no"
            figures = (f"{age:.2f}", city, f"{income:.3f}", f"{chance.uniform(0.5, 1.5):.2f}")
            rows.writerow((number, *figures, part, answer))


def test_it_learns_and_says_how_sure_it_is(people: Path) -> None:
    command = ("predict", "people.safetensors", "--data", "people.csv", "--keep", "id,city,answer")
    rows = rows_of(netsharp(*command, cwd=people).out)
    assert list(rows[0])[3:] == ["predicted", "probability_no", "probability_yes"]
    assert {row["city"] for row in rows} == set(CITIES)
    assert sum(row["predicted"] == row["answer"] for row in rows) > 0.85 * len(rows)
    for row in rows:
        sure = float(row["probability_yes"])
        assert float(row["probability_no"]) == pytest.approx(1 - sure, abs=1e-6)
        assert row["predicted"] == ("yes" if sure > 0.5 else "no")


def test_scores_of_two_classes_are_log_odds(people: Path) -> None:
    command = ("predict", "people.safetensors", "--data", "people.csv", "--names", "rx")
    rows = rows_of(netsharp(*command, cwd=people).out)
    assert list(rows[0]) == ["PredictedLabel", "Score.1", "Probability.1"]
    for row in rows:
        chance = float(row["Probability.1"])
        assert float(row["Score.1"]) == pytest.approx(math.log(chance / (1 - chance)), rel=1e-4)


def test_levels_that_training_did_not_see_are_predicted_all_the_same(people: Path) -> None:
    write_people(people / "elsewhere.csv", ("Bergen", "Rome"))
    command = ("predict", "people.safetensors", "--data", "elsewhere.csv", "--quiet")
    done = netsharp(*command, cwd=people)
    assert (done.code, done.err) == (0, "")
    assert len(rows_of(done.out)) == 300


def test_columns_that_are_missing_are_named_with_the_nearest(people: Path) -> None:
    text = (people / "people.csv").read_text(encoding="utf-8")
    (people / "renamed.csv").write_text(text.replace("income", "incme", 1), encoding="utf-8")
    command = ("predict", "people.safetensors", "--data", "renamed.csv")
    one_sentence(netsharp(*command, cwd=people), "'income'", "'incme'")


def test_evaluate_weights_the_rows(people: Path) -> None:
    command = ("evaluate", "people.safetensors", "--data", "people.csv", "--format", "json")
    report = json.loads(netsharp(*command, cwd=people).out)
    kept = ("--keep", "answer,weight")
    rows = rows_of(
        netsharp("predict", "people.safetensors", "--data", "people.csv", *kept, cwd=people).out
    )
    total = sum(float(row["weight"]) for row in rows)
    right = sum(float(row["weight"]) for row in rows if row["predicted"] == row["answer"])
    assert report["metrics"]["accuracy"] == pytest.approx(right / total)


def test_the_model_knows_how_many_features_the_table_gave(people: Path) -> None:
    """Levels are those of the training rows, which only the run chose."""
    nodes = {}
    for name in ("people.nn", "people.safetensors"):
        described = netsharp("describe", name, "--format", "json", cwd=people)
        nodes[name] = json.loads(described.out)["layers"][0]["nodes"]
    assert nodes == {"people.nn": None, "people.safetensors": 2 + len(CITIES) + 1}
