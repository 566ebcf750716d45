"""Model files spoilt in every way, given to every command that reads one, in one process.

`python -m tests.e2e.damaged_models FOLDER FLIPS SEED` prints a JSON line for each answer that is
not a sentence, and one with the number of tries. FOLDER holds `net.nn`, `digits.csv` and a trained
`digits.safetensors`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import struct
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from netsharp_lsp.__main__ import main
from tests.costs import TRIES, now
from tests.e2e.workshop import LABELLED

MODEL = "digits.safetensors"
#: Bytes that the campaign may take, and processor seconds for one answer.
MEMORY = 3 << 30
SECONDS = 5.0
DEEP = "[" * 100_000
DIGITS = "9" * 5000
#: Texts of JSON that stand where an entry of another kind should.
KINDS = ("null", "3", "-1", "1e999", "NaN", "true", '""', "[]", "{}", "[[]]", '{"a": 1}', "{", "")
MONSTERS = (DEEP, f'{{"a": {DEEP}', DIGITS, f"[{DIGITS}]", f'{{"features": {DIGITS}}}')
#: Values that replace a value inside an entry.
INNER: tuple[Any, ...] = (
    *(None, -1, 0, 10**30, 1e308, float("nan"), float("inf"), True),
    *("", "x" * 10000, [], {}, [None], {"a": None}, [[1]], "\ud800"),
)
ENTRIES = (
    *("specification", "context", "settings", "encoding", "normalizer"),
    *("classes", "baseline", "reports", "history", "state", "format", "version"),
)

Metadata = dict[str, str]


def parts(content: bytes) -> tuple[Metadata, dict[str, np.ndarray]]:
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length])["__metadata__"], load(content)


def flips(content: bytes, count: int, random: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """One bit changed: half of the tries in the header, half in all of the file."""
    (length,) = struct.unpack("<Q", content[:8])
    for number in range(count):
        place = int(random.integers(0, 8 + length if number % 2 else len(content)))
        bit = int(random.integers(0, 8))
        damaged = bytearray(content)
        damaged[place] ^= 1 << bit
        yield f"bit {bit} of byte {place}", bytes(damaged)


def cuts(content: bytes, random: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    (length,) = struct.unpack("<Q", content[:8])
    places = [0, 1, 7, 8, 9, 8 + length, len(content) - 1, *random.integers(0, len(content), 20)]
    for place in map(int, places):
        yield f"cut at {place}", content[:place]
    yield "doubled", content * 2
    yield "a byte more", content + b"\0"


def headers(content: bytes) -> Iterator[tuple[str, bytes]]:
    (length,) = struct.unpack("<Q", content[:8])
    for lie in (0, 1, length - 1, length + 1, len(content), 2**31, 2**62, 2**63, 2**64 - 1):
        yield f"header of {lie} bytes", struct.pack("<Q", lie) + content[8:]
    head, body = content[8 : 8 + length].decode(), content[8 + length :]
    table = json.loads(head)
    name = next(key for key in table if key != "__metadata__")

    def made(text: str) -> bytes:
        data = text.encode("utf-8", "surrogatepass")
        return struct.pack("<Q", len(data)) + data + body

    for key, values in {
        "dtype": ("F16", "I64", "BOOL", "X", "", None, 3),
        "shape": ([], [0], [-1], [2**62, 2**62], [1, 1, 1], [10**30], None, "x", [1.5]),
        "data_offsets": ([0, 0], [0, 2**63], [8, 4], [-1, 3], [], None, [0], [10**30, 10**31]),
    }.items():
        for value in values:
            changed = {**table, name: {**table[name], key: value}}
            yield f"{key} {value}", made(json.dumps(changed))
    yield "names twice", made(head[:-1] + "," + head[1:])
    yield "deep header", made(DEEP)
    yield "no metadata", made(json.dumps({k: v for k, v in table.items() if k != "__metadata__"}))
    for value in (None, [], 3, {"format": 3}, {"format": None}):
        yield f"metadata {value}", made(json.dumps({**table, "__metadata__": value}))


def entries(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Each entry of the metadata taken away, of another kind, and with other values inside."""
    metadata, tensors = parts(content)
    for entry in ENTRIES:
        without = {name: text for name, text in metadata.items() if name != entry}
        yield f"no {entry}", save(tensors, without)
        for text in (*KINDS, *MONSTERS):
            yield f"{entry} = {text[:20]}", save(tensors, {**metadata, entry: text})
        if entry in ("format", "version") or entry not in metadata:
            continue
        for place, changed in changes(json.loads(metadata[entry])):
            yield f"{entry}{place}", save(tensors, {**metadata, entry: json.dumps(changed)})


