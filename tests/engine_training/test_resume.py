"""A resumed run equals, bit by bit, one that was never interrupted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netsharp_compile.training import training_table
from netsharp_engine.model import load_model, save_model
from netsharp_engine.train import (
    TrainingError,
    load_data,
    prepare,
    read_settings,
    resume,
    settings_to_resume,
    train,
    train_further,
)
from tests.engine_training.small_networks import build
from tests.engine_training.tables import blobs

NET = "8|sigmoid|softmax|3"
RULES = {
    "sgd": {"learning_rate": 0.5},
    "momentum": {"learning_rate": 0.5, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3},
    "reduction": {
        "learning_rate": 0.5,
        "rate_reduction_ratio": 0.7,
        "rate_reduction_error_ratio": 0.2,
    },
    "adadelta": {"optimizer": "adadelta"},
    "adam": {"optimizer": "adam", "learning_rate": 0.01},
    "float64": {"learning_rate": 0.5, "dtype": "float64", "max_norm": 2},
    "patience": {"learning_rate": 0.5, "momentum": 0.9, "patience": 3},
    "dropout": {"dropout": "H1=0.5,In=0.2", "optimizer": "adam", "learning_rate": 0.05},
    "step": {"learning_rate": 0.5, "schedule": "step", "schedule_epochs": 2, "clip_norm": 0.1},
    "cosine": {"learning_rate": 0.5, "schedule": "cosine", "clip_value": 0.01, "dropout": 0.3},
    "quantized": {"quantize": "uint4", "optimizer": "adam", "patience": 3, "dropout": 0.1},
    "threads": {"threads": 3, "dropout": 0.2, "optimizer": "adam"},
    "plateau": {"learning_rate": 0.5, "schedule": "plateau", "schedule_epochs": 1, "dropout": 0.8},
}


def settings_of(**flags):
    found = read_settings(
        {}, {"optimizer": "sgd", "batch_size": 16, "epochs": 8, "validation": 0.2, **flags}
    )
    assert not isinstance(found, list), found
    return found


def stop_after(steps):
    asked = iter([False] * (steps - 1))
    return lambda: next(asked, True)


def through_file(model, tmp_path):
    path = str(tmp_path / "m.safetensors")
    save_model(model, path)
    return load_model(path, build)


def assert_equal(one, other):
    assert one.status == other.status
    for name, values in one.model.tensors.items():
        np.testing.assert_array_equal(values, other.model.tensors[name])
    without = [
        [{key: value for key, value in event.items() if key != "seconds"} for event in run.history]
        for run in (one, other)
    ]
    assert without[0] == without[1]
    assert [report.to_json() for report in one.reports] == [
        report.to_json() for report in other.reports
    ]
    states = [{**run.model.state.to_json(), "seconds": 0.0} for run in (one, other)]
    assert states[0] == states[1]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("steps", [1, 9, 12, 31])
def test_interrupted_and_resumed(tmp_path, rule, steps):
    """Six steps an epoch: inside the first, inside the second, at a boundary, later."""
    settings = settings_of(**RULES[rule])
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    given = {"specification": NET, "tables": training_table}
    whole = train(graph, data, settings, **given)
    part = train(graph, data, settings, **given, should_stop=stop_after(steps))
    assert part.status == "interrupted"
    stored = through_file(part.model, tmp_path)
    again = resume(stored, prepare(blobs(), settings), tables=training_table)
    assert_equal(whole, again)


def test_interrupted_many_times(tmp_path):
    settings = settings_of(**RULES["momentum"])
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    whole = train(graph, data, settings, specification=NET)
    result = train(graph, data, settings, specification=NET, should_stop=stop_after(5))
    while result.status == "interrupted":
        model = through_file(result.model, tmp_path)
        result = resume(model, data, should_stop=stop_after(5))
    assert_equal(whole, result)


def test_a_finished_run_continues_to_more_epochs(tmp_path):
    longer = settings_of(**RULES["adam"], epochs=8)
    shorter = settings_of(**RULES["adam"], epochs=3)
    data = prepare(blobs(), longer)
    graph = build(NET, data.context())
    whole = train(graph, data, longer, specification=NET)
    short = train(graph, data, shorter, specification=NET)
    assert len(short.history) == 3
    again = resume(through_file(short.model, tmp_path), data, longer)
    assert_equal(whole, again)


def test_what_a_resumed_run_refuses(tmp_path):
    settings = settings_of(**RULES["sgd"])
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    result = train(graph, data, settings, specification=NET, should_stop=stop_after(5))
    other_data = prepare(blobs(seed=1), settings)
    with pytest.raises(TrainingError, match="The data is not that of the stored run"):
        resume(result.model, other_data)
    with pytest.raises(TrainingError, match=r"learning_rate was 0\.5 and is now 0\.25"):
        resume(result.model, data, settings_of(learning_rate=0.25))
    whole = train(graph, data, settings, specification=NET)
    with pytest.raises(TrainingError, match=r"finished 8 epochs; 8 are asked for\. Give more"):
        resume(whole.model, data)
    with pytest.raises(TrainingError, match=r"finished 8 epochs; 5 are asked for\. Give more"):
        resume(whole.model, data, settings_of(epochs=5))
    path = str(tmp_path / "m.safetensors")
    save_model(result.model, path, state=False)
    with pytest.raises(TrainingError, match="holds no state of a run to resume"):
        resume(load_model(path, build), data)


def test_checkpoints_resume_like_interruptions(tmp_path):
    """One after each of the six steps of eight epochs, the last before the figures are measured."""
    settings = settings_of(**RULES["patience"], checkpoint=1e-9)
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    kept = []
    whole = train(graph, data, settings, specification=NET, on_checkpoint=kept.append)
    assert len(kept) == 6 * len(whole.history) + 1
    for model in (kept[0], kept[4], kept[5], kept[6], kept[29]):
        assert_equal(whole, resume(through_file(model, tmp_path), data))


def test_without_checkpoints_only_the_end_is_kept():
    settings = settings_of(**RULES["sgd"], checkpoint=0)
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    kept = []
    for should_stop, finished in ((None, True), (stop_after(5), False)):
        train(graph, data, settings, on_checkpoint=kept.append, should_stop=should_stop)
        assert kept.pop().state.finished is finished
        assert not kept


def test_a_stop_while_validation_rows_are_measured_leaves_the_epoch_open(tmp_path):
    settings = settings_of(**RULES["patience"])
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    whole = train(graph, data, settings, specification=NET)
    #: Asked after each of six steps, then among the validation rows.
    part = train(graph, data, settings, specification=NET, should_stop=stop_after(7))
    assert (part.status, part.model.state.position, part.history) == ("interrupted", 6, [])
    assert part.message == "Stopped after step 6 in epoch 1."
    assert_equal(whole, resume(through_file(part.model, tmp_path), data))


def test_a_run_of_files_resumes_from_its_run_file(tmp_path):
    table = blobs()
    rows = [
        ",".join(map(repr, row)) + "," + table.classes[code]
        for row, code in zip(table.numbers.tolist(), table.class_codes.tolist(), strict=True)
    ]
    (tmp_path / "train.csv").write_text("a,b,c,kind\n" + "\n".join(rows[:90]))
    (tmp_path / "held.csv").write_text("a,b,c,kind\n" + "\n".join(rows[90:]))
    run_file = {
        "data": {"train": "train.csv", "label": "kind"},
        "train": {"epochs": 4, "batch_size": 16, "validation": "held.csv", "patience": 50},
    }
    flags = {"normalizer": "gaussian", "learning_rate": "0.5"}
    first = read_settings(run_file, flags, directory=str(tmp_path))
    data = load_data(first)
    assert data.validation.rows == 30
    part = train(
        build(NET, data.context()), data, first, specification=NET, should_stop=stop_after(9)
    )
    model = through_file(part.model, tmp_path)
    again = read_settings(run_file, {"epochs": 6}, directory=str(tmp_path))
    settings = settings_to_resume(model.settings, again)
    assert (settings.normalizer, settings.epochs) == ("gaussian", 6)
    result = resume(model, load_data(settings), settings)
    longer = read_settings(run_file, {**flags, "epochs": 6}, directory=str(tmp_path))
    whole = train(build(NET, data.context()), load_data(longer), longer, specification=NET)
    assert_equal(whole, result)


def test_training_further_on_other_rows(tmp_path):
    settings = settings_of(learning_rate=0.5, momentum=0.9, epochs=2, validation=None)
    first = blobs(rows=60)
    data = prepare(first, settings)
    model = train(build(NET, data.context()), data, settings, specification=NET).model
    other = blobs(rows=40, classes=2, seed=4)
    for calls in range(1, 4):
        more = prepare(other, settings, fitted=model)
        assert more.classes == ("blue", "green", "red")
        result = train_further(through_file(model, tmp_path), more, epochs=20)
        model = result.model
        assert model.state.epoch == 2 + 20 * calls
    assert result.report.metrics["accuracy"] > 0.9
    broken_off = train_further(model, more, should_stop=stop_after(2)).model
    assert broken_off.state.seen > 0
    again, straight = (
        train_further(replace(broken_off, state=state), more)
        for state in (broken_off.state, replace(broken_off.state, seen=0, right=0, loss_sum=0.0))
    )
    assert again.history[-1]["metrics"] == straight.history[-1]["metrics"]
    lean = str(tmp_path / "lean.safetensors")
    save_model(model, lean, state=False)
    assert train_further(load_model(lean, build), more).model.state.epoch == 1


@pytest.mark.parametrize("rule", ["momentum", "adadelta", "adam", "dropout"])
@pytest.mark.parametrize("given", ["precision", "dtype"])
@pytest.mark.parametrize("before", ["float32", "float64"])
def test_numbers_may_change_their_type(before, given, rule, tmp_path):
    """As for a device that has one of them alone: the course is that of a run in either."""
    after = {"float32": "float64", "float64": "float32"}[before]
    settings = settings_of(**RULES[rule], precision=before)
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    whole = train(graph, data, settings, specification=NET)
    part = train(graph, data, settings, specification=NET, should_stop=stop_after(20))
    model = through_file(part.model, tmp_path)
    chosen = settings_to_resume(model.settings, read_settings({}, {given: after}))
    assert chosen.dtype == after
    assert chosen.precision in (None, after)
    rest = resume(model, prepare(blobs(), chosen), chosen)
    assert {values.dtype for values in rest.model.tensors.values()} == {np.dtype(after)}
    for name, values in whole.model.tensors.items():
        np.testing.assert_allclose(rest.model.tensors[name], values, rtol=1e-4, atol=1e-5)
    again = through_file(rest.model, tmp_path)
    assert again.settings.dtype == after
    assert again.state.data == prepare(blobs(), chosen).fingerprint()
    np.testing.assert_array_equal(
        again.compute(np.ones((2, 3))), rest.model.compute(np.ones((2, 3)))
    )


def test_products_of_bf16_go_with_numbers_that_have_them():
    stored = settings_of(precision="bf16")
    chosen = settings_to_resume(stored, read_settings({}, {"dtype": "float64"}))
    assert (chosen.dtype, chosen.precision) == ("float64", None)
    stored = settings_of(dtype="float64")
    chosen = settings_to_resume(stored, read_settings({}, {"precision": "bf16"}))
    assert (chosen.dtype, chosen.precision) == ("float32", "bf16")
