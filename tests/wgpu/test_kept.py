"""What was measured of devices and is kept: found again, ignored where it is of another."""

from __future__ import annotations

import json
import os

import pytest

from netsharp_engine.backends.choosing import ESTIMATE, is_faster, rates_of
from netsharp_engine.data.storage.json_files import MOST_BYTES, SUFFIX
from netsharp_engine.planned import planned
from netsharp_engine.program import Job, UpdateRule
from netsharp_engine.wgpu_backend import DeviceBackend, DeviceDraft, planner
from netsharp_engine.wgpu_backend.running import Adapter
from netsharp_engine.wgpu_backend.tuning import keeping
from netsharp_engine.wgpu_backend.tuning.keeping import DeviceIdentity, DeviceSpeed
from netsharp_engine.wgpu_backend.tuning.policy import TUNE, network_of
from tests.engine_training.small_networks import layered
from tests.wgpu.test_plans import SGD, layers

CARD = Adapter("Card 9", "Vulkan, driver 1", "DiscreteGPU")
DEVICE = DeviceIdentity.here(CARD.name, CARD.driver)
SPEED = DeviceSpeed(3e12, 5e-6, 1e10, 8e9)
VARIANTS = {"H0/X: product, bias, tanh": "vectors"}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "netsharp" / keeping.FOLDER


def files(folder):
    return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)


def test_what_is_kept_is_found_for_the_same_device_and_network_alone(own_folder):
    keeping.keep_speed(DEVICE, SPEED)
    keeping.keep_variants(DEVICE, "one", VARIANTS)
    assert keeping.kept_speed(DEVICE) == SPEED
    assert keeping.kept_variants(DEVICE, "one") == VARIANTS
    for other in ("adapter", "driver", "netsharp", "wgpu"):
        assert keeping.kept_speed(DEVICE._replace(**{other: "2"})) is None
        assert keeping.kept_variants(DEVICE._replace(**{other: "2"}), "one") is None
    assert keeping.kept_variants(DEVICE, "two") is None
    assert len(files(own_folder)) == 2
    assert (own_folder / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    "damage",
    [
        lambda values: b"",
        lambda values: b"{",
        lambda values: b"[" * 100_000,
        lambda values: b"\xff" * 20,
        lambda values: b" " * (MOST_BYTES + 1),
        lambda values: json.dumps([values]).encode(),
        lambda values: json.dumps({**values, "version": keeping.VERSION + 1}).encode(),
        lambda values: json.dumps({**values, "device": {}}).encode(),
        lambda values: json.dumps({**values, "kind": "others"}).encode(),
        lambda values: json.dumps({**values, "network": 7}).encode(),
        lambda values: json.dumps({**values, "values": [1]}).encode(),
        lambda values: json.dumps({**values, "values": {"multiply_adds": -1, "H": 3}}).encode(),
        lambda values: json.dumps({**values, "values": {"multiply_adds": "x", "H": None}}).encode(),
    ],
)
def test_what_is_damaged_or_foreign_is_as_good_as_none(damage, own_folder):
    keeping.keep_speed(DEVICE, SPEED)
    keeping.keep_variants(DEVICE, "one", VARIANTS)
    for path in files(own_folder):
        path.write_bytes(damage(json.loads(path.read_bytes())))
    assert keeping.kept_speed(DEVICE) is None
    assert keeping.kept_variants(DEVICE, "one") is None
    assert keeping.latest_variants("one") is None
    keeping.keep_speed(DEVICE, SPEED)
    assert keeping.kept_speed(DEVICE) == SPEED


def test_nothing_is_kept_where_someone_stands_or_where_a_link_leads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keeping.keep_speed(DEVICE, SPEED, "here")
    assert not (tmp_path / "here").exists()
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real", tmp_path / "link")
    keeping.keep_speed(DEVICE, SPEED, str(tmp_path / "link"))
    assert not list((tmp_path / "real").iterdir())


def test_the_newest_stay(own_folder, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_KEPT", 3)
    for number in range(5):
        keeping.keep_variants(DEVICE, str(number), VARIANTS)
        for age, path in enumerate(files(own_folder)):
            os.utime(path, ns=(age, path.stat().st_mtime_ns - 10**9))
    assert len(files(own_folder)) == 3
    assert keeping.kept_variants(DEVICE, "4") == VARIANTS
    assert keeping.kept_variants(DEVICE, "0") is None


def test_a_plan_shows_what_was_chosen_last_for_its_network(monkeypatch):
    job = Job(layers(5, 4, 3), 4, "float32", SGD)
    network = network_of(DeviceDraft(job).plan)
    keeping.keep_variants(DEVICE, network, {**VARIANTS, "of another version": "tiles 9 x 9"})
    kernels = {call.kernel for call in planned(planner()(job)).calls}
    assert "full by vectors" in kernels
    assert planned(planner("card")(job)) == planned(planner()(job))
    assert "full by vectors" not in {c.kernel for c in planned(planner("other")(job)).calls}
    assert network_of(DeviceDraft(job._replace(rows=5)).plan) != network
    monkeypatch.setenv(TUNE, "off")
    assert "full by vectors" not in {call.kernel for call in planned(planner()(job)).calls}


def test_auto_estimates_by_what_was_measured():
    made = DeviceBackend(CARD)
    assert rates_of(made) == ESTIMATE
    job = Job(layered(300, 300, (300,)), 1, rule=UpdateRule("sgd", 0.1))
    assert not is_faster(job)
    keeping.keep_speed(DEVICE, SPEED._replace(seconds_a_pass=1e-7))
    assert is_faster(job, rates_of(made))
    assert "0.1 microseconds a pass, 3e+03 G multiply-adds a second" in rates_of(made).source
    # A device that multiplies more slowly than the processor is never worth it.
    keeping.keep_speed(DEVICE, SPEED._replace(multiply_adds=1e9, seconds_a_pass=0.0))
    assert not is_faster(job, rates_of(made))
