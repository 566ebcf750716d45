"""Several processes follow the course of one: whatever is uneven, weighted, dropped or measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netsharp_engine.data import Table
from netsharp_engine.distributed.comm import CommError
from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_engine.graph import GraphError
from netsharp_engine.program import Batch
from netsharp_engine.train import feeding, prepare, read_settings, resume, train
from netsharp_engine.train.feeding import Feeder
from tests.distributed.threads import together
from tests.engine_training.small_networks import layered
from tests.engine_training.tables import blobs, line

GRAPH = layered(3, 3, (6,), function="tanh")


def settings_of(**flags):
    given = {"batch_size": 7, "epochs": 3, "dtype": "float64", "seed": 5, **flags}
    found = read_settings({}, given)
    assert not isinstance(found, list), found
    return found


def results(size, table, settings, graph=GRAPH, **more):
    """What each rank returns, and all of them the same; of one, the run of a process alone."""
    data = prepare(table, settings)
    if size == 1:
        return train(graph, data, data.settings, **more)
    found = together(size, lambda ranks: train(graph, data, data.settings, ranks=ranks, **more))
    for other in found[1:]:
        assert other.status == found[0].status
        assert other.history[-1:] == found[0].history[-1:] or seconds_alone_differ(other, found[0])
        for name, values in found[0].model.tensors.items():
            assert np.array_equal(values, other.model.tensors[name]), name
    return found[0]


def seconds_alone_differ(one, other):
    return [without_seconds(each) for each in one.history] == [
        without_seconds(each) for each in other.history
    ]


def without_seconds(event):
    return {key: value for key, value in event.items() if key != "seconds"}


def assert_same_course(one, many, tolerance):
    assert many.status == one.status
    assert [each["step"] for each in many.history] == [each["step"] for each in one.history]
    for mine, theirs in zip(one.history, many.history, strict=True):
        for key in ("loss", "rate", "samples"):
            assert theirs[key] == pytest.approx(mine[key], rel=tolerance, abs=tolerance), key
        for key in ("metrics", "validation"):
            assert theirs.get(key, {}) == pytest.approx(mine.get(key, {}), rel=tolerance), key
    for name, values in one.model.tensors.items():
        np.testing.assert_allclose(many.model.tensors[name], values, rtol=0, atol=10 * tolerance)
    for mine, theirs in zip(one.reports, many.reports, strict=True):
        assert theirs.rows == mine.rows
        assert theirs.metrics == pytest.approx(mine.metrics, rel=tolerance)
        assert theirs.baseline == pytest.approx(mine.baseline, rel=tolerance)


WEIGHTS = np.random.default_rng(3).uniform(0.1, 4, 120)
#: Whole batches without weight, and some rows of others.
HOLES = np.where(np.arange(120) % 3 == 0, 0.0, WEIGHTS)
CASES = {
    "adam": (blobs(), {}),
    "momentum, one row behind the last whole batch": (
        blobs(113),
        {"optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.1},
    ),
    "adadelta, weighted rows": (blobs(weights=WEIGHTS), {"optimizer": "adadelta"}),
    "rows without weight": (blobs(weights=HOLES), {"batch_size": 2, "shuffle": False}),
    "dropout in layers and inputs": (blobs(), {"dropout": {"In": 0.2, "H1": 0.5}}),
    "balanced classes, limits": (
        blobs(100),
        {"class_weights": "balanced", "clip_norm": 0.05, "max_norm": 1.0, "weight_decay": 1e-3},
    ),
    "early stopping, back to the best": (
        blobs(),
        {"validation": 0.3, "patience": 2, "learning_rate": 0.3, "epochs": 12},
    ),
    "a schedule that waits": (
        blobs(),
        {"validation": 0.25, "schedule": "plateau", "schedule_epochs": 1, "epochs": 6},
    ),
    "threads": (blobs(), {"threads": 2}),
    "blocks": (blobs(), {"shuffle": "blocks", "dropout": 0.4}),
    "float32": (blobs(), {"dtype": "float32", "epochs": 4}),
}


@pytest.mark.parametrize("case", CASES)
def test_ranks_follow_the_course_of_one(case):
    table, flags = CASES[case]
    settings = settings_of(**flags)
    tolerance = 1e-5 if settings.dtype == "float32" else 1e-9
    alone = results(1, table, settings)
    for size in (2, 3):
        assert_same_course(alone, results(size, table, settings), tolerance)


def test_numbers_are_predicted_the_same():
    graph = layered(2, 1, (5,), function="tanh", last="linear")
    settings = settings_of(task="regression", validation=0.2)
    alone = results(1, line(500), settings, graph)
    assert_same_course(alone, results(3, line(500), settings, graph), 1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_figures_are_of_all_rows_whoever_measures_them(weighted):
    """Two classes, so that an area is measured of scores; more ranks than blocks of rows."""
    weights = np.random.default_rng(1).uniform(0.5, 2, 300) if weighted else None
    table, graph = blobs(300, classes=2, weights=weights), layered(3, 1, (4,), last="sigmoid")
    settings = settings_of(validation=0.3, epochs=2, batch_size=32)
    alone = results(1, table, settings, graph)
    assert "auc" in alone.reports[0].metrics
    for size in (2, 5):
        many = results(size, table, settings, graph)
        assert_same_course(alone, many, 1e-9)
        for mine, theirs in zip(alone.reports, many.reports, strict=True):
            np.testing.assert_allclose(theirs.confusion, mine.confusion)


def test_of_a_large_file_each_rank_reads_a_part_of_its_own(monkeypatch):
    monkeypatch.setattr(feeding, "BLOCK_BYTES", 240)
    monkeypatch.setattr(feeding, "BLOCKS_TOGETHER", 32)
    settings = settings_of(batch_size=64, shuffle="blocks")
    data = prepare(blobs(8000), settings)
    taken = []
    for rank in range(2):
        feeder = feeder_of(data, Ranks_of(2, rank), batch=64, shuffle="blocks")
        feeder.start_epoch(0)
        batches = [feeder.batch(position).inputs["In"].copy() for position in range(feeder.steps)]
        taken.append({row.tobytes() for batch in batches for row in batch})
    assert len(taken[0] | taken[1]) == 8000
    assert not taken[0] & taken[1]
    halves = [
        {row.tobytes() for row in data.train.matrix[cut]}
        for cut in (slice(4000), slice(4000, None))
    ]
    for own, half in zip(taken, halves, strict=True):
        assert len(own & half) > 0.85 * len(own)


def test_shares_are_by_rows_and_weights():
    """Where shards are uneven, the mean of their means is another number than that of all rows."""
    losses = np.array([1.0, 2.0, 6.0])
    shards = [losses[Ranks_of(2, rank).share] for rank in range(2)]
    assert np.mean([each.mean() for each in shards]) != losses.mean()
    data = prepare(blobs(9), settings_of(batch_size=5, shuffle=False))
    feeders = [feeder_of(data, Ranks_of(2, rank)) for rank in range(2)]
    for position, rows in enumerate((5, 4)):
        batches = [feeder.batch(position) for feeder in feeders]
        shares = [weight_of(batch) / batch.expected for batch in batches]
        assert shares == [-(-rows // 2) / rows, rows // 2 / rows]


class Fixed:
    """A place among ranks that does not communicate."""

    def __init__(self, size, rank):
        self.size, self.rank = size, rank


def Ranks_of(size, rank):  # noqa: N802
    return Ranks(Fixed(size, rank))


def feeder_of(data, ranks, batch=5, shuffle=False):
    graph = GRAPH.with_criteria("cross entropy")
    given = {"shuffle": shuffle, "seed": 0, "ranks": ranks}
    return Feeder(graph, data.train, batch, **given)


def weight_of(batch: Batch) -> float:
    rows = len(next(iter(batch.inputs.values())))
    return float(rows if batch.weights is None else batch.weights.sum())


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 2), (2, 1)])
def test_a_run_of_some_is_resumed_by_others(before, after):
    settings = settings_of(epochs=6, validation=0.2, patience=50, dropout=0.3)
    table = blobs()
    whole = results(1, table, settings)
    half = results(before, table, replace(settings, epochs=3)).model
    half.bind(GRAPH)
    data = prepare(table, settings)
    longer = replace(half.settings, epochs=6, origins={**settings.origins, "epochs": "flag"})

    def goes_on(ranks):
        return resume(half, data, longer, ranks=ranks)

    rest = goes_on(ALONE) if after == 1 else together(after, goes_on)[0]
    assert_same_course(whole, rest, 1e-9)


def test_the_request_of_one_stops_all_after_the_same_step():
    data = prepare(blobs(), settings_of())

    def stopped(ranks):
        asked = iter(range(100))
        wish = (lambda: next(asked) >= 9) if ranks.comm.rank == 1 else (lambda: False)
        return train(GRAPH, data, data.settings, ranks=ranks, should_stop=wish)

    found = together(3, stopped)
    assert {one.status for one in found} == {"interrupted"}
    assert len({one.model.state.step for one in found}) == 1
    for name, values in found[0].model.tensors.items():
        assert np.array_equal(values, found[2].model.tensors[name])


def test_the_answer_of_the_first_to_an_epoch_is_that_of_all():
    data = prepare(blobs(), settings_of())

    def ended(ranks):
        return train(
            GRAPH,
            data,
            data.settings,
            ranks=ranks,
            on_event=lambda event: ranks.leads and event["epoch"] == 2,
        )

    assert {(one.status, one.history[-1]["epoch"]) for one in together(2, ended)} == {
        ("interrupted", 2)
    }


def test_numbers_that_are_none_end_all_at_the_same_step():
    graph = layered(2, 1, (5,), function="rlinear", last="linear")
    flags = {"optimizer": "sgd", "learning_rate": 1e20, "epochs": 30, "task": "regression"}
    data = prepare(line(), settings_of(**flags))
    found = together(2, lambda ranks: train(graph, data, data.settings, ranks=ranks))
    alone = train(graph, data, data.settings)
    assert alone.status == "diverged"
    assert [one.status for one in found] == ["diverged"] * 2
    assert [one.message for one in found] == [alone.message] * 2


def test_the_layer_of_a_fault_is_named_whoever_computes_it():
    """A row that overflows in the hidden layer is computed by the second rank alone."""
    graph = layered(2, 1, (5,), function="rlinear", last="linear")
    features = np.ones((8, 2))
    features[1] = 1e38
    table = Table.from_arrays(features, features[:, 0] * 0, task="regression")
    flags = {"normalizer": "none", "init": "uniform", "init_diameter": 100, "shuffle": False}
    data = prepare(table, settings_of(**flags, task="regression", batch_size=4, dtype="float32"))
    alone = train(graph, data, data.settings)
    assert "the loss in layer 'H1/In' is no longer a finite number" in alone.message
    found = together(2, lambda ranks: train(graph, data, data.settings, ranks=ranks))
    assert [one.message for one in found] == [alone.message] * 2


def test_whoever_is_left_keeps_what_was_reached():
    """A rank that is lost in a step: the first one's state is that after the step before."""
    data = prepare(blobs(), settings_of())
    kept = []

    def lost(ranks):
        steps = 0
        reduce = ranks.comm.all_reduce_

        def failing(*arrays):
            nonlocal steps
            steps += 1
            if steps == 6:
                raise CommError("The other is gone.")
            reduce(*arrays)

        ranks.comm.all_reduce_ = failing
        keep = kept.append if ranks.leads else None
        with pytest.raises(CommError):
            train(GRAPH, data, data.settings, ranks=ranks, on_checkpoint=keep)

    together(2, lost)
    (model,) = kept
    assert model.state.step == 5
    settings = replace(data.settings, origins=dict(data.settings.origins))
    rest = resume(model, data, settings)
    assert_same_course(train(GRAPH, data, data.settings), rest, 1e-9)


def test_a_back_end_that_cannot_is_refused():
    with pytest.raises(GraphError, match=r"does not train in several processes\. Leave"):
        Ranks_of(2, 0).join(object())


def test_devices_have_to_be_the_same():
    def compare(ranks):
        with pytest.raises(CommError, match=r"not the same device: cpu0, cpu1\."):
            ranks.same("device", f"cpu{ranks.comm.rank}")

    together(2, compare)
