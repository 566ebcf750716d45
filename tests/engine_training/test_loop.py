"""The loop: it learns, stops, restores, weighs, reports, never continues with broken numbers."""

from __future__ import annotations

import json
import math
import os
import signal
import time

import numpy as np
import pytest

from netsharp_engine.data import Table
from netsharp_engine.train import (
    RunLog,
    TrainingError,
    catch_interrupts,
    prepare,
    read_settings,
    train,
)
from tests.engine_training.small_networks import layered
from tests.engine_training.tables import BY_HAND, blobs, line

FAST = {**BY_HAND, "batch_size": 16, "learning_rate": 0.5, "momentum": 0.9, "epochs": 30}


def fit(table, graph=None, *, outputs=3, on_event=None, should_stop=None, **flags):
    settings = read_settings({}, {**FAST, **flags})
    assert not isinstance(settings, list), settings
    data = prepare(table, settings)
    graph = graph or layered(data.features, outputs)
    return train(graph, data, settings, on_event=on_event, should_stop=should_stop)


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"nesterov": True},
        {"momentum": None, "optimizer": "adam", "learning_rate": 0.02},
        {"momentum": None, "optimizer": "adadelta", "learning_rate": None, "epochs": 60},
        {"dtype": "float64"},
        {"max_norm": 6, "weight_decay": 1e-4},
        {"normalizer": "gaussian"},
        {"normalizer": "binning"},
        {"batch_size": 1, "momentum": 0, "learning_rate": 0.1},
        {"batch_size": 10_000, "learning_rate": 2, "epochs": 120},
        {"shuffle": False},
        {"threads": 2},
    ],
)
def test_it_learns(flags):
    result = fit(blobs(), **flags)
    assert result.status == "finished"
    assert result.message == ""
    assert result.report.metrics["accuracy"] > 0.95
    assert result.report.baseline["accuracy"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("classes", "outputs", "last"),
    [(2, 1, "sigmoid"), (2, 2, "softmax"), (2, 2, "sigmoid"), (3, 3, "sigmoid"), (3, 3, "linear")],
)
def test_every_kind_of_output_learns_classes(classes, outputs, last):
    rate = 0.1 if last == "linear" else 0.5
    graph = layered(3, outputs, last=last)
    result = fit(blobs(classes=classes), graph, learning_rate=rate, epochs=60)
    assert result.report.metrics["accuracy"] > 0.95
    probabilities = result.model.predict(blobs(classes=classes).numbers).probabilities
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    assert ("auc" in result.report.metrics) == (classes == 2)


def test_it_learns_numbers():
    graph = layered(2, 1, last="linear", function="tanh")
    result = fit(line(), graph, task="regression", learning_rate=0.05, epochs=100)
    assert result.report.metrics["r2"] > 0.95
    assert result.report.baseline["r2"] == pytest.approx(0, abs=1e-9)
    assert result.report.loss == pytest.approx(result.report.metrics["rmse"] ** 2, rel=1e-4)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    first, second = fit(blobs(), seed=5), fit(blobs(), seed=5)
    other = fit(blobs(), seed=6)
    for name, values in first.model.tensors.items():
        np.testing.assert_array_equal(values, second.model.tensors[name])
        assert not np.array_equal(values, other.model.tensors[name])
    strip = [{k: v for k, v in event.items() if k != "seconds"} for event in first.history]
    again = [{k: v for k, v in event.items() if k != "seconds"} for event in second.history]
    assert strip == again


def test_preparing_and_training_leave_a_table_as_it_was():
    table = blobs()
    before = table.numbers.copy()
    fit(table)
    np.testing.assert_array_equal(table.numbers, before)


def test_early_stopping_restores_the_best_epoch():
    table = blobs(rows=60)
    random = np.random.default_rng(3)
    table.class_codes[:] = random.permutation(table.class_codes)  # nothing to learn: it overfits
    result = fit(table, validation=0.4, patience=4, epochs=500, learning_rate=1)
    assert result.status == "early"
    losses = [event["validation"]["loss"] for event in result.history]
    best = int(np.argmin(losses))
    assert len(losses) == best + 1 + 4
    assert result.report.part == "validation"
    assert result.report.loss == losses[best]
    assert f"The weights are those of epoch {best + 1}." in result.message


def test_without_patience_the_last_epoch_stays():
    result = fit(blobs(), validation=0.25, epochs=5)
    assert result.report.loss == result.history[-1]["validation"]["loss"]
    assert len(result.history) == 5


