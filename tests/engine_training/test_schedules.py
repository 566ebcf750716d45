"""Rates that fall and gradients that are cut, beside PyTorch's own in double precision."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from netsharp_engine.data import Table
from netsharp_engine.numpy_backend.updates import clip_gradient
from netsharp_engine.program import Shaping
from netsharp_engine.tensor_backend.kernels.sparse import TouchedRows
from netsharp_engine.tensor_backend.updates import shorten
from netsharp_engine.train import TrainingError, prepare, read_settings, resume, train
from netsharp_engine.train.state import TrainingState
from netsharp_engine.train.steps.schedules import scheduled_rate
from tests.engine_training.small_networks import layered
from tests.engine_training.tables import BY_HAND, blobs
from tests.peers import peer

RATE, EPOCHS = 0.3, 40
SCHEDULES = {
    "step": {"schedule": "step", "schedule_epochs": 7, "schedule_factor": 0.6},
    "cosine": {"schedule": "cosine", "schedule_least": 0.01},
    "short cosine": {"schedule": "cosine", "schedule_epochs": 25, "schedule_least": 0.02},
    "plateau": {"schedule": "plateau", "schedule_epochs": 2, "schedule_factor": 0.5},
    "floor": {"schedule": "plateau", "schedule_epochs": 1, "schedule_least": 0.05},
}


def settings_of(**flags):
    found = read_settings({}, {"learning_rate": RATE, "epochs": EPOCHS, **flags})
    assert not isinstance(found, list), found
    return found


def losses():
    """A loss that falls, rests and falls again, with less than counts between."""
    random = np.random.default_rng(3)
    falling = np.repeat(np.linspace(2, 1, 10), 4)
    return (falling * (1 + 2e-5 * random.normal(size=EPOCHS))).tolist()


def torch_rates(settings):
    """The rates of all epochs by PyTorch's scheduler."""
    torch = peer("torch")
    schedulers = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=RATE)
    epochs, factor = settings.schedule_epochs, settings.schedule_factor
    least = settings.schedule_least
    if settings.schedule == "step":
        scheduler = schedulers.StepLR(optimizer, epochs, factor)
    elif settings.schedule == "cosine":
        scheduler = schedulers.CosineAnnealingLR(optimizer, epochs, least)
    else:
        scheduler = schedulers.ReduceLROnPlateau(
            optimizer, factor=factor, patience=epochs, min_lr=least, eps=0
        )
    found = []
    for loss in losses():
        optimizer.step()
        scheduler.step(*((loss,) if settings.schedule == "plateau" else ()))
        found.append(optimizer.param_groups[0]["lr"])
    return found


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_are_those_of_pytorch(name):
    settings = settings_of(**SCHEDULES[name])
    expected = torch_rates(settings)
    state = TrainingState(rate=RATE)
    found = []
    for epoch, loss in enumerate(losses(), 1):
        state.epoch = epoch
        state.rate = scheduled_rate(settings, state, loss)
        found.append(state.rate)
    if name == "short cosine":
        # PyTorch's cosine rises again; ours stays where it is.
        expected[25:] = [0.02] * (EPOCHS - 25)
    assert found == pytest.approx(expected, rel=1e-9)
    assert len(set(found)) > 1


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_run_takes_the_rates_of_its_schedule(name):
    settings = settings_of(**SCHEDULES[name], batch_size=16, validation=0.2)
    data = prepare(blobs(), settings)
    history = train(layered(3, 3), data, settings).history
    state = TrainingState(rate=RATE)
    for epoch, event in enumerate(history, 1):
        assert event["rate"] == state.rate
        state.epoch = epoch
        state.rate = scheduled_rate(settings, state, event["validation"]["loss"])
    assert len(history) == EPOCHS


def test_defaults_of_schedules():
    assert settings_of(schedule="step").schedule_epochs == 30
    assert settings_of(schedule="plateau").schedule_epochs == 10
    assert settings_of(schedule="cosine", epochs=17).schedule_epochs == 17
    assert settings_of().schedule_epochs is None


