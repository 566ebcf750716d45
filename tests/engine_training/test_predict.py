"""Prediction and evaluation: columns found by name or place, bits that depend on the row alone."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from netsharp_engine.data import DataError, ReadOptions
from netsharp_engine.model import evaluate, evaluate_table, predict_stream
from netsharp_engine.train import load_data, prepare, read_settings, train
from tests.engine_training.small_networks import build
from tests.engine_training.tables import blobs

FAST = {"epochs": 15, "batch_size": 8, "learning_rate": 0.5, "momentum": 0.9}


def colours(rows=200, seed=0):
    """A CSV whose class follows from size and colour; some ids, some unused columns."""
    random = np.random.default_rng(seed)
    lines = ["id,size,colour,note,kind"]
    for number in range(rows):
        size = random.uniform(0, 10)
        colour = ("red", "green", "blue")[int(random.integers(3))]
        kind = "big" if size + 3 * (colour == "red") > 6 else "small"
        lines.append(f'n{number},{size:.4f},{colour},"a, b",{kind}')
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("colours")
    (path / "train.csv").write_text(colours())
    (path / "test.csv").write_text(colours(seed=1))
    return path


@pytest.fixture(scope="module")
def model(folder):
    run_file = {
        "data": {
            "train": "train.csv",
            "label": "kind",
            "categorical": ["colour"],
            "exclude": ["id", "note"],
        },
        "train": FAST,
    }
    settings = read_settings(run_file, {}, directory=str(folder))
    data = load_data(settings)
    net = "6|sigmoid|softmax|2"
    assert data.context() == {
        "features": 5,
        "hidden_nodes": 100,
        "task": "binary",
        "host": "studio",
    }
    return train(build(net, data.context()), data, settings, specification=net).model


def together(parts):
    parts = list(parts)
    predicted = [name for part in parts for name in part.predicted]
    kept = tuple(
        [cell for part in parts for cell in part.kept[column]]
        for column in range(len(parts[0].kept))
    )
    return predicted, np.concatenate([part.probabilities for part in parts]), kept


def test_one_answer_per_row_in_order_with_kept_columns(model, folder):
    predicted, probabilities, kept = together(
        predict_stream(model, str(folder / "test.csv"), keep=("id", "note"))
    )
    assert kept == ([f"n{number}" for number in range(200)], ["a, b"] * 200)
    assert probabilities.shape == (200, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    assert predicted == [model.classes[code] for code in probabilities.argmax(axis=1)]
    report = evaluate(model, str(folder / "test.csv"))
    assert report.metrics["accuracy"] > 0.9
    assert report.metrics["accuracy"] > report.baseline["accuracy"]
    assert report.rows == np.sum(report.confusion) == 200


def test_labels_are_not_needed_and_order_and_extra_columns_do_not_matter(model, folder, tmp_path):
    rows = (folder / "test.csv").read_text().splitlines()[1:]
    cells = [row.split(",") for row in rows]
    path = tmp_path / "new.csv"
    lines = ["extra,colour,size", *(f"x,{row[2]},{row[1]}" for row in cells)]
    path.write_text("\n".join(lines))
    whole = together(predict_stream(model, str(folder / "test.csv")))
    other = together(predict_stream(model, str(path)))
    assert whole[0] == other[0]
    np.testing.assert_array_equal(whole[1], other[1])


def test_columns_without_names_go_by_position(model, folder, tmp_path):
    rows = (folder / "test.csv").read_text().splitlines()[1:]
    whole = together(predict_stream(model, str(folder / "test.csv")))
    same_width = tmp_path / "a.csv"
    same_width.write_text("\n".join(rows))
    features = tmp_path / "b.csv"
    features.write_text("\n".join(",".join(row.split(",")[1:3]) for row in rows))
    for path in (same_width, features):
        found = together(predict_stream(model, str(path)))
        np.testing.assert_array_equal(found[1], whole[1])
    three = tmp_path / "c.csv"
    three.write_text("1,2,3\n4,5,6\n")
    with pytest.raises(
        DataError, match="has 3 columns; the model was trained on 2 feature columns"
    ):
        predict_stream(model, str(three))


def test_faults_of_new_data(model, tmp_path):
    path = tmp_path / "new.csv"
    cases = [
        ("size,color\n1,red\n", "no column 'colour', which the model was trained on. Did you mean"),
        ("size,colour\n1,red\nbig,red\n", "line 3, column 'size': 'big' is not a number"),
        ("size,colour\n1,red\n,red\n", "line 3, column 'size': the value is missing"),
    ]
    for content, reported in cases:
        path.write_text(content)
        with pytest.raises(DataError, match=reported):
            list(predict_stream(model, str(path)))
    path.write_text("size,colour,kind\n1,red,smal\n")
    with pytest.raises(
        DataError,
        match=r"line 2, column 'kind': the class 'smal' does not occur .* data\. Did you mean",
    ):
        evaluate(model, str(path))
    path.write_text("size,colour,kin\n1,red,small\n")
    with pytest.raises(DataError, match=r"no label column 'kind'\. Did you mean 'kin'"):
        evaluate(model, str(path))
    with pytest.raises(DataError, match="has no kept column 'ident'"):
        predict_stream(model, str(path), keep=("ident",))


def test_a_header_without_rows_is_an_error(model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("size,colour,kind\n")
    with pytest.raises(DataError, match=r"new\.csv has no rows below its header"):
        list(predict_stream(model, str(path)))
    with pytest.raises(DataError, match=r"new\.csv has no rows below its header"):
        evaluate(model, str(path))


def test_an_unknown_level_is_answered(model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("size,colour\n9,violet\n0.5,\n")
    predicted, probabilities, _ = together(predict_stream(model, str(path)))
    assert predicted == ["big", "small"]
    assert np.isfinite(probabilities).all()


@pytest.mark.parametrize(
    "net", ["6|sigmoid|softmax|3", "|sigmoid|sigmoid|3", "40,30|rlinear|softmax|3"]
)
def test_a_row_has_the_same_bits_however_rows_are_grouped(net):
    settings = read_settings({}, FAST)
    data = prepare(blobs(), settings)
    model = train(build(net, data.context()), data, settings, specification=net).model
    rows = blobs(rows=333, seed=2).numbers
    whole = model.compute(rows)
    for size in (1, 2, 7, 63, 64, 65, 200):
        parts = [model.compute(rows[start : start + size]) for start in range(0, 333, size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(model.compute(rows[::-1])[::-1], whole)
    np.testing.assert_array_equal(
        model.compute(np.repeat(rows[:1], 130, axis=0)), whole[:1].repeat(130, 0)
    )


def test_tables_and_files_are_evaluated_alike(model, folder):
    from netsharp_engine.data import read_table

    table = read_table(str(folder / "test.csv"), model.read_options())
    by_table = evaluate_table(model, table)
    by_file = evaluate(model, str(folder / "test.csv"))
    assert by_table.to_json() == by_file.to_json()


def test_evaluation_reports_what_training_reported():
    settings = read_settings({}, FAST)
    table = blobs()
    data = prepare(table, settings)
    result = train(build("4|tanh|softmax|3", data.context()), data, settings, specification="")
    report = evaluate_table(result.model, table, "training")
    assert report.to_json() == result.report.to_json()


@pytest.mark.costly
def test_prediction_streams_at_constant_memory(model, tmp_path):
    peaks = []
    for copies in (1, 5):
        path = tmp_path / f"{copies}.csv"
        path.write_text("size,colour\n" + "1.25,red\n3.5,blue\n" * 30_000 * copies)
        tracemalloc.start()
        rows = sum(len(part) for part in predict_stream(model, str(path)))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert rows == 60_000 * copies
    assert peaks[1] < 1.2 * peaks[0]


def test_sample_weights_count_in_evaluation(model, tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("size,colour,kind,w\n9,red,big,3\n9,red,small,1\n")
    options = ReadOptions(label="kind", weight="w", categorical=("colour",))
    report = evaluate(model, str(path), options)
    assert report.metrics["accuracy"] == 0.75
