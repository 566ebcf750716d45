"""Model files of both formats with bytes changed: opened, or refused with the byte."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Iterator

import numpy as np

from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.opening import open_stored
from netsharp_engine.cntk.stored.values import StoredModel
from netsharp_lsp.cntk.networks.stored import network_in
from tests.cntk.training.model_writing import First, large, size, sparse, text
from tests.cntk.training.test_model_dictionaries import layered
from tests.cntk.training.test_model_versions import everything

#: Numbers that files count with, which say more than there is.
_COUNTS = (0, 1, 255, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 64) - 1)


def trial(chance: random.Random) -> Iterator[bytes]:
    """A dozen files, all of one that is whole."""
    data = _whole(chance)
    yield data
    _check(data)
    for _ in range(11):
        damaged = _damaged(data, chance)
        yield damaged
        _check(damaged)


def _whole(chance: random.Random) -> bytes:
    """A file as some program could have written it."""
    kind = chance.randrange(5)
    if kind < 2:
        out, _, _ = everything(chance.randint(1, 27), "float32")
        return out.data([("FeatureNodes", ["x"]), ("OutputNodes", ["t"])])
    if kind == 2:
        plain = First(14)
        dense = np.eye(3, 5, dtype=np.float32)
        plain.parameter("W", dense.T, body=sparse(dense, chance.choice((6, 7))))
        return plain.data()
    layers, _, root = layered(chance.randint(1, 3), chance.randrange(1 << 30))
    if kind == 3:
        return layers.data(root)
    return large(layers.values(root)) if chance.random() < 0.5 else _checkpoint(chance)


def _checkpoint(chance: random.Random) -> bytes:
    out = text("BVersion") + size(2) + text("EVersion") + text("BCKP") + text("BLearnRate")
    out += struct.pack("<Qdd", chance.randrange(1 << 20), 0.1, 0.5) + text("ELearnRate")
    return out + text("BGradient") + text("EGradient") + text("ECKP")


def _damaged(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        at = chance.randrange(len(data) + 1)
        how = chance.randrange(5)
        if how == 0:
            data = data[:at]
        elif how == 1:
            data = data[:at] + data[at + chance.randint(1, 20) :]
        elif how == 2:
            data = data[:at] + chance.randbytes(chance.randint(1, 8)) + data[at:]
        elif how == 3:
            data = data[:at] + chance.randbytes(1) + data[at + 1 :]
        else:
            form = chance.choice(("<Q", "<I"))
            count = chance.choice(_COUNTS) & ((1 << 8 * struct.calcsize(form)) - 1)
            data = data[:at] + struct.pack(form, count) + data[at + struct.calcsize(form) :]
    return data


def _check(data: bytes) -> None:
    """Open a file, wholly and as far as it goes; what refuses it is a sentence with its byte."""
    for partial in (False, True):
        found = _opened(data, partial=partial)
        if isinstance(found, str):
            assert re.match(r"byte [\d,]+: .", found), found
            assert "\n" not in found
        elif isinstance(found, StoredModel):
            assert partial or not found.faults
            network_in(found, "")


def _opened(data: bytes, *, partial: bool) -> object:
    """What a file holds, or why it cannot be used."""
    try:
        return open_stored(data, partial=partial)
    except ModelFault as fault:
        return str(fault)
