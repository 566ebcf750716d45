"""What bombs of tables, models and networks share: a network, rows for it, a model of them."""

from __future__ import annotations

import json
from functools import cache

NETWORK = b"input A auto;\nhidden H [2] from A all;\noutput B auto from H all;\n"
HEADER, ROWS = b"x,y,label\n", b"1,2,a\n2,1,b\n" * 4
TRAIN = "run a.nn --label label --epochs 1 --batch-size 8 --quiet --model m.safetensors --train"
KNOWS = "--label label --task multiclass --data"


@cache
def small_model() -> bytes:
    """A model of the columns x, y and label, with the values that its file begins with."""
    import tempfile
    from pathlib import Path

    from netsharp_lsp.__main__ import main

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "a.nn").write_bytes(NETWORK)
        (place / "t.csv").write_bytes(HEADER + ROWS)
        model = place / "small.safetensors"
        options = f"--label label --epochs 1 --quiet --model {model} --train {place / 't.csv'}"
        assert main(["run", str(place / "a.nn"), *options.split()]) == 0
        return model.read_bytes()


def taken_apart(model: bytes) -> tuple[dict[str, object], bytes]:
    """The header of a model's file, and its numbers."""
    size = int.from_bytes(model[:8], "little")
    return json.loads(model[8 : 8 + size]), model[8 + size :]


def put_together(header: dict[str, object], numbers: bytes) -> bytes:
    """The opposite of `taken_apart`."""
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + numbers


def chained(n: int) -> bytes:
    """`n` layers in a chain."""
    layers = "".join(f"hidden H{i} [2] from {f'H{i - 1}' if i else 'A'} all;\n" for i in range(n))
    return f"input A [2];\n{layers}output B [2] from H{n - 1} all;\n".encode()
