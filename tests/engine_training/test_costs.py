"""What training is predicted to take: sums over what is done, at rates that are given as data."""

from __future__ import annotations

from typing import Any

import pytest

from netsharp_engine.costs import predict
from netsharp_engine.costs.prediction import drafted_run, work_of_run
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.numpy_backend.costing.rates import CallWork
from netsharp_engine.train import TrainingError, TrainingSettings, read_settings
from netsharp_lsp.netsharp.lower import build_graph
from tests.engine_training.rates import AROUND, CALL, MEASURED, UNIT, even_rates

NET = """\
input Image [1, 12, 12];
hidden Conv [4, 10, 10] rlinear from Image convolve {
  InputShape = [1, 12, 12]; KernelShape = [1, 3, 3]; MapCount = 4;
}
hidden Pool [4, 5, 5] from Conv max pool {
  InputShape = [4, 10, 10]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
}
hidden Full [20] tanh from Pool all;
output Out [3] softmax from Full all;
"""
RATES = even_rates()


def graph() -> Graph:
    return build_graph(NET, {})


def chosen(**given: Any) -> TrainingSettings:
    read = read_settings({}, given)
    assert isinstance(read, TrainingSettings)
    return read


def seconds(works: list[CallWork]) -> float:
    return sum(CALL + UNIT * work.units for work in works)


def test_a_step_is_the_sum_of_its_layers_and_what_is_around_them() -> None:
    found = predict(graph(), chosen(batch_size=8), RATES)
    assert [layer.name for layer in found.layers] == ["Conv", "Pool", "Full", "Out"]
    assert found.step == found.around + sum(layer.seconds for layer in found.layers)
    settings = chosen(batch_size=8)
    work = work_of_run(graph(), settings, drafted_run(graph(), settings, 8))
    for layer in found.layers:
        assert layer.forward == seconds([*work.layers[layer.name].forward])
        assert layer.backward == seconds([*work.layers[layer.name].backward])
        assert layer.forward > 0
        assert layer.memory > 0
    assert found.around == pytest.approx(AROUND + seconds([*work.around[:-1]]) + CALL * 0, abs=CALL)
    assert found.epoch is None
    assert found.steps is None
    assert found.table is None


def test_the_update_is_shared_by_the_parameters_of_the_layers() -> None:
    found = predict(graph(), chosen(batch_size=8), RATES)
    sizes = {"Conv": 4 * 10, "Pool": 0, "Full": 20 * 101, "Out": 3 * 21}
    total = sum(sizes.values())
    for layer in found.layers:
        share = sizes[layer.name] / total
        assert layer.update == pytest.approx((CALL + UNIT * total) * share)
    dearer = {**RATES, "update sgd": RATES["update sgd"]._replace(call=1.0)}
    for optimizer, more in (("sgd", 1.0), ("adam", 0.0)):
        settings = chosen(batch_size=8, optimizer=optimizer, rate_reduction_ratio=1.0)
        grown = predict(graph(), settings, dearer).step - predict(graph(), settings, RATES).step
        assert grown == pytest.approx(more, abs=2 * CALL)


@pytest.mark.parametrize(
    ("rows", "validation", "batch", "trained", "held", "steps", "blocks"),
    [
        (100, None, 8, 100, 0, 13, 0),
        (100, 0.2, 8, 80, 20, 10, 1),
        (1000, 0.25, 64, 750, 250, 12, 4),
        (5, None, 64, 5, 0, 1, 0),
    ],
)
def test_an_epoch_is_its_steps_and_the_rows_that_are_measured(
    rows: int,
    validation: float | None,
    batch: int,
    trained: int,
    held: int,
    steps: int,
    blocks: int,
) -> None:
    settings = chosen(batch_size=batch, validation=validation)
    found = predict(graph(), settings, RATES, rows)
    assert (found.rows, found.held, found.steps) == (trained, held, steps)
    assert found.batch == min(batch, trained)
    free = {**RATES, "measured block": RATES["measured block"]._replace(call=0.0)}
    cheaper = predict(graph(), settings, free, rows)
    assert found.measuring - cheaper.measuring == pytest.approx(blocks * MEASURED)
    assert found.epoch == pytest.approx(steps * found.step + found.measuring)
    assert (found.measuring > 0) == (blocks > 0)
    assert found.table == rows * (144 * 4 + 8)


def test_twice_the_rows_of_a_step_are_twice_the_units_and_as_many_calls() -> None:
    small, large = (predict(graph(), chosen(batch_size=n), RATES) for n in (32, 64))
    units = {**{kind: rate._replace(call=0.0) for kind, rate in RATES.items()}}
    narrow, wide = (predict(graph(), chosen(batch_size=n), units) for n in (32, 64))
    for one, other in zip(narrow.layers, wide.layers, strict=True):
        assert other.forward == pytest.approx(2 * one.forward)
        # The products of gradients are cut into blocks, whose sums are as large for any batch.
        assert one.backward < other.backward <= 2 * one.backward * 1.001
    assert small.step < large.step < 2 * small.step
    assert small.memory < large.memory


def test_what_settings_add_is_predicted() -> None:
    plain = predict(graph(), chosen(batch_size=8), RATES).step
    for more in (
        {"clip_norm": 1.0},
        {"clip_value": 1.0},
        {"dropout": 0.5},
        {"dtype": "float64", "weight_decay": 0.1},
        {"max_norm": 1.0},
        {"quantize": "uint8"},
    ):
        assert predict(graph(), chosen(batch_size=8, **more), RATES).step > plain


def test_memory_is_what_a_run_asks_for() -> None:
    settings = chosen(batch_size=8, dropout=0.2)
    needs = drafted_run(graph(), settings, 8).needs()
    found = predict(graph(), settings, RATES)
    assert found.memory == sum(part.total() for part in needs)
    assert sum(layer.memory for layer in found.layers) <= found.memory
    doubled = predict(graph(), chosen(batch_size=8, dropout=0.2, dtype="float64"), RATES)
    assert 1.5 * found.memory < doubled.memory < 2 * found.memory


def test_the_task_follows_from_the_output_or_the_setting() -> None:
    linear = build_graph(NET.replace("[3] softmax", "[1] linear"), {})
    squared = work_of_run(linear, chosen(), drafted_run(linear, chosen(), 8))
    assert "squared error" in {work.kind for work in squared.layers["Out"].forward}
    numbers = chosen(task="regression")
    reported = work_of_run(graph(), numbers, drafted_run(graph(), numbers, 8)).layers["Out"]
    assert "squared error" in {work.kind for work in reported.forward}
    with pytest.raises(TrainingError, match="the output layer"):
        predict(graph(), chosen(dropout={"Out": 0.5}), RATES)


def test_what_has_no_room_is_refused_in_a_sentence() -> None:
    large = build_graph("input A [200000];\noutput B [200000] softmax from A all;\n", {})
    with pytest.raises(GraphError, match=r"Such a training takes about .* of memory"):
        predict(large, chosen(batch_size=1000), RATES)