def test_a_validation_column_and_a_fraction_hold_rows_out():
    table = blobs()
    table.held_out = np.arange(table.rows) >= 100
    settings = read_settings({}, FAST)
    data = prepare(table, settings)
    assert (data.train.rows, data.validation.rows) == (100, 20)
    normalised = data.train.matrix[data.train.index]
    assert normalised.min() == 0
    assert normalised.max() == pytest.approx(1)


def test_sample_weight_zero_is_the_same_as_no_row():
    weights = np.ones(120)
    weights[100:] = 0
    table = blobs(weights=weights)
    table.class_codes[100:] = 0
    report = fit(table, shuffle=False, batch_size=20).report
    short = blobs()
    short = Table.from_arrays(
        short.numbers[:100], [short.classes[c] for c in short.class_codes[:100]]
    )
    settings = read_settings({}, {**FAST, "shuffle": False, "batch_size": 20})
    data = prepare(short, settings)
    alone = train(layered(3, 3), data, settings).report
    assert report.metrics["accuracy"] == pytest.approx(alone.metrics["accuracy"], abs=0.03)
    assert np.sum(report.confusion) == 100


@pytest.mark.costly
@pytest.mark.parametrize("batch_size", [1, 16])
def test_class_weights_move_the_boundary(batch_size):
    random = np.random.default_rng(0)
    x = np.concatenate([random.normal(0, 1, (180, 1)), random.normal(1, 1, (20, 1))])
    table = Table.from_arrays(x, ["often"] * 180 + ["rare"] * 20)
    flags = {"batch_size": batch_size, "learning_rate": 0.005 * batch_size, "momentum": 0}
    flags["epochs"] = 100
    plain = fit(table, layered(1, 2, hidden=()), **flags)
    even = fit(table, layered(1, 2, hidden=()), class_weights="balanced", **flags)
    named = fit(table, layered(1, 2, hidden=()), class_weights="rare=9", **flags)
    recall = [run.report.confusion[1][1] / 20 for run in (plain, even, named)]
    assert recall[0] < 0.3
    assert min(recall[1:]) > 0.6
    assert np.sum(even.report.confusion) == 200  # figures count rows, not class weights


def test_a_row_of_weight_two_is_the_same_as_two_rows():
    """One step per epoch over all rows: the gradients must agree."""
    table = blobs(rows=30)
    table.weights = np.where(np.arange(30) < 10, 2.0, 1.0)
    twice = np.concatenate([np.arange(30), np.arange(10)])
    names = [table.classes[code] for code in table.class_codes]
    double = Table.from_arrays(table.numbers[twice], [names[row] for row in twice])
    flags = {"batch_size": 1000, "epochs": 5, "dtype": "float64", "normalizer": "none"}
    weighted, doubled = fit(table, **flags), fit(double, **flags)
    for name, values in weighted.model.tensors.items():
        np.testing.assert_allclose(values, doubled.model.tensors[name], rtol=1e-9, atol=1e-12)
    assert weighted.report.metrics == pytest.approx(doubled.report.metrics)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_loss_that_is_not_finite_stops_at_that_step(dtype):
    table = line()
    graph = layered(2, 1, hidden=(), last="linear")
    seen = []
    flags = {"task": "regression", "momentum": 0, "epochs": 1000, "dtype": dtype}
    result = fit(table, graph, learning_rate=30, on_event=seen.append, **flags)
    assert result.status == "diverged"
    assert all(np.isfinite(values).all() for values in result.model.tensors.values())
    last = seen[-1]
    assert last["event"] == "end"
    step = last["step"] + 1
    assert f"stopped at step {step:,}: the loss in layer 'Out" in result.message
    assert "(learning rate 30)" in result.message
    assert "Try learning_rate = 3." in result.message
    assert result.model.state is None


def test_a_weight_that_is_not_finite_stops_before_it_is_kept():
    table = Table.from_arrays(np.ones((4, 1)), [1e30, 2e30, 1e30, 2e30], task="regression")
    graph = layered(1, 1, hidden=(), last="linear")
    flags = {"task": "regression", "momentum": 0, "dtype": "float64", "normalizer": "none"}
    result = fit(table, graph, learning_rate=1e290, **flags)
    assert result.status == "diverged"
    assert "the weight in layer 'Out' is no longer a finite number" in result.message
    assert "The label reaches 2e+30" in result.message
    assert all(np.abs(values).max() <= 0.05 for values in result.model.tensors.values())


def test_large_features_are_the_proposed_cause():
    table = blobs()
    table.numbers *= 1e20
    graph = layered(3, 3, function="square", last="linear")
    result = fit(table, graph, normalizer="none")
    assert result.status == "diverged"
    assert 'not normalised: try normalizer = "minmax"' in result.message


