"""The work of a training process apart from training: meeting and agreeing with the others.

Errors of one become those of all, so that none waits; the first of each machine prints them.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from netsharp_engine.data import DataError
from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_engine.graph import GraphError
from netsharp_engine.model import ModelError
from netsharp_engine.plain_files import open_plain
from netsharp_engine.train import TrainingError
from netsharp_engine.train.session import PLACES
from netsharp_engine.train.settings.keys import BLOCKS
from netsharp_lsp import __version__
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.cli.machines.launching import CODE, CONNECTED, FOLDER, LOADED, MET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netsharp_engine.model import Model
    from netsharp_engine.train import TrainingData
    from netsharp_lsp.cli.machines.options import Machines

Value = TypeVar("Value")
#: The exit code of a process that has lost the others: torchrun restarts all of them.
LOST = 75
#: In the folder of a run, where this machine has saved a model of it: after how many steps.
SAVED = "saved"
#: The number of trials of the sum of gradients.
_TRIES = 9


class DisagreementError(Exception):
    """An error of one process, or a difference between them, as sentences."""

    def __init__(self, *sentences: str) -> None:
        super().__init__(" ".join(sentences))
        self.sentences = sentences


def joined(machines: Machines | None) -> Ranks:
    """Return the processes of this training; raises CommError where they do not find each other."""
    if machines is None:
        return ALONE
    from netsharp_engine.distributed.following import end_with_parent

    end_with_parent()
    _leave(MET, "")  # torchrun starts processes where machines have met
    from netsharp_engine.distributed.group import TorchComm

    _leave(LOADED, "")
    ranks = Ranks(TorchComm())
    _leave(CONNECTED, "")
    compared(ranks, "version of netsharp", __version__)
    return ranks


def agreed(ranks: Ranks, work: Callable[[], Value]) -> Value:
    """Return this process's result of some work if all succeed. Raises DisagreementError."""
    if ranks.alone:
        return work()
    fault, found = "", None
    try:
        found = work()
    except (DataError, TrainingError, ModelError, GraphError) as error:
        fault = str(error)
    gathered = _gathered(ranks, fault)
    if any(gathered):
        faulty = [rank for rank, one in enumerate(gathered) if one]
        sentences = list(dict.fromkeys(one for one in gathered if one))
        if len(faulty) < ranks.comm.size:
            hosts = _gathered(ranks, socket.gethostname())
            sentences = [f"Process {rank} on {hosts[rank]}: {gathered[rank]}" for rank in faulty]
        raise DisagreementError(*(line for one in sentences for line in one.splitlines()))
    assert found is not None
    return found


def compared(ranks: Ranks, what: str, own: str) -> None:
    """Raise DisagreementError, a sentence, where processes have another ``what``."""
    if ranks.alone:
        return
    gathered = _gathered(ranks, own)
    other = next((rank for rank, one in enumerate(gathered) if one != gathered[0]), None)
    hosts = _gathered(ranks, socket.gethostname())
    if other is not None:
        raise DisagreementError(
            f"The processes have not the same {what}: {gathered[0]} (process 0 on {hosts[0]}), "
            f"{gathered[other]} (process {other} on {hosts[other]})."
        )


def compared_settings(ranks: Ranks, values: Mapping[str, Any]) -> None:
    """Raise DisagreementError, a sentence, where processes train by other settings.

    Where files lie may differ from machine to machine.
    """
    own = {key: value for key, value in values.items() if key not in PLACES}
    every = [json.loads(one) for one in _gathered(ranks, json.dumps(own))]
    for key in sorted(set().union(*every)):
        if any(one.get(key) != every[0].get(key) for one in every):
            compared(ranks, f"setting {key}", json.dumps(own.get(key)))


def with_one_order(ranks: Ranks, data: TrainingData) -> TrainingData:
    """Return data that all processes shuffle alike: by blocks where one lacks room to reorder."""
    gathered = _gathered(ranks, str(data.settings.shuffle))
    if BLOCKS not in gathered or data.settings.shuffle == BLOCKS:
        return data
    return replace(data, settings=replace(data.settings, shuffle=BLOCKS))


