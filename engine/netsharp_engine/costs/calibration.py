"""The rates of this machine: measured once in a second or two, kept in the user's folder, and
measured again where what is kept is damaged or of another machine.

It must not know the networks that are trained.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine import stored
from netsharp_engine.costs.prediction import BLOCK, STEP, drafted_run, work_of_run
from netsharp_engine.data import Table
from netsharp_engine.data.storage.json_files import (
    MOST_BYTES,
    path_of_key,
    read_values,
    write_values,
)
from netsharp_engine.data.storage.places import users_folder
from netsharp_engine.graph import Graph
from netsharp_engine.numpy_backend import (
    NumpyDraft,
    Rate,
    Rates,
    measured_rates,
    rates_in,
    rates_out,
    seconds_of,
    thread_limit,
)
from netsharp_engine.plain_files import open_plain
from netsharp_engine.train.loop import Run
from netsharp_engine.train.preparation import prepare
from netsharp_engine.train.settings import TrainingSettings, read_settings

#: Another number here makes kept rates be measured again.
VERSION = 3
FOLDER = "rates"
#: The rows, the steps of an epoch and the epochs of the small run that measures the time around
#: calls.
ROWS, BATCH_ROWS, EPOCHS = 512, 8, 7
#: The keys under which systems name a processor.
KNOWN_CPU = {
    "model name": "",
    "cpu family": "family ",
    "model": "model ",
    "stepping": "stepping ",
}


class Machine(NamedTuple):
    """The machine that rates are valid for; those of another are useless."""

    cpu: str
    cores: int
    system: str
    numpy: str
    version: str
    compiled: bool
    dtype: str

    @classmethod
    def here(cls, version: str, dtype: str) -> Machine:
        """Return this machine, for a version of ours and a type of numbers."""
        return cls(
            _processor(),
            os.cpu_count() or 1,
            f"{platform.system()} {platform.machine()}",
            np.__version__,
            version,
            find_spec("netsharp_engine._twins") is not None,
            dtype,
        )


class Calibration(NamedTuple):
    """Rates, and whether they were kept before (else they were measured now)."""

    rates: Rates
    kept: bool


def calibrated(
    machine: Machine,
    folder: str | None = None,
    measure: Callable[[str], dict[str, Rate]] | None = None,
) -> Calibration:
    """Return the rates of a machine, measured where none are kept that can be used.

    ``folder`` is where they are kept, the user's own by default; where nothing can be kept they are
    measured each time.
    """
    path = path_of_key(users_folder(FOLDER) if folder is None else folder, machine)
    found = None if path is None else _read(path, machine)
    if found is not None:
        return Calibration(found, True)
    rates = (measure or measured)(machine.dtype)
    if path is not None:
        _write(path, machine, rates)
    return Calibration(rates, False)


def measured(dtype: str) -> dict[str, Rate]:
    """Measure all rates, with one thread."""
    with thread_limit(1):
        rates = measured_rates(dtype)
        return {**rates, **_surroundings(rates, dtype)}


def _read(path: str, machine: Machine) -> dict[str, Rate] | None:
    """Return the rates in a file; None where there are none of this machine."""
    values = read_values(path, VERSION)
    try:
        if values is None or stored.table(values, "machine") != machine._asdict():
            return None
        rates = rates_in(stored.table(values, "rates"))
        return rates if stored.items(values, "kinds") == sorted(rates) else None
    except ValueError:
        return None


def _write(path: str, machine: Machine, rates: Rates) -> None:
    values = {"machine": machine._asdict(), "kinds": sorted(rates), "rates": rates_out(rates)}
    write_values(path, VERSION, values)


def _processor() -> str:
    """Return a text that distinguishes the processor from others, where the system has one."""
    try:
        with open_plain("/proc/cpuinfo") as stream:
            lines = stream.read(MOST_BYTES).decode(errors="replace").splitlines()
    except OSError:
        lines = []
    found: dict[str, str] = {}
    for name, _, value in (line.partition(":") for line in lines):
        found.setdefault(name.strip(), value.strip())
    facts = [f"{before}{found[name]}" for name, before in KNOWN_CPU.items() if name in found]
    return ", ".join(facts) or platform.processor()


def _surroundings(rates: Rates, dtype: str) -> Mapping[str, Rate]:
    """Return the rates of a step, and of a block of rows that is measured, beside their calls."""
    graph = Graph()
    source = graph.input("source", (2,))
    weights = graph.parameter("weights", (2, 2))
    made = graph.apply("full", source, parameters=[weights])
    graph.set_output(graph.apply("activation", made, name="output", function="softmax"))
    random = np.random.default_rng(0)
    table = Table.from_arrays(random.standard_normal((ROWS, 2)), np.arange(ROWS) % 2, dtype=dtype)
    settings = read_settings(
        {}, {"batch_size": BATCH_ROWS, "epochs": EPOCHS, "optimizer": "sgd", "dtype": dtype}
    )
    assert isinstance(settings, TrainingSettings)
    times = []

    def ended(event: dict[str, Any]) -> None:
        if event["event"] in ("start", "epoch"):
            times.append(time.perf_counter())

    run = Run(graph, prepare(table, settings), settings, NumpyDraft, ended)
    run.run()
    blocks = []
    for _ in range(EPOCHS):
        began = time.perf_counter()
        run.training_report()
        blocks.append(time.perf_counter() - began)
    epochs = [later - earlier for earlier, later in pairwise(times)]
    work = work_of_run(graph, settings, drafted_run(graph, settings, BATCH_ROWS))
    known = [each for one in work.layers.values() for each in (*one.forward, *one.backward)]
    known += [work.update, *(each for each in work.around if each.kind != STEP)]
    measuring = [each for each in work.block if each.kind != BLOCK]
    return {
        STEP: _rest(epochs, ROWS // BATCH_ROWS, seconds_of(rates, known)),
        BLOCK: _rest(blocks, ROWS // 64, seconds_of(rates, measuring)),
    }


def _rest(seconds: list[float], count: int, known: float) -> Rate:
    """Return the rate of a call: the seconds that remain of ``count`` calls beside the ``known``
    work of one.
    """
    quarter = statistics.quantiles(seconds, method="inclusive")[0]
    return Rate(max(quarter / count - known, 0.0), (), (0.0,))
