"""Runs of several threads: chosen by a measurement, reported, stored, and resumed with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.train import TrainingError, prepare, resume, settings_to_resume, train
from netsharp_engine.train.drafting.sharing import chosen, fastest, with_threads
from tests.engine_training.small_networks import build
from tests.engine_training.tables import blobs
from tests.engine_training.test_resume import settings_of, stop_after, through_file

NET = "8|sigmoid|softmax|3"


def test_the_fastest_is_chosen_where_it_is_worth_it() -> None:
    assert chosen({1: [1.0, 1.0, 9.0], 2: [0.6, 0.6, 0.5], 4: [0.7, 0.4, 0.7]}) == 2
    assert chosen({1: [1.0], 2: [0.95], 4: [0.91]}) == 1
    assert chosen({1: [1.0], 2: [1.2]}) == 1
    assert chosen({1: [1.0], 2: [0.5], 4: [0.5]}) == 2
    assert chosen({1: [1.0]}) == 1


def test_a_number_is_measured_reported_and_stored(tmp_path) -> None:
    settings = settings_of(threads="auto", epochs=2)
    assert settings.shards == 1
    data = prepare(blobs(), settings)
    events = []
    graph = build(NET, data.context())
    result = train(graph, data, settings, specification=NET, on_event=events.append)
    threads = result.model.settings.threads
    assert threads in (1, 2, 4, 8, 16)
    assert events[0]["metrics"].get("threads", 1) == threads
    assert through_file(result.model, tmp_path).settings.threads == threads
    again = train(graph, data, replace(settings, threads=threads), specification=NET)
    for name, values in result.model.tensors.items():
        np.testing.assert_array_equal(again.model.tensors[name], values)


def test_a_resumed_run_keeps_what_was_measured(tmp_path) -> None:
    settings = settings_of(threads=3)
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    whole = train(graph, data, settings, specification=NET)
    part = train(graph, data, settings, specification=NET, should_stop=stop_after(17))
    events = []
    train(graph, data, settings, on_event=events.append, should_stop=stop_after(1))
    assert events[0]["metrics"]["threads"] == 3
    stored = through_file(part.model, tmp_path)
    wanted = settings_of(threads="auto")
    assert settings_to_resume(stored.settings, wanted).threads == 3
    assert settings_to_resume(stored.settings, settings_of(threads=2)).threads == 2
    rest = resume(stored, prepare(blobs(), settings), wanted)
    assert rest.model.settings.threads == 3
    for name, values in whole.model.tensors.items():
        np.testing.assert_array_equal(rest.model.tensors[name], values)


def test_numbers_that_cannot_be_are_passed_over() -> None:
    settings = settings_of(threads="auto", quantize="uint8")
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    quantized = with_threads(graph, data, settings, NumpyDraft)
    assert isinstance(quantized.threads, int)
    from netsharp_engine.train.steps.quantizing import quantized_graph

    tables = quantized_graph(graph, "uint8")
    assert fastest(tables, data, settings, NumpyDraft, (2, 4)) == 1
    assert with_threads(graph, data, replace(settings, threads=5), NumpyDraft).threads == 5
    with pytest.raises(TrainingError, match="the network has not"):
        fastest(graph, data, replace(settings, dropout={"no": 0.5}), NumpyDraft, (2,))


@pytest.mark.parametrize("value", ["2", "auto", " AUTO "])
def test_what_the_setting_takes(value: str) -> None:
    threads = settings_of(threads=value).threads
    assert threads == (2 if value == "2" else "auto")