def in_turns(ranks: Ranks, work: Callable[[], Value]) -> Value:
    """Return the result of some work, which the first process of each machine does before the
    others.

    So these find what it has kept.
    """
    if ranks.alone:
        return work()
    first = os.environ["LOCAL_RANK"] == "0"

    def done() -> tuple[Value | None]:
        return (work() if first else None,)

    (found,) = agreed(ranks, done)

    def others() -> Value:
        return work() if found is None else found

    return agreed(ranks, others)


def model_to_resume(
    ranks: Ranks, machines: Machines | None, path: str, resumes: bool
) -> str | None:
    """Return the path of the model from which all go on; None where the run begins.

    That is the newest that this run has saved, where its processes were lost, else, if ``resumes``,
    the one at ``path`` on the machine of process 0.  Other machines get a copy.
    """
    if machines is None:
        return path if resumes else None
    held = _steps_saved() if os.path.isfile(path) else -1
    steps = [int(one) for one in _gathered(ranks, str(held))]
    if max(steps) < 0 and not resumes:
        return None
    holder = steps.index(max(steps)) if max(steps) >= 0 else 0
    if machines.nodes == 1:
        return path
    data = np.zeros(0, np.uint8)
    if ranks.comm.rank == holder and os.path.isfile(path):
        with open_plain(path) as stream:
            data = np.frombuffer(stream.read(), np.uint8).copy()
    size = int(_gathered(ranks, str(len(data)))[holder])
    if not size:
        raise DisagreementError(f"{path}: there is no such model on the machine of process 0.")
    data = data if len(data) else np.zeros(size, np.uint8)
    ranks.comm.broadcast(data, holder)
    copy = os.path.join(_folder(), f"resumed-{ranks.comm.rank}.safetensors")
    data.tofile(copy)
    return copy


def report_restart(ranks: Ranks, machines: Machines | None, model: Model) -> None:
    """Report that processes were lost, and where the others continue."""
    if ranks.leads and machines is not None and machines.restarted and model.state is not None:
        steps = model.state.step
        complain(f"Processes of this training were lost: it continues after step {steps:,}.")


def note_saved(steps: int) -> None:
    """Note that this machine has a model of this run after ``steps`` steps."""
    _leave(SAVED, str(steps))


def record(code: int) -> None:
    """Leave the result of the run to the launcher of this machine's processes."""
    _leave(CODE, str(code))


def met(ranks: Ranks, machines: Machines, numbers: int = 1, data: str = "") -> list[str]:
    """Return the result of a check as lines; a step adds up ``numbers`` numbers.

    Data that processes read themselves when they train is not part of ``data`` yet.
    """
    places = _gathered(ranks, f"{os.environ.get('GROUP_RANK', '0')} {socket.gethostname()}")
    each = sorted(set(Counter(places).values()))
    count = " or ".join(map(str, each))
    hosts = dict.fromkeys(place.partition(" ")[2] for place in places)
    gradient = np.zeros(numbers, np.float32)
    seen = []
    for _ in range(_TRIES):
        started = time.perf_counter()
        ranks.comm.all_reduce_(gradient)
        seen.append(time.perf_counter() - started)
    return [
        f"{ranks.comm.size} processes met, {count} on each of {machines.nodes} machines: "
        f"{', '.join(hosts)}.",
        f"All have netsharp {__version__}"
        + (f", the same settings and the same data: {data}." if data else "."),
        f"Adding up the gradients of a step takes {1000 * median(seen):.2g} ms.",
    ]


def _leave(name: str, text: str) -> None:
    """Leave a word to the other processes of this machine and to what started them."""
    path = os.path.join(_folder(), name)
    own = f"{path}.{os.getpid()}"
    with open(own, "w", encoding="ascii") as stream:
        stream.write(text)
    os.replace(own, path)


def _folder() -> str:
    return os.environ.get(FOLDER, ".")


def _steps_saved() -> int:
    with suppress(OSError, ValueError), open_plain(os.path.join(_folder(), SAVED)) as stream:
        return int(stream.read())
    return -1


def _gathered(ranks: Ranks, text: str) -> list[str]:
    return [one.decode() for one in ranks.comm.gather(text.encode())]
