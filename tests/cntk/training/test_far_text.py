"""Files that are larger than what is held: read again by the places of their sequences."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.samples.minibatches import Minibatch, Sweeps
from netsharp_engine.cntk.samples.text_format import TextOptions, TextStream, read_text
from netsharp_engine.data import DataError
from netsharp_engine.limits import DATA_LINE
from netsharp_engine.program import Packed, Sparse
from tests.conftest import SEED

STREAMS = [TextStream("x", "x", 2), TextStream("y", "why", 9, sparse=True)]


def written(path: Path, sequences: int, longest: int, mark: bytes = b"") -> None:
    """Sequences with ids, some lines of which are lost, and a label at the first line alone."""
    random = np.random.default_rng(SEED)
    lines = []
    for number in range(sequences):
        for step in range(random.integers(1, longest + 1)):
            x, y = random.normal(size=2).round(4), random.integers(9)
            label = f" |why {y}:1 {(y + 1) % 9}:0.5" if step == 0 or longest == 1 else ""
            lines.append(f"{number} |x {x[0]} {x[1]}{label}")
            if random.random() < 0.1:
                lines.append(f"{number} |x 1 2 3 |# lost")
    path.write_bytes(mark + "\n".join(lines).encode() + b"\n")


def shown(batch: Minibatch) -> list[object]:
    """All that a minibatch holds, to the bit."""
    found: list[object] = [batch.sequences.tolist(), batch.samples, batch.columns]
    for name, value in batch.inputs.items():
        packing = None
        if isinstance(value, Packed):
            packing, value = (value.packing.places.tolist(), value.packing.rows), value.values
        if isinstance(value, Sparse):
            parts = [value.values.tobytes(), list(value.columns), list(value.starts)]
            found.append((name, packing, parts))
        else:
            found.append((name, packing, value.dtype.str, value.tobytes()))
    return found


@pytest.mark.parametrize("longest", [1, 7])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_samples_are_those_of_a_file_that_is_held(
    longest: int, mark: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "data.ctf"
    written(path, 150, longest, mark)
    options = TextOptions(most_errors=1000, chunk=900)
    held, far = (read_text(str(path), STREAMS, "float32", options, size) for size in (2**30, 100))
    assert far.values == {}
    assert (held.chunks, held.warnings, held.total) == (far.chunks, far.warnings, far.total)
    for window in (None, 0, 60):
        sources = [Sweeps(one, window != 0, window) for one in (held, far)]
        assert sources[0].longest == sources[1].longest
        for epoch in range(2):
            one, other = ([*map(shown, source.epoch(epoch, 0, 16))] for source in sources)
            assert one == other


def test_faults_are_reported_before_the_first_minibatch(tmp_path: Path) -> None:
    path = tmp_path / "data.ctf"
    path.write_bytes(b"|x 1 2 |why 1:1\n" * 99 + b"|x 1 two |why 1:1\n")
    with pytest.raises(DataError, match="line 100, column 6: 'two'"):
        read_text(str(path), STREAMS, "float32", held=100)


def test_a_file_that_changes_is_not_read_on(tmp_path: Path) -> None:
    path = tmp_path / "data.ctf"
    path.write_bytes(b"|x 1 2 |why 1:1\n" * 99)
    source = Sweeps(read_text(str(path), STREAMS, "float32", held=100), randomize=True)
    assert len([*source.epoch(0, 0, 10)]) == 10
    path.write_bytes(b"|x 1 2 |why 1:1\n" * 98)
    with pytest.raises(DataError, match="has changed"):
        [*source.epoch(1, 0, 10)]
    os.remove(path)
    with pytest.raises(DataError, match="cannot be read"):
        [*source.epoch(1, 0, 10)]


def test_a_line_without_end_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DATA_LINE, "most", 1_000)
    path = tmp_path / "data.ctf"
    for before in (b"", b"|x 1 2 |why 1:1\n" * 3):
        path.write_bytes(before + b"|x 1 2 |why" + b" 1:1" * 1_000)
        place = 1 + before.count(b"\n")
        with pytest.raises(DataError, match=f"line {place}: is longer than"):
            read_text(str(path), STREAMS, "float32")


def test_memory_is_bounded_by_sequences_and_not_by_what_they_hold(tmp_path: Path) -> None:
    """Of a sequence its places are kept, with the whole set as window, some 100 bytes."""
    path, count = tmp_path / "data.ctf", 4_000
    streams = [TextStream("x", "x", 400)]
    line = b"|x" + b" 0.125" * 400 + b"\n"
    path.write_bytes(line * count)
    tracemalloc.start()
    source = Sweeps(read_text(str(path), streams, "float32", held=0), randomize=True)
    seen = sum(batch.samples for batch in source.epoch(0, 0, 8))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen == count
    # Of the numbers alone the whole file would take 6.4 MB as read, and 9.6 MB as text.
    assert peak < 120 * count + 600_000, peak