def test_a_stop_takes_effect_after_the_present_step():
    asked = iter([False] * 20 + [True])
    result = fit(blobs(), should_stop=lambda: next(asked))
    assert result.status == "interrupted"
    assert result.model.state.step == 21
    assert result.message == "Stopped after step 21 in epoch 3."


@pytest.mark.parametrize(
    ("name", "code", "end"),
    [("SIGINT", 130, KeyboardInterrupt), ("SIGTERM", 143, SystemExit), ("SIGHUP", 129, None)],
)
def test_a_signal_to_end_is_a_request_first(monkeypatch, name, code, end):
    """A second one ends at once, unless it comes with the first or from a terminal that closes."""
    number = getattr(signal, name)
    before = signal.getsignal(number)
    with catch_interrupts() as stop_request:
        assert not stop_request()
        for _ in range(2):
            os.kill(os.getpid(), number)
        assert stop_request()
        assert stop_request.exit_code == code
        later = time.monotonic() + 1
        monkeypatch.setattr(time, "monotonic", lambda: later)
        if end is None:
            os.kill(os.getpid(), number)
        else:
            with pytest.raises(end):
                os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with catch_interrupts() as stop_request:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop_request()
    finally:
        signal.signal(signal.SIGHUP, before)


CONTRACT = {"event", "epoch", "step", "samples", "loss", "metrics", "validation", "rate", "seconds"}


def test_the_run_log_is_json_lines_of_the_contract(tmp_path):
    path = tmp_path / "run.jsonl"
    with RunLog(str(path)) as log:
        result = fit(blobs(), on_event=log.write, validation=0.25, epochs=3)
    events = [json.loads(text) for text in path.read_text().splitlines()]
    assert all(set(event) <= CONTRACT for event in events)
    kept = [event["event"] for event in events if event["event"] != "step"]
    assert kept == ["start", "epoch", "epoch", "epoch", "end"]
    assert events[0]["metrics"] == {"epochs": 3, "steps": 6, "rows": 90, "parameters": 59}
    assert [event["epoch"] for event in events if event["event"] == "epoch"] == [1, 2, 3]
    assert events[-1]["samples"] == 270
    assert events[-1]["step"] == 18
    assert events[-1]["validation"]["loss"] == result.report.loss


def test_a_run_log_that_cannot_be_written_is_a_sentence(tmp_path):
    with pytest.raises(TrainingError, match=r"The run log .* cannot be written: "):
        RunLog(str(tmp_path / "nowhere" / "run.jsonl"))


def test_the_training_loss_of_an_epoch_is_the_mean_over_rows():
    table = line(rows=10)
    graph = layered(2, 1, hidden=(), last="linear")
    flags = {"task": "regression", "learning_rate": 1e-12, "momentum": 0, "epochs": 1}
    result = fit(table, graph, batch_size=4, dtype="float64", **flags)
    assert result.history[0]["loss"] == pytest.approx(result.reports[0].loss, rel=1e-6)
    assert result.history[0]["metrics"]["rmse"] == pytest.approx(
        math.sqrt(result.reports[0].loss), rel=1e-6
    )


MISFITS = [
    (blobs(), layered(4, 3), {}, "The data has 3 features after encoding; the input layers take 4"),
    (blobs(), layered(3, 2), {}, "The labels have 3 classes, so 3 outputs are needed"),
    (blobs(classes=2), layered(3, 3), {}, "so 2 \\(or 1\\) outputs are needed"),
    (blobs(), layered(3, 3, last="tanh"), {"loss": "cross-entropy"}, "needs a softmax or sigmoid"),
    (line(), layered(2, 2), {"task": "regression"}, "Regression predicts one number"),
    (Table.from_arrays([[1.0], [2.0]], ["a", "a"]), layered(1, 1), {}, "the same class 'a'"),
    (
        Table.from_arrays(np.zeros((40, 1)), np.arange(40) / 8),
        layered(1, 40),
        {},
        'The label has 40 different numbers in 40 rows. To predict numbers set task = "regression"',
    ),
    (
        Table.from_arrays(np.zeros((10_001, 1)), [f"c{number}" for number in range(10_001)]),
        layered(1, 2),
        {},
        "The label has 10,001 classes in 10,001 rows; .* at most 10,000 classes",
    ),
    (blobs(), layered(3, 3), {"task": "binary"}, "The task is binary, but the labels have 3"),
    (blobs(), layered(3, 3), {"class_weights": "gren=2"}, "'gren' that no row has. Did you mean"),
]


@pytest.mark.parametrize(("table", "graph", "flags", "reported"), MISFITS)
def test_networks_data_and_settings_that_do_not_fit(table, graph, flags, reported):
    with pytest.raises(TrainingError, match=reported):
        fit(table, graph, **flags)
