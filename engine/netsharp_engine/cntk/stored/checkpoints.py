"""CNTK's checkpoints beside models of its first format: the state from which a training resumes
(SGDLib/SGD.cpp, SaveCheckPointInfo). It must not know networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.binary import BinaryReading, BinaryWriting, Memory
from netsharp_engine.cntk.stored.model_file import read_version, write_version

_VERSION = 2


class Checkpoint(NamedTuple):
    """The state from which training resumes beside a model: samples so far, rate per sample, the
    criterion, samples of a minibatch, and the memory and count of each trained parameter, in the
    order of their names.
    """

    samples: int
    rate: float
    loss: float
    minibatch: int
    smoothed: Sequence[Array]
    counts: Sequence[float] = ()
    version: int = _VERSION


def written_checkpoint(state: Checkpoint) -> bytes:
    """Return a checkpoint as the bytes of a file."""
    out = BinaryWriting()
    write_version(out, _VERSION)
    out.text("BCKP")
    out.text("BLearnRate")
    out.size(state.samples)
    out.pack("dd", state.rate, state.loss)
    out.text("ELearnRate")
    out.text("BMinibatchSize")
    out.size(state.minibatch)
    out.text("EMinibatchSize")
    out.text("BGradient")
    for values in state.smoothed:
        out.matrix(values, values.shape[-1])
    out.text("EGradient")
    out.text("BCount")
    out.pack(f"{len(state.smoothed)}d", *(state.counts or (0.0 for _ in state.smoothed)))
    out.text("ECount")
    out.text("ECKP")
    return out.data


def is_checkpoint(data: bytes) -> bool:
    """Return whether bytes begin as such a file does, with its version or without."""
    given = BinaryReading(data)
    return given.starts("BVersion") or given.starts("BCKP")


def read_checkpoint(data: Memory, parameters: int | None = None) -> Checkpoint:
    """Return the checkpoint in the bytes of a file, of ``parameters`` parameters where that is
    given; ModelFault for other bytes.

    Sections that older releases did not write may be missing; the section of parallel training
    after the end is not read.
    """
    given = BinaryReading(data)
    version = read_version(given)
    given.expect("BCKP")
    given.expect("BLearnRate")
    samples = given.size()
    rate, loss = given.take("dd")
    given.expect("ELearnRate")
    minibatch = 0
    if given.starts("BMinibatchSize"):
        given.expect("BMinibatchSize")
        minibatch = given.size()
        given.expect("EMinibatchSize")
    given.expect("BGradient")
    smoothed: list[Array] = []
    while len(smoothed) != parameters and not given.starts("EGradient"):
        smoothed.append(given.matrix())
    given.expect("EGradient")
    counts: Sequence[float] = ()
    if given.starts("BCount"):
        given.expect("BCount")
        counts = given.take(f"{len(smoothed)}d")
        given.expect("ECount")
    given.expect("ECKP")
    return Checkpoint(samples, rate, loss, minibatch, smoothed, counts, version or 1)
