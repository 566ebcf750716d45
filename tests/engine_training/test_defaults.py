"""What a run does by default: initial values by edges, outliers, labels of any size."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from netsharp_engine.data import Table
from netsharp_engine.graph import Graph
from netsharp_engine.initial import GAINS, diameters, initial_values
from netsharp_engine.model import load_model, save_model
from netsharp_engine.train import (
    prepare,
    read_settings,
    restore_settings,
    resume,
    train,
    train_further,
)
from netsharp_engine.train.settings import TrainingSettings
from tests.engine_training.small_networks import build, layered
from tests.engine_training.tables import blobs


def chosen(**flags: object) -> TrainingSettings:
    settings = read_settings({}, {"seed": 1, **flags})
    assert not isinstance(settings, list), settings
    return settings


def prices(rows: int = 200, numbers: int = 1) -> Table:
    """Numbers of hundreds of thousands, those of further columns a million times smaller."""
    random = np.random.default_rng(4)
    x = random.uniform(-1, 1, (rows, 3))
    one = 5e5 + 1e5 * (x[:, 0] - x[:, 1] * x[:, 2])
    y = one if numbers == 1 else np.stack([one, one[::-1] / 1e6][:numbers], axis=1)
    return Table.from_arrays(x, y, task="regression")


def test_weights_start_as_far_as_their_edges_say() -> None:
    graph = layered(24, 3, (72,))
    found = initial_values(graph.parameters, 1, diameters(graph, "glorot", 0.1), "float64")
    reach = GAINS["sigmoid"] * (6 / (24 + 72)) ** 0.5
    weights = found["H1/In/weights"]
    assert 0.98 * reach < np.abs(weights).max() <= reach
    assert weights.std() == pytest.approx(reach / 3**0.5, rel=0.05)
    assert 0.9 * (6 / 75) ** 0.5 < np.abs(found["Out/H1/weights"]).max() <= (6 / 75) ** 0.5
    assert not found["H1/biases"].any()
    found = initial_values(graph.parameters, 1, diameters(graph, "he", 0.1), "float64")
    assert 0.98 * (6 / 24) ** 0.5 < np.abs(found["H1/In/weights"]).max() <= (6 / 24) ** 0.5
    assert diameters(graph, "uniform", 0.1) == 0.1


def test_edges_of_conditions_and_of_bundles_that_meet_are_counted() -> None:
    """4 nodes with 2 edges each from A, where a node has 4 of 8, and 8 from B."""
    graph = Graph()
    first, second = graph.input("A", [2]), graph.input("B", [8])
    edges = [(node, source) for node in range(4) for source in range(2)]
    few = graph.parameter("few", [8])
    all_of = graph.parameter("all", [4, 8])
    ends = tuple(zip(*edges, strict=True))
    parts = [
        graph.apply("filtered", first, parameters=[few], edges=ends, shape=(4,)),
        graph.apply("full", second, parameters=[all_of]),
    ]
    graph.set_output(graph.apply("activation", graph.apply("add", *parts), function="tanh"))
    found = diameters(graph, "glorot", 0.1)
    assert found == pytest.approx({"few": 2 * (6 / (10 + 4)) ** 0.5, "all": 2 * (6 / 14) ** 0.5})
    assert diameters(graph, "he", 1) == pytest.approx({"few": 2 * 0.6**0.5, "all": 2 * 0.6**0.5})


@pytest.mark.parametrize("last", ["linear", "rlinear"])
def test_a_label_of_any_size_is_learned_and_comes_back(last: str, tmp_path) -> None:
    """A range of its own keeps the label's units: outputs of others are not scaled."""
    table, epochs = prices(), 25 if last == "linear" else 1
    settings = chosen(task="regression", epochs=epochs, batch_size=8, learning_rate=0.02)
    result = train(
        layered(3, 1, last=last),
        prepare(table, settings),
        settings,
        specification=f"8|sigmoid|{last}|1",
    )
    model = result.model
    assert (model.scale is not None) == (last == "linear")
    assert model.objective.scale == model.scale
    if last != "linear":
        return
    found = np.asarray(model.predict(table.numbers).predicted)
    assert result.report.metrics["r2"] > 0.9
    off = np.sqrt(np.mean((found - table.targets) ** 2))
    assert off == pytest.approx(result.report.metrics["rmse"], rel=1e-5)
    assert result.history[-1]["metrics"]["rmse"] == pytest.approx(off, rel=0.2)
    save_model(model, str(tmp_path / "m"))
    again = load_model(str(tmp_path / "m"), build)
    assert again.scale == model.scale
    np.testing.assert_array_equal(again.predict(table.numbers).predicted, found)
    further = train_further(again, prepare(table, settings, fitted=again)).model
    assert further.scale == model.scale
    short = replace(settings, epochs=10)
    begun = train(layered(3, 1, last=last), prepare(table, short), short).model
    whole = resume(begun, prepare(table, settings), settings).model
    np.testing.assert_array_equal(whole.predict(table.numbers).predicted, found)


def test_units_do_not_change_what_is_learned() -> None:
    """A label in other units is predicted in these, except for the rounding of float64."""
    settings = chosen(task="regression", epochs=5, dtype="float64")
    table = prices()
    other = replace(table, targets=table.targets / 1000 - 7)
    first, second = (
        train(layered(3, 1, last="linear"), prepare(one, settings), settings).model
        for one in (table, other)
    )
    found = [np.asarray(one.predict(table.numbers).predicted) for one in (first, second)]
    np.testing.assert_allclose(found[0] / 1000 - 7, found[1], rtol=1e-7)


