"""Variants measured on a device: chosen once, kept, in log and plan; software is spared."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from netsharp_engine.graph import GraphError
from netsharp_engine.program import Job, UpdateRule
from netsharp_engine.wgpu_backend import backend, running
from netsharp_engine.wgpu_backend.draft import DeviceDraft
from netsharp_engine.wgpu_backend.tuned import TunedText
from netsharp_engine.wgpu_backend.tuning import keeping, measuring, policy
from netsharp_engine.wgpu_backend.tuning.measuring import NEAR, WORTH, tuned
from netsharp_engine.wgpu_backend.tuning.policy import TUNE
from netsharp_engine.wgpu_backend.variants import PLAIN, VARIANTS
from tests.cli.command_line import netsharp
from tests.cli.test_schemas import schema
from tests.engine.test_programs import EXAMPLES
from tests.wgpu.on_variants import full
from tests.wgpu.pairs import GRADIENT_STEP, NAME, Pair, apart

JOB = Job(full(), 33, "float32", GRADIENT_STEP)
ADAM = UpdateRule("adam", 1e-3, constants={"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8})


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(TUNE, "on")
    return tmp_path / "cache" / "netsharp" / keeping.FOLDER


def test_software_is_not_tuned_unless_someone_asks(own_folder, monkeypatch):
    monkeypatch.delenv(TUNE)
    assert backend(NAME)(JOB).program().variants == ""
    monkeypatch.setenv(TUNE, "off")
    assert backend(NAME)(JOB).program().variants == ""
    assert not own_folder.exists()


def test_variants_are_measured_once_and_those_beside_take_them(own_folder, monkeypatch):
    program = backend(NAME)(JOB).program()
    assert "(measured in " in program.variants
    assert len(list(own_folder.glob("*.json"))) == 1
    with monkeypatch.context() as patch:
        patch.setattr(policy, "tuned", None)
        again = backend(NAME)(JOB).program()
        forward = backend(NAME)(JOB._replace(rows=5, rule=None))
        assert forward.program(1, again).choices == again.choices
        # What does not train is not measured, whatever it takes.
        assert not forward.program().choices.variants
    assert again.choices.variants == program.choices.variants
    assert "(measured before)" in again.variants
    assert program.machine.plan.step == again.machine.plan.step


def test_a_device_without_memory_for_a_second_copy_computes_plainly(own_folder, monkeypatch):
    real, asked = running.OpenDevice.arena, []

    def refusing(self, numbers):
        asked.append(numbers)
        if len(asked) == 1:
            raise GraphError("The device refuses it.")
        return real(self, numbers)

    draft = backend(NAME)(JOB)
    running.device(NAME)
    monkeypatch.setattr(running.OpenDevice, "arena", refusing)
    program = draft.program()
    assert "not measured" in program.variants
    assert not program.choices.variants
    assert not own_folder.exists()


def test_what_was_chosen_computes_the_same():
    """Kept choices of every form: values and gradients are those of numpy."""
    draft = backend(NAME)(JOB)
    words = [kernel.what for one in draft.plan.step for kernel in one.kernels]
    names = ("vectors", "tiles 16 x 64", "lanes 8", "rows", "tiles 1 x 1")
    kept = {what: names[number % len(names)] for number, what in enumerate(words)}
    adapter = draft._tuning.adapter
    device = keeping.DeviceIdentity.here(adapter.name, adapter.driver)
    keeping.keep_variants(device, policy.network_of(draft.plan), kept)
    chosen = backend(NAME)(JOB).program().choices.variants
    assert set(chosen.values()) == set(names[:-1])
    random = np.random.default_rng(1)
    pair = Pair(JOB.graph, JOB.rows, GRADIENT_STEP)
    ours = backend(NAME)(JOB).program()
    ours.load(pair.ours.store())
    pair.ours = ours
    pair.step(random.uniform(-1, 1, (33, 37)), random.integers(0, 10, 33))
    assert max(pair.gradients().values()) <= 1e-5
    assert apart(ours.read(JOB.graph.output), pair.theirs.read(JOB.graph.output)) <= 1e-5


@pytest.mark.parametrize("clock", [True, False])
def test_a_variant_is_chosen_by_its_time_with_a_clock_of_the_device_or_ours(clock, monkeypatch):
    if not clock:
        monkeypatch.setattr(running.device(NAME), "_stamps", None)
    program = DeviceDraft(JOB, NAME).program()
    found = tuned(program, 4.0)
    assert found.tried
    assert all(each.share > 0 and not each.fault for each in found.tried)
    for what, name in found.variants.items():
        shares = {each.variant: each.share for each in found.tried if each.kernel == what}
        assert shares[name] == min(shares.values()) < WORTH
    # The time is bounded: when it is over, only the current measurement is finished.
    assert len(tuned(program, 0.0).tried) == 0


def test_a_variant_whose_numbers_are_others_is_left_out(monkeypatch):
    real = TunedText._vectors

    def wrong(self, kernel, nest, row, name):
        return [line.replace("+= ", "+= 1.01 * ") for line in real(self, kernel, nest, row, name)]

    monkeypatch.setattr(TunedText, "_vectors", wrong)
    for name in [name for name in VARIANTS if name not in (PLAIN, "vectors", "rows")]:
        monkeypatch.delitem(VARIANTS, name)
    found = tuned(DeviceDraft(JOB, NAME).program(), 60.0)
    faults = {each.variant: each.fault for each in found.tried if each.fault}
    assert faults.keys() == {"vectors"}
    assert "from the plain form's" in faults["vectors"]
    assert "vectors" not in found.variants.values()
    assert NEAR < 0.01


@pytest.mark.parametrize("rule", [GRADIENT_STEP, UpdateRule("sgd", 1e-3), ADAM])
def test_a_variant_that_writes_nothing_is_left_out(rule, monkeypatch):
    """Some drivers stop silently: what lay in a buffer before is not a variant's result."""
    for form in ("_vectors", "_lanes", "_tiles", "_several_rows"):
        monkeypatch.setattr(TunedText, form, lambda *_: ["let nothing = 0;"])
    found = tuned(DeviceDraft(JOB._replace(rule=rule), NAME).program(), 60.0)
    assert found.tried
    assert {each.variant for each in found.tried if not each.fault} == set()


