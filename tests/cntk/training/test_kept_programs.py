"""Programs that a loaded model keeps between its calls change no bit of an answer, and are few."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_engine.cntk import model_evaluation
from netsharp_engine.cntk.model_evaluation import KeptPrograms
from netsharp_engine.model import Model
from tests.cntk.training.experiments import made, run
from tests.conftest import SEED


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made(tmp_path_factory.mktemp("kept"))
    answer, _ = run(folder, "command=learn", "learn=[SGD=[maxEpochs=1]]")
    assert answer.code == 0, answer.complaints
    return folder / "out" / "net.dnn"


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each program that is made."""
    found: list[int] = []
    make = model_evaluation.programmed

    def counted(graph: Any, values: Any, rows: int, dtype: str) -> Any:
        found.append(rows)
        return make(graph, values, rows, dtype)

    monkeypatch.setattr(model_evaluation, "programmed", counted)
    return found


def kept(model: Model) -> KeptPrograms:
    network: Any = model.network
    found: KeptPrograms = network._programs
    return found


def answer_bytes(model: Model, rows: Any, *outputs: str) -> bytes:
    found = model.predict({"features": rows}, outputs=outputs)
    return b"".join(found.values[name].tobytes() for name in outputs)


def test_a_program_serves_calls_of_as_many_rows_and_changes_no_bit(
    path: Path, programs: list[int]
) -> None:
    rows = np.random.default_rng(SEED).normal(size=(40, 2))
    model = netsharp.load(path)
    sizes = (7, 3, 7, 20, 1, 20)
    found = [answer_bytes(model, rows[:size], "H1") for size in sizes]
    assert programs == [7, 20]
    assert len(kept(model)) == 1
    for size, one in zip(sizes, found, strict=True):
        assert answer_bytes(netsharp.load(path), rows[:size], "H1") == one


def test_few_are_kept_and_none_of_many_bytes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = netsharp.load(path)
    rows = np.ones((5, 2))
    for name in ("H1", "W0*features", "HLast", "MVNormalizedFeatures", "W0*features+B0"):
        answer_bytes(model, rows, name)
    assert len(kept(model)) == KeptPrograms.most
    monkeypatch.setattr(KeptPrograms, "most_bytes", 100)
    other = netsharp.load(path)
    answer_bytes(other, rows, "H1")
    assert len(kept(other)) == 0


def test_threads_share_none_and_copies_have_their_own(path: Path) -> None:
    model = netsharp.load(path)
    random = np.random.default_rng(SEED)
    asked = [random.normal(size=(9, 2)) for _ in range(24)]
    alone = [answer_bytes(model, one, "H1") for one in asked]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda one: answer_bytes(model, one, "H1"), asked)) == alone
    twin = pickle.loads(pickle.dumps(model))
    assert len(kept(twin)) == 0
    assert answer_bytes(twin, asked[0], "H1") == alone[0]


def test_numbers_that_are_changed_count_in_the_next_call(path: Path) -> None:
    """A program takes the model's numbers as they are when it is asked."""
    model, rows = netsharp.load(path), np.ones((2, 2))
    before = answer_bytes(model, rows, "W0*features")
    model.parameters["W0"][...] *= 2
    found = np.frombuffer(answer_bytes(model, rows, "W0*features"), np.float32)
    np.testing.assert_allclose(found, 2 * np.frombuffer(before, np.float32))
