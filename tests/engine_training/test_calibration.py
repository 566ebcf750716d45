"""Rates are measured once and kept; what is damaged or of another machine is measured again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netsharp_engine.costs import Machine, calibrated
from netsharp_engine.costs.calibration import FOLDER, measured
from netsharp_engine.data.storage.json_files import MOST_BYTES
from netsharp_engine.data.storage.places import users_folder
from netsharp_engine.numpy_backend.costing.probes import made_probes
from netsharp_engine.numpy_backend.costing.rates import Rate
from tests.engine_training.rates import even_rates

MACHINE = Machine("a processor", 2, "Linux x86_64", "2.0.0", "0.1.0", True, "float32")
RATES = even_rates()


class Measuring:
    """Measures nothing, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, dtype: str) -> dict[str, Rate]:
        assert dtype == "float32"
        self.asked += 1
        return RATES


def kept_file(folder: Path) -> Path:
    [path] = folder.glob("*.json")
    return path


def test_rates_are_measured_once(tmp_path: Path) -> None:
    measure, folder = Measuring(), tmp_path / "new" / "rates"
    first = calibrated(MACHINE, str(folder), measure)
    again = calibrated(MACHINE, str(folder), measure)
    assert (first.kept, again.kept, measure.asked) == (False, True, 1)
    assert first.rates == again.rates == RATES
    assert not list(folder.glob("*.part"))


@pytest.mark.parametrize(
    "other",
    [
        {"cpu": "another"},
        {"cores": 4},
        {"system": "Linux aarch64"},
        {"numpy": "2.0.1"},
        {"version": "0.1.1"},
        {"compiled": False},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_machine_has_rates_of_its_own(tmp_path: Path, other: dict[str, Any]) -> None:
    measure = Measuring()
    calibrated(MACHINE, str(tmp_path), measure)
    assert not calibrated(MACHINE._replace(**other), str(tmp_path), measure).kept
    assert calibrated(MACHINE, str(tmp_path), measure).kept
    assert measure.asked == 2


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        values = json.loads(path.read_text())
        change(values)
        path.write_text(json.dumps(values))

    return edit


FAULTS: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:1000]),
    "no text": lambda path: path.write_bytes(b"\xff\xfe" * 100),
    "deep": lambda path: path.write_text("[" * 100_000),
    "no table": lambda path: path.write_text("[]"),
    "too large": lambda path: path.write_bytes(path.read_bytes() + b" " * MOST_BYTES),
    "of another machine": changed(lambda values: values["machine"].update(cores=9)),
    "of another form": changed(lambda values: values.update(version=0)),
    "a rate less": changed(lambda values: values["rates"].pop("dot")),
    "no rates": changed(lambda values: values.pop("rates")),
    "a negative time": changed(lambda values: values["rates"]["dot"].update(call=-1)),
    "no number": changed(lambda values: values["rates"]["dot"].update(call=float("nan"))),
    "a grid of another size": changed(lambda values: values["rates"]["dot"]["units"].pop()),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link to nothing": lambda path: (path.unlink(), path.symlink_to("nothing")),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_damaged_is_measured_again(tmp_path: Path, fault: str) -> None:
    measure = Measuring()
    calibrated(MACHINE, str(tmp_path), measure)
    FAULTS[fault](kept_file(tmp_path))
    found = calibrated(MACHINE, str(tmp_path), measure)
    assert (found.kept, found.rates, measure.asked) == (False, RATES, 2)
    if fault not in ("a folder",):  # a folder cannot be replaced, so nothing is kept
        assert calibrated(MACHINE, str(tmp_path), measure).kept


def test_where_nothing_can_be_kept_it_is_measured_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = Measuring()
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    for folder in (str(tmp_path / "link"), str(tmp_path / "file" / "rates"), "here"):
        for _ in range(2):
            assert not calibrated(MACHINE, folder, measure).kept
    assert measure.asked == 6
    assert not list(target.iterdir())
    assert not (tmp_path / "here").exists()


def test_they_lie_in_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    measure = Measuring()
    calibrated(MACHINE, None, measure)
    assert calibrated(MACHINE, None, measure).kept
    folder = Path(users_folder(FOLDER))
    assert folder.is_relative_to(tmp_path)
    assert kept_file(folder).is_file()
    shutil.rmtree(folder)


def test_here_is_distinguished_from_elsewhere() -> None:
    here = Machine.here("0.1.0", "float64")
    assert here == Machine.here("0.1.0", "float64")
    assert here.cores >= 1
    assert here.dtype == "float64"


@pytest.mark.costly
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_kind_is_measured(dtype: str) -> None:
    rates = measured(dtype)
    assert rates.keys() == even_rates(dtype).keys()
    assert {probe.work.kind for probe in made_probes(dtype)} < rates.keys()
    for rate in rates.values():
        assert rate.call >= 0
        assert min(rate.units) >= 0
    assert rates["product nn"].call > 0