def test_several_numbers_have_a_scale_each() -> None:
    table = prices(numbers=2)
    settings = chosen(task="regression", epochs=30, batch_size=8, learning_rate=0.02)
    result = train(layered(3, 2, last="linear"), prepare(table, settings), settings)
    found = np.asarray(result.model.predict(table.numbers).predicted)
    assert 1 - ((found - table.targets) ** 2).mean(0)[0] / table.targets.var(0)[0] > 0.9
    assert np.abs(found[:, 1] - 0.5).max() < 0.3
    assert "rmse" not in result.history[-1].get("metrics", {})


@pytest.mark.parametrize("power", [-900, -1, 0, 530, 1000])
def test_a_label_of_any_size_is_learned_alike(power: int) -> None:
    """In units of their own they are the same to the bit, whatever their squares are."""
    table = prices()
    large = replace(table, targets=np.ldexp(table.targets, power))
    settings = chosen(task="regression", epochs=2)
    one, other = (prepare(rows, settings).scale for rows in (table, large))
    assert one is not None
    assert other is not None
    assert other.mean == tuple(np.ldexp(one.mean, power))
    assert other.spread == tuple(np.ldexp(one.spread, power))
    np.testing.assert_array_equal(one.scaled(table.targets), other.scaled(large.targets))


@pytest.mark.parametrize("value", [1e4, 1e9, -1e30])
def test_one_row_far_away_spoils_nothing(value: float) -> None:
    table = blobs()
    numbers = table.numbers.copy()
    numbers[17] = value
    far = replace(table, numbers=numbers)
    right, names = [], np.array(table.classes)[table.class_codes]
    for rows, more in ((table, {}), (far, {}), (far, {"host": "studio", "batch_size": 16})):
        settings = chosen(epochs=30, **more)
        model = train(layered(3, 3), prepare(rows, settings), settings).model
        right.append(np.mean(np.array(model.predict(table.numbers).predicted) == names))
    assert right[0] >= 0.95
    assert right[1] >= right[0] - 0.02
    assert right[2] < 0.7, "the row is no trial: a host's normaliser bears it, too"


def test_a_model_of_before_keeps_what_it_had() -> None:
    """Settings that were stored before there were these keys say what was done then."""
    stored = json.loads(json.dumps(chosen(task="regression", host="studio").to_json()))
    for name in ("scale_label", "init"):
        del stored["values"][name], stored["origins"][name]
    stored["values"]["host"], stored["origins"]["host"] = "studio", "default"
    settings = restore_settings(stored)
    assert isinstance(settings, TrainingSettings)
    assert (settings.scale_label, settings.init, settings.optimizer) == (False, "uniform", "sgd")
    assert prepare(prices(), settings).scale is None


@pytest.mark.parametrize("host", ["studio", "rx", "tlc"])
def test_a_host_that_is_named_keeps_its_defaults(host: str) -> None:
    """What each host had before there were defaults of ours, whatever else is set."""
    rate, normalizer = (0.1, "minmax") if host == "studio" else (0.001, "minmax-zero")
    of_numbers = 0.005 if host == "studio" else rate
    had = {"optimizer": "sgd", "learning_rate": rate, "batch_size": 1, "normalizer": normalizer}
    had |= {"init": "uniform", "init_diameter": 0.1, "scale_label": False, "momentum": 0.0}
    had |= {"epochs": 100, "hidden_nodes": 100, "shuffle": True, "loss": "auto", "dropout": None}
    for given, other in (
        ({}, {}),
        ({"task": "regression"}, {"learning_rate": of_numbers}),
        ({"optimizer": "adam"}, {"learning_rate": 0.001}),
        ({"momentum": 0.5}, {}),
        ({"init_diameter": 0.4}, {}),
    ):
        found = chosen(host=host, **given)
        expected = had | other | given
        assert {name: getattr(found, name) for name in expected} == expected


def test_who_names_all_that_was_the_default_turns_the_scale_of_the_label_off() -> None:
    """A run file of before that names no host differs in that one setting."""
    named = {"optimizer": "sgd", "learning_rate": 0.005, "batch_size": 1, "normalizer": "minmax"}
    named |= {"init_diameter": 0.1, "task": "regression", "epochs": 2}
    table, found = prices(40), []
    for more in ({"host": "studio"}, {"scale_label": False}, {}):
        settings = read_settings({"train": {**named, **more}}, {})
        assert isinstance(settings, TrainingSettings), settings
        assert settings.scale_label == (not more)
        data = prepare(replace(table, targets=table.targets / 1e5), settings)
        model = train(layered(3, 1, last="linear"), data, settings).model
        found.append(np.asarray(model.predict(table.numbers).predicted))
    np.testing.assert_array_equal(found[0], found[1])
    assert np.abs(found[2] - found[0]).max() > 0.01


def test_who_sets_what_belongs_to_another_rule_has_chosen_it() -> None:
    assert chosen().optimizer == "adam"
    assert chosen(momentum=0.9).optimizer == "sgd"
    assert (chosen(momentum=0.0).optimizer, chosen(host="rx").optimizer) == ("adam", "sgd")
    assert (chosen().init, chosen(init_diameter=0.2).init) == ("glorot", "uniform")
    rates = [chosen(optimizer=one).learning_rate for one in ("adam", "sgd")]
    assert rates == [0.005, 0.1]
    assert chosen(host="tlc", optimizer="adam").learning_rate == 0.001
    faults = read_settings({}, {"init": "he", "init_diameter": 0.2})
    assert faults == ['init_diameter has no effect with init = "he". Leave one of them out.']
    faults = read_settings({}, {"init": "he", "host": "studio"})
    assert faults == ['init: host "studio" has no such setting. Leave it out, or the host.']