def test_epochs_after_the_end_of_a_cosine_are_refused():
    settings = settings_of(schedule="cosine", epochs=2, batch_size=16)
    data = prepare(blobs(), settings)
    model = train(layered(3, 3), data, settings).model
    with pytest.raises(TrainingError, match="the learning rate is 0 after epoch 2, and 5 epochs"):
        resume(
            model, data, replace(settings, epochs=5, origins={**settings.origins, "epochs": "flag"})
        )
    with pytest.raises(TrainingError, match="schedule_epochs as large as all epochs"):
        train(layered(3, 3), data, settings_of(schedule="cosine", schedule_epochs=3))


def test_a_state_from_before_there_were_schedules_is_read():
    stored = json.loads(json.dumps(TrainingState(rate=0.5, epoch=3).to_json()))
    del stored["plateau_loss"], stored["plateau_epochs"]
    assert TrainingState.from_json(stored, {}) == TrainingState(rate=0.5, epoch=3)
    del stored["epoch"]
    with pytest.raises(ValueError, match="it has no 'epoch'"):
        TrainingState.from_json(stored, {})


@pytest.mark.parametrize("limit", [0.01, 1.0, 7.5, 1e6])
def test_clipping_is_that_of_pytorch(limit):
    torch = peer("torch")
    random = np.random.default_rng(2)
    gradient = random.normal(size=60)
    for shaping, cut in (
        (Shaping(limit=limit), torch.nn.utils.clip_grad_value_),
        (Shaping(total=limit), torch.nn.utils.clip_grad_norm_),
    ):
        parts = [torch.nn.Parameter(torch.zeros(n, dtype=torch.float64)) for n in (10, 20, 30)]
        for part, values in zip(parts, np.split(gradient, [10, 30]), strict=True):
            part.grad = torch.from_numpy(values.copy())
        cut(parts, limit)
        ours = gradient.copy()
        clip_gradient(shaping, ours)
        expected = np.concatenate([part.grad.numpy() for part in parts])
        # PyTorch adds 1e-6 to the norm that it divides by.
        np.testing.assert_allclose(ours, expected, rtol=1e-6)


def test_a_gradient_whose_square_is_none_is_cut_all_the_same():
    gradient = np.array([3e30, -4e30], np.float32)
    clip_gradient(Shaping(total=5.0), gradient)
    np.testing.assert_allclose(gradient, [3, -4], rtol=1e-6)
    nothing = np.zeros(3, np.float32)
    clip_gradient(Shaping(total=5.0), nothing)
    assert not nothing.any()


def test_clipping_keeps_a_run_from_diverging():
    flags = {**BY_HAND, "task": "regression", "normalizer": "none", "batch_size": 8, "epochs": 3}
    random = np.random.default_rng(1)
    x = random.normal(size=(64, 3)) * 1e4
    table = Table.from_arrays(x, x[:, 0] * 3, task="regression")
    ends = []
    for more in ({}, {"clip_norm": 1.0}, {"clip_value": 1.0}):
        settings = settings_of(**flags, **more)
        data = prepare(table, settings)
        graph = layered(3, 1, function="rlinear", last="linear")
        ends.append(train(graph, data, settings).status)
    assert ends == ["diverged", "finished", "finished"]


def test_gradients_of_tensors_are_shortened_together():
    """One of them is known by the rows that samples hit."""
    random = np.random.default_rng(4)
    dense, rows = random.normal(size=(3, 4)), random.normal(size=(2, 4))
    norm = np.sqrt((dense**2).sum() + (rows**2).sum())
    gradients = {"W": dense, "E": TouchedRows(np.array([1, 5]), rows)}
    shorten(norm + 1, gradients)
    assert gradients["W"] is dense
    shorten(0.5, gradients)
    np.testing.assert_allclose(gradients["W"], dense * 0.5 / norm)
    np.testing.assert_allclose(gradients["E"].values, rows * 0.5 / norm)
    assert gradients["E"].places.tolist() == [1, 5]
