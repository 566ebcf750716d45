"""Damaged models: read as what they say, or refused with one sentence that names them."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from typing import Any

from tests.torture import workshop
from tests.torture.campaign import Report, Row, Try
from tests.torture.process import Ended, faults, netsharp

NAME = "damaged.safetensors"
COMMANDS = (
    ("predict", NAME, "--data", "digits.csv", "--output", "p.csv"),
    ("evaluate", NAME, "--data", "digits.csv", "--label", "digit"),
    ("weights", NAME),
    ("weights", NAME, "--list"),
    ("run", "net.nn", *workshop.LABELLED, "--resume", "--epochs", "3", "--quiet", "--model", NAME),
    ("describe", NAME),
    ("diff", "net.nn", NAME),
)
#: Values that replace an expected one.
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1e308, "", "x", "\ud800", "9" * 5000, 10**400, [], {}, [[]], [None]),
    *({"a": None}, [1] * 1000, "NaN", "1" + "0" * 400, "[" * 3000, '{"a":' * 3000, "\0", "-1", "2"),
)
NUMBERS = (float("nan"), float("inf"), -float("inf"), 3e38, 1e-45)


def attempt(one: Try) -> Report:
    """Damage a model and use it."""
    workshop.furnish(one.folder)
    whole = (one.folder / workshop.MODEL).read_bytes()
    damage = (_flips, _head, _metadata, _values, _entries)[one.number % 5]
    (one.folder / NAME).write_bytes(damage(whole, one.chance))
    done = netsharp(*one.chance.choice(COMMANDS), cwd=one.folder)
    return Report(1, checked(done, NAME))


def checked(done: Ended, name: str) -> list[str]:
    """Faults of an answer; a refusal is a sentence or a few, and says which file."""
    found = faults(done, {0, 1, 2})
    if done.code == 2:
        output = done.err.decode("utf-8", "replace")
        if "netsharp: " not in output and "error[" not in output:
            found.append(f"{done}: no sentence")
        if len(max(output.splitlines(), key=len, default="")) > 2_000:
            found.append(f"{done}: a sentence of {len(output):,} characters")
    return found


def _flips(whole: bytes, chance: random.Random) -> bytes:
    return workshop.flipped(whole, chance)


def _parts(whole: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(whole[:8], "little")
    return json.loads(whole[8 : 8 + length]), whole[8 + length :]


def _joined(head: bytes, numbers: bytes) -> bytes:
    return struct.pack("<Q", len(head)) + head + numbers


def _head(whole: bytes, chance: random.Random) -> bytes:
    """Flips in the head alone, where names, shapes and the description of the data stand."""
    length = int.from_bytes(whole[:8], "little")
    return _joined(workshop.flipped(whole[8 : 8 + length], chance, 3), whole[8 + length :])


def _metadata(whole: bytes, chance: random.Random) -> bytes:
    """An entry, or a value anywhere inside one, of another kind."""
    head, numbers = _parts(whole)
    entries = head["__metadata__"]
    name = chance.choice(sorted(entries))
    if chance.random() < 0.3:
        entries[name] = chance.choice((*(one for one in ODD if isinstance(one, str)), None))
        if entries[name] is None:
            del entries[name]
    elif name in ("format", "version"):
        entries[name] = json.dumps(chance.choice(ODD))
    else:
        value = json.loads(entries[name])
        entries[name] = json.dumps(_replaced(value, chance))
    return _joined(json.dumps(head).encode("utf-8", "surrogatepass"), numbers)


def _replaced(value: Any, chance: random.Random) -> Any:
    """A value in which one place holds something odd, or is missing."""
    if isinstance(value, (dict, list)) and value and chance.random() < 0.8:
        places: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        place = chance.choice(places)
        if chance.random() < 0.15:
            del value[place]
        else:
            value[place] = _replaced(value[place], chance)
        return value
    return chance.choice(ODD)


def _values(whole: bytes, chance: random.Random) -> bytes:
    """Weights that are not numbers, or with which nothing can be computed."""
    head, numbers = _parts(whole)
    filled = bytearray(numbers)
    names = [name for name in head if name != "__metadata__"]
    for name in chance.sample(names, chance.randint(1, len(names))):
        start, end = head[name]["data_offsets"]
        size, code = {"F64": (8, "d"), "F32": (4, "f")}.get(head[name]["dtype"], (0, ""))
        if size and end > start:
            value = struct.pack(f"<{code}", chance.choice(NUMBERS))
            some = range(start, end, size * chance.choice((1, 7)))
            for at in some:
                filled[at : at + size] = value
    return whole[: len(whole) - len(numbers)] + bytes(filled)


def _entries(whole: bytes, chance: random.Random) -> bytes:
    """Tensors with other names, shapes, kinds and places."""
    head, numbers = _parts(whole)
    names = [name for name in head if name != "__metadata__"]
    name = chance.choice(names)
    change: Callable[[], object] = chance.choice(
        (
            lambda: head.pop(name),
            lambda: head.update({chance.choice(("x", "", "a/b", "é\0")): head.pop(name)}),
            lambda: head[name].update(shape=chance.choice(([], [0], [2**62, 4], [-1], [1, 1]))),
            lambda: head[name].update(shape=[*head[name]["shape"], 1]),
            lambda: head[name].update(dtype=chance.choice(("F16", "I64", "BOOL", "BF16", "X", 3))),
            lambda: head[name].update(data_offsets=chance.choice(([0, 8], [8, 0], [0, 2**60]))),
            lambda: head.update({name: chance.choice(ODD)}),
        )
    )
    change()
    return _joined(json.dumps(head).encode("utf-8", "surrogatepass"), numbers)


ROW = Row(
    "models",
    "models with flipped, cut or foreign bytes, metadata and tensors of wrong kinds, weights that "
    "are no numbers: predict, evaluate, weights, run --resume, describe, diff say a sentence",
    attempt,
)