def changes(value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """A value with one of its parts, some levels down, replaced or taken away."""
    if depth == 3 or not isinstance(value, dict | list) or not value:
        return
    keys = list(value) if isinstance(value, dict) else [0]
    for key in keys:
        for other in INNER:
            copy = value.copy()
            copy[key] = other
            yield f"[{key}] = {str(other)[:20]}", copy
        if isinstance(value, dict):
            yield f"[{key}] away", {name: each for name, each in value.items() if name != key}
        for place, changed in changes(value[key], depth + 1):
            copy = value.copy()
            copy[key] = changed
            yield f"[{key}]{place}", copy


def versions(content: bytes) -> Iterator[tuple[str, bytes]]:
    metadata, tensors = parts(content)
    for version in ("0", "-1", "2", "1.0", "x", "", " 1", "\u0661", "²", DIGITS, "1" * 10**6):
        yield f"version {version[:12]}", save(tensors, {**metadata, "version": version})


def arrays(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Tensors swapped, lost, added, of another shape or type, and with numbers that are none."""
    metadata, tensors = parts(content)
    names = sorted(tensors)
    for name in names:
        array = tensors[name]
        yield f"no {name}", save({k: v for k, v in tensors.items() if k != name}, metadata)
        for other in names:
            if other > name and tensors[other].shape != array.shape:
                swapped = {**tensors, name: tensors[other], other: array}
                yield f"{name} and {other}", save(swapped, metadata)
                break
        for kind in (np.float16, np.int64, np.uint8, np.bool_, np.float64, np.float32):
            if array.dtype != kind:
                changed = {**tensors, name: array.astype(kind)}
                yield f"{name} as {np.dtype(kind)}", save(changed, metadata)
        for shape in ((array.size,), (1, *array.shape), (*array.shape, 1), array.shape[::-1]):
            if shape != array.shape:
                changed = {**tensors, name: array.reshape(shape)}
                yield f"{name} as {shape}", save(changed, metadata)
        for number in (np.nan, np.inf, -np.inf):
            spoilt = array.copy()
            spoilt.flat[array.size // 2] = number
            yield f"{name} with {number}", save({**tensors, name: spoilt}, metadata)
    for name in ("a", "state/x/y/z", "state/first/A/B/weights", "", "/", "\x1b[31m/weights"):
        extra = {**tensors, name: np.zeros(3, np.float32)}
        yield f"also {name!r}", save(extra, metadata)
    yield "empty tensor", save({**tensors, "a": np.zeros((0, 3), np.float32)}, metadata)
    yield "no tensors", save({}, metadata)


def commands(model: str) -> tuple[tuple[str, ...], ...]:
    table = ("--data", "digits.csv")
    return (
        ("predict", model, *table, "--quiet", "--rows", "3"),
        ("evaluate", model, *table, "--quiet", "--label", "digit", "--rows", "3"),
        ("weights", model),
        ("weights", model, "--spec"),
        ("describe", model),
        ("diff", model, "net.nn"),
        (
            *("run", "net.nn", "--train", "digits.csv", *LABELLED, "--resume", "--quiet"),
            *("--epochs", "3", "--model", model),
        ),
    )


def answer(command: tuple[str, ...]) -> tuple[int, str, str, float]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    begun = now()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command)
    out.flush()
    raw = out.buffer.getvalue().decode() if not out.closed else ""
    return code, raw, err.getvalue(), now() - begun


def fault(command: tuple[str, ...], got: tuple[int, str, str, float]) -> str:
    """What is wrong with an answer; nothing where it is a sentence, or a sound answer."""
    code, out, err, seconds = got
    if "internal error" in err or "Traceback" in err:
        return err.strip()[:200]
    if "not enough memory" in err:
        return "memory"
    if seconds > SECONDS:
        return f"{seconds:.1f} seconds"
    if code not in ((0, 1, 2) if command[0] in ("describe", "diff", "run") else (0, 2)):
        return f"exit {code}"
    if command[0] in ("describe", "diff") and err.startswith("error["):
        return ""  # the specification inside has become a faulty one
    if code == 2 and (len(err.splitlines()) != 1 or len(err) > 1000):
        return f"{len(err)} characters: {err[:200]}"
    if code == 0 and command[0] in ("predict", "weights") and re.search(r"\b(nan|inf)\b", out):
        return "answers that are no numbers"
    if code and command[0] in ("predict", "weights") and out:
        return "an answer beside the sentence"
    return ""


def spoilt(content: bytes, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    random = np.random.default_rng(seed)
    yield from flips(content, count, random)
    yield from cuts(content, random)
    yield from headers(content)
    yield from versions(content)
    yield from arrays(content)
    yield from entries(content)


def campaign(folder: str, count: int, seed: int, share: int) -> Iterator[dict[str, Any]]:
    """Every `share`-th of the spoilt files, flips but in all `count`, to every command."""
    os.chdir(folder)
    with open(MODEL, "rb") as stream:
        content = stream.read()
    tries = 0
    for number, (what, damaged) in enumerate(spoilt(content, count, seed)):
        if number >= count and number % share:
            continue
        for command in commands("spoilt.safetensors"):
            tries += 1
            wrong = tried(command, damaged)
            if wrong:
                yield {"what": what, "command": command[0], "wrong": wrong}
    yield {"tries": tries}


def tried(command: tuple[str, ...], damaged: bytes) -> str:
    """What is wrong with the answer to a spoilt file; one that takes long is asked for again, as
    something else may have been in its way.
    """
    wrong = ""
    for _ in range(TRIES):
        # Resuming rewrites the model.
        with open("spoilt.safetensors", "wb") as stream:
            stream.write(damaged)
        got = answer(command)
        wrong = fault(command, got)
        if got[3] <= SECONDS:
            break
    return wrong


if __name__ == "__main__":
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for result in campaign(sys.argv[1], *map(int, sys.argv[2:5])):
        print(json.dumps(result), flush=True)