def test_a_long_kernel_is_run_a_few_times_alone(monkeypatch):
    """The time is bounded by runs of the longest kernel, too, not by its 16 repetitions."""
    program = DeviceDraft(JOB, NAME).program()
    monkeypatch.setattr(measuring, "LONG", 0.0)
    real, timed = running.PlanMachine.timed, []

    def counted(self, programs):
        timed.append(len(list(programs)))
        return real(self, programs)

    monkeypatch.setattr(running.PlanMachine, "timed", counted)
    found = tuned(program, 60.0)
    assert set(timed) == {1}
    assert len(timed) <= 2 * len(found.tried)


def test_what_a_device_refuses_while_it_is_tuned_ends_tuning_alone(own_folder, monkeypatch):
    def refusing(self, programs):
        raise GraphError("The device refuses it.")

    monkeypatch.setattr(running.PlanMachine, "timed", refusing)
    program = backend(NAME)(JOB).program()
    assert "not measured" in program.variants
    assert not own_folder.exists()


def test_a_run_tells_its_variants_in_log_and_plan(tmp_path):
    for path in (EXAMPLES / "iris").glob("iris.*"):
        shutil.copy(path, tmp_path)
    flags = ("--device", f"wgpu:{NAME}", "--log", "iris.jsonl", "--batch-size", "64")
    done = netsharp("run", "iris.nn", *flags, "--epochs", "2", cwd=tmp_path)
    assert done.code == 0, done.err
    start = json.loads((tmp_path / "iris.jsonl").read_text().splitlines()[0])
    schema("run-log.json").validate(start)
    assert "(measured in " in start["device"]["variants"]
    assert start["device"]["variants"] in done.out + done.err
    done = netsharp("run", "iris.nn", "--resume", *flags, "--epochs", "4", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "(measured before)" in done.out + done.err
    (kept,) = [json.loads(path.read_text()) for path in tmp_path.rglob("graphics/*.json")]
    output = netsharp("plan", "iris.nn", *flags[:2], "--batch-size", "64", cwd=tmp_path)
    assert output.code == 0, output.err
    assert (" by " in output.out) == bool(kept["values"])
