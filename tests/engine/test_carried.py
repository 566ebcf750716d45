"""States that a back end carries from call to call are stored, and a run resumes with them."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.model import load_model, save_model
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.train import prepare, read_settings, resume, train
from tests.engine.carrying_program import CARRIED, CarryingDraft
from tests.engine_training.small_networks import layered
from tests.engine_training.tables import line

SETTINGS = {"task": "regression", "epochs": 3, "batch_size": 6, "dtype": "float64"}


def network():
    return layered(2, 1, (3,), function="tanh", last="tanh")


def begun(data, settings, calls):
    """A run that is stopped after a number of calls."""
    asked = iter(range(100))
    part = train(
        network(),
        data,
        settings,
        backend=CarryingDraft,
        should_stop=lambda: next(asked) == calls,
    )
    assert part.status == "interrupted"
    return part.model


@pytest.fixture
def run():
    settings = read_settings({}, {**SETTINGS, "momentum": 0.5, "patience": 0, "validation": 0})
    return prepare(line(24), settings), settings


def ended(model, data, backend=CarryingDraft):
    model.backend = backend
    return resume(model, data).model


@pytest.mark.parametrize("calls", [2, 3, 5])
def test_a_run_continues_with_the_states_that_it_was_stopped_with(calls, run, tmp_path):
    data, settings = run
    whole = train(network(), data, settings, backend=CarryingDraft).model
    path = str(tmp_path / "part.safetensors")
    save_model(begun(data, settings, calls), path)
    found = load_model(path)
    found.bind(network())
    assert found.state.vectors.keys() == {"delta", CARRIED}
    (end,) = found.state.vectors[CARRIED].values()
    assert end.shape == (3,)
    assert np.abs(end).max() > 0
    found = ended(found, data)
    for name, values in whole.tensors.items():
        assert np.array_equal(values, found.tensors[name]), name
    # The states are what makes the runs equal.
    other = begun(data, settings, calls)
    del other.state.vectors[CARRIED]
    other = ended(other, data)
    assert any(not np.array_equal(v, other.tensors[name]) for name, v in whole.tensors.items())


def test_a_back_end_that_carries_nothing_passes_over_them(run):
    data, settings = run
    found = ended(begun(data, settings, 3), data, NumpyDraft)
    assert found.state.finished
    assert found.state.vectors.keys() == {"delta"}
