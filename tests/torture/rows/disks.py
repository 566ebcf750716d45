"""Full disks and closed streams: a sentence that names the file, the old content, no leftover."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.torture import training
from tests.torture.campaign import Report, Row, Try
from tests.torture.process import Ended, contents, faults, leftovers, netsharp, torn
from tests.torture.workshop import MODEL, REWRITING, furnish, rewritten, write_ugly

FULL = "/dev/full"
#: What writes one file, and its name; the old one has to survive.
WRITING: tuple[tuple[tuple[str, ...], str], ...] = (
    ((*training.TRAIN, "--epochs", "2", "--model", "old.bin"), "old.bin"),
    ((*training.TRAIN, "--epochs", "2", "--model", "m.safetensors", "--log", "old.bin"), "old.bin"),
    (
        (*training.TRAIN, "--epochs", "2", "--model", "m.safetensors", "--plot", "old.svg"),
        "old.svg",
    ),
    (("predict", MODEL, "--data", "digits.csv", "--output", "old.csv"), "old.csv"),
    (("predict", MODEL, "--data", "digits.csv", "--output", "old.jsonl"), "old.jsonl"),
    (("predict", MODEL, "--data", "digits.csv", "--output", "old.parquet"), "old.parquet"),
    (("weights", MODEL, "--output", "old.nn"), "old.nn"),
    (
        ("check", "net.nn", "net000.nn", "--format", "sarif", "--output-file", "old.json"),
        "old.json",
    ),
    (("describe", "net.nn", "--format", "svg", "--output", "old.svg"), "old.svg"),
)
#: A log grows as the run does: what was written before the disk was full is there.
GROWING = ("--log",)
#: What speaks on standard output.
SPEAKING: tuple[tuple[str, ...], ...] = (
    ("check", "."),
    ("check", ".", "--format", "json"),
    ("fmt", "--diff", "."),
    ("describe", "net.nn"),
    ("explain", "NS001"),
    ("--version",),
    ("--help",),
    ("predict", MODEL, "--data", "digits.csv"),
    ("evaluate", MODEL, "--data", "digits.csv", "--label", "digit"),
    ("weights", MODEL),
    ("diff", "net.nn", "net.nn"),
    (*training.TRAIN[:-2], "--epochs", "3", "--model", "m.safetensors", "--events"),
)
#: With less space than this, processes cannot even exchange their messages.
LEAST = 100
OLD = b"what was there before\n"


def attempt(one: Try) -> Report:
    """Let a command run out of room for a file, for all files, or for what it says."""
    tries: tuple[Callable[[Try], list[str]], ...] = (_one_file, _rewriting, _output, _one_file)
    return Report(1, tries[one.number % len(tries)](one))


def _one_file(one: Try) -> list[str]:
    furnish(one.folder)
    write_ugly(one.folder, 1)
    command, name = one.chance.choice(WRITING)
    (one.folder / name).write_bytes(OLD)
    before = contents(one.folder)
    room = one.chance.choice((LEAST, 500, one.chance.randrange(LEAST, 20_000)))
    done = netsharp(*command, cwd=one.folder, file_size=room)
    found = faults(done, {0, 1, 2, 130})
    now = contents(one.folder)
    if done.code == 2:
        if now[name] != OLD and not set(GROWING) & set(command):
            found.append(f"{done}: the old {name} is gone")
        if "old." not in done.output and "m.safetensors" not in done.output:
            found.append(f"{done}: names no file")
    return found + leftovers(one.folder, before, ("m.safetensors", name))


def _rewriting(one: Try) -> list[str]:
    command = list(REWRITING)[one.chance.randrange(len(REWRITING))]
    _, before, after = rewritten(command)
    REWRITING[command](one.folder)
    sizes = [len(data) for data in after.values()]
    done = netsharp(*command, cwd=one.folder, file_size=one.chance.randrange(LEAST, max(sizes)))
    found = faults(done, {0, 1, 2}) + torn(before, after, one.folder)
    stuck = [name for name in after if contents(one.folder).get(name) != after[name]]
    if stuck and not any(Path(name).name in done.output for name in stuck):
        found.append(f"{done}: names none of the files that could not be written")
    return found + leftovers(one.folder, before, after)


def _output(one: Try) -> list[str]:
    """No reader: closed streams, a full device, a reader that has gone."""
    furnish(one.folder)
    write_ugly(one.folder, 3)
    command = one.chance.choice(SPEAKING)
    how = one.chance.choice(
        ("full", "full errors", "closed", "closed errors", "closed all", "gone")
    )
    done = _unheard(one.folder, command, how)
    found = faults(done, {0, 1, 2, 141, 130}, heard=how in ("full", "closed", "gone"))
    if how in ("full", "closed") and done.code == 0 and command[0] != "run":
        found.append(f"{done}: output {how}, and nothing says so")
    if "--events" in command:
        model = one.folder / "m.safetensors"
        if not model.exists() or (how != "gone" and done.code not in (0, 2)):
            found.append(f"{done}: output {how}, and the training was lost")
    return found


def _unheard(folder: Path, command: tuple[str, ...], how: str) -> Ended:
    streams = {
        "closed": (1,),
        "closed errors": (2,),
        "closed all": (0, 1, 2),
    }.get(how, ())

    def close() -> None:
        for number in streams:
            os.close(number)

    if how == "gone":
        reading, writing = os.pipe()
        os.close(reading)
        target: int | None = writing
    else:
        target = os.open(FULL, os.O_WRONLY) if how.startswith("full") else None
    stream = {"stderr" if how == "full errors" else "stdout": target} if target is not None else {}

    try:
        return netsharp(*command, cwd=folder, prepare=close, **stream)
    finally:
        if target is not None:
            os.close(target)


ROW = Row(
    "disks",
    "no room for a file (RLIMIT_FSIZE), a full device or a closed stream for what is said: a "
    "sentence that names the file, old content intact, nothing left over, no training lost",
    attempt,
)
