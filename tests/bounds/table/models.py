"""Bombs of model files."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable

from tests.bounds.bombs import Bomb, Files, of_files
from tests.bounds.table.trained import (
    HEADER,
    NETWORK,
    ROWS,
    chained,
    put_together,
    small_model,
    taken_apart,
)


def _models() -> list[Bomb]:
    commands = (
        "weights --list small.safetensors",
        "weights --spec small.safetensors",
        "describe small.safetensors",
        "predict small.safetensors --quiet --data t.csv",
    )

    def of(name: str, model: Callable[[int], bytes], most: int, least: int = 64) -> list[Bomb]:
        def files(n: int) -> Files:
            return {"small.safetensors": model(n), "t.csv": HEADER + ROWS}

        return [
            bomb
            for command in commands
            for bomb in of_files("model", name, command, files, most, least)
        ]

    def header(change: Callable[[dict[str, object], int], None]) -> Callable[[int], bytes]:
        def made(n: int) -> bytes:
            head, numbers = taken_apart(small_model())
            change(head, n)
            return put_together(head, numbers)

        return made

    def entry(name: str, text: Callable[[int], str]) -> Callable[[int], bytes]:
        def change(head: dict[str, object], n: int) -> None:
            known = head["__metadata__"]
            assert isinstance(known, dict)
            known[name] = text(n)

        return header(change)

    def tensors(head: dict[str, object], n: int) -> None:
        head |= {f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(n)}

    def dimensions(head: dict[str, object], n: int) -> None:
        head["t"] = {"dtype": "F32", "shape": [0] * n, "data_offsets": [0, 0]}

    def overflow(head: dict[str, object], n: int) -> None:
        head["t"] = {"dtype": "F32", "shape": [2**62] * (n + 2), "data_offsets": [0, 0]}

    def declared(n: int) -> bytes:
        return n.to_bytes(8, "little") + b"{" * min(n, 64)

    def trained(n: int) -> bytes:
        """A model of a layer of `n` cells, with four weights and a bias for each."""
        head, _ = taken_apart(small_model())
        known = head["__metadata__"]
        assert isinstance(known, dict)
        text = NETWORK.replace(b"H [2]", b"H [%d]" % n).decode()
        tensors: dict[str, object] = {}
        at = 0
        for name, shape in (
            ("B/H/weights", [2, n]),
            ("B/biases", [2]),
            ("H/A/weights", [n, 2]),
            ("H/biases", [n]),
        ):
            to = at + 4 * math.prod(shape)
            tensors[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, to]}
            at = to
        changed = {**known, "specification": json.dumps(text)}
        numbers = array("f", (math.sin(i) for i in range(at // 4)))
        return put_together({"__metadata__": changed, **tensors}, numbers.tobytes())

    def entries(head: dict[str, object], n: int) -> None:
        known = head["__metadata__"]
        assert isinstance(known, dict)
        known |= {f"k{i}": "1" for i in range(n)}

    return [
        *of("a long header of blanks", header(lambda head, n: None), 1, 1),
        *of("a header of letters", lambda n: n.to_bytes(8, "little") + b"a" * n, 2**27),
        *of("a header of brackets", lambda n: n.to_bytes(8, "little") + b"[" * n, 2**24),
        *of("a declared header", declared, 2**62),
        *of("tensors", header(tensors), 2**17),
        *of("dimensions", header(dimensions), 2**20),
        *of("shapes that overflow", header(overflow), 2**16),
        *of("entries", header(entries), 2**18),
        *of("a long entry", entry("answer", lambda n: "[" + "1," * n + "1]"), 2**20),
        *of("brackets in an entry", entry("answer", lambda n: "[" * n), 2**22),
        *of("a long number", entry("answer", lambda n: f"[{'9' * n}]"), 2**21),
        *of("a long version", entry("version", lambda n: "9" * n), 2**21),
        *of("a long specification", entry("specification", lambda n: json.dumps("/" * n)), 2**22),
        *of("layers", entry("specification", lambda n: json.dumps(chained(n).decode())), 2**12),
        *of("keys in settings", entry("settings", keys), 2**17),
        *of("weights", trained, 2**18, 2**15),
        *of("history", entry("history", lambda n: json.dumps([{"epoch": 1}] * n)), 2**17),
    ]


def keys(n: int) -> str:
    """An object of `n` keys."""
    return json.dumps({f"k{i}": i for i in range(n)})


BOMBS: tuple[Bomb, ...] = (*_models(),)
