"""A training that is disturbed and resumed: it ends with the bits of an undisturbed one."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from tests.torture import workshop
from tests.torture.process import Child, Ended, contents, faults, leftovers, netsharp, start

MODEL = "part.safetensors"
LOG = "run.jsonl"
#: As long as a disturbance needs to find it at work, and no longer.
EPOCHS = 60
TRAIN = (
    *("run", "net.nn", *workshop.LABELLED, "--seed", "5", "--batch-size", "8", "--quiet"),
    *("--momentum", "0.9", "--validation", "0.2", "--epochs", str(EPOCHS)),
)
#: A run of seconds is kept as often as one of days.
HASTY = ("--checkpoint", "0.05")
#: What a run's folder holds besides what was furnished.
KNOWN = (MODEL, LOG)


@cache
def undisturbed() -> tuple[bytes, float]:
    """The file of a model whose training was not disturbed, and the seconds that it took."""
    folder = workshop.shelf() / "undisturbed"
    workshop.furnish(folder)
    done = netsharp(*TRAIN, *HASTY, "--model", MODEL, "--log", LOG, cwd=folder)
    assert done.code == 0, done
    return (folder / MODEL).read_bytes(), done.wall


def begin(folder: Path) -> Child:
    """Start a training in a furnished folder."""
    workshop.furnish(folder)
    return start(*TRAIN, *HASTY, "--model", MODEL, "--log", LOG, cwd=folder)


def go_on(folder: Path) -> list[str]:
    """Resume; what is wrong, be it that a bit of the model differs in the end."""
    model = folder / MODEL
    if not model.exists():
        return []
    kept = folder.parent / "kept"
    kept.mkdir(exist_ok=True)
    shutil.copy(model, kept)
    looked = netsharp("weights", MODEL, "--list", cwd=folder)
    found = faults(looked, {0})
    done = netsharp(*TRAIN, *HASTY, "--model", MODEL, "--log", LOG, "--resume", cwd=folder)
    if is_finished(done):
        return found
    found += faults(done, {0})
    if done.code == 0 and tensors(model) != tensors_of(undisturbed()[0]):
        found.append("the resumed model differs from that of an undisturbed run")
    return found + leftovers(folder, contents(workshop.trained()), KNOWN)


def is_finished(done: Ended) -> bool:
    """Whether a run was over when it was to go on."""
    return done.code == 2 and b"finished" in done.err


def tensors(path: Path) -> bytes:
    return tensors_of(path.read_bytes())


def tensors_of(model: bytes) -> bytes:
    """The numbers of a model file, after its header: weights, state and all."""
    length = int.from_bytes(model[:8], "little")
    return model[8 + length :]
