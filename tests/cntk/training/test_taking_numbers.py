"""Numbers of a model taken over in the memory of its file: the same ones, where processors want
them, and each in its own place whatever the file holds between them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.stored.model_tensors import read_tensors, write_tensors
from netsharp_engine.cntk.stored.opening import open_model
from netsharp_engine.cntk.stored.taking import taken
from netsharp_engine.plain_files import read_writable
from tests.cntk.training.model_writing import First, Second, large
from tests.conftest import SEED


def first(random: Any, dtype: str) -> bytes:
    """Parameters of chosen precision after names of any length, so at any place."""
    out = First(25, dtype)
    for number in range(int(random.integers(1, 9))):
        shape = tuple(random.integers(1, 7, random.integers(1, 4)))
        out.parameter("p" * int(random.integers(1, 40)) + str(number), random.normal(size=shape))
    return out.data()


def second(random: Any, *, apart: bool = False) -> bytes:
    """Constants of both precisions and a sum over the first, in a message or after it."""
    out = Second()
    out.variable("x", 0, (1,))
    for number in range(int(random.integers(1, 9))):
        kind = ("float32", "float64")[int(random.integers(2))]
        array = random.normal(size=random.integers(1, 7, 2)).astype(kind)
        out.parameter("p" * int(random.integers(1, 40)) + str(number), array)
    out.function(1, "root", ["x"])
    return large(out.values("root")) if apart else out.data("root")


MADE: dict[str, Any] = {
    "v1": lambda random: first(random, "float32"),
    "v1 of doubles": lambda random: first(random, "float64"),
    "v1 of halves": lambda random: first(random, "float16"),
    "v2": second,
    "v2 with numbers apart": lambda random: second(random, apart=True),
}


@pytest.mark.parametrize("kind", MADE)
def test_numbers_taken_are_those_of_the_file(kind: str) -> None:
    random = np.random.default_rng(SEED)
    moved = 0
    for _ in range(40):
        data = MADE[kind](random)
        wanted = open_model(data).numbers()
        memory = bytearray(data)
        found = taken(open_model(memory), memory)
        assert list(found) == list(wanted)
        for name, array in found.items():
            assert array.dtype == wanted[name].dtype
            assert array.shape == wanted[name].shape
            assert array.tobytes() == wanted[name].tobytes(), (kind, name)
            assert array.flags.aligned
            assert array.flags.writeable
        inside = [
            one for one in found.values() if np.shares_memory(one, np.frombuffer(memory, "u1"))
        ]
        moved += len(inside)
        # Each can be written without a change of another.
        for number, array in enumerate(found.values()):
            array[...] = number
        assert all(np.all(array == number) for number, array in enumerate(found.values()))
    assert (moved > 0) == (kind != "v1 of halves")


def test_two_nodes_with_the_same_numbers_get_arrays_of_their_own() -> None:
    random = np.random.default_rng(SEED)
    memory = bytearray(first(random, "float32"))
    model = open_model(memory)
    twin = model.nodes[0]._replace(name="twin")
    model = model._replace(nodes=[*model.nodes, twin])
    wanted = model.numbers()
    found = taken(model, memory)
    assert not np.shares_memory(found["twin"], found[model.nodes[0].name])
    assert {name: one.tobytes() for name, one in found.items()} == {
        name: one.tobytes() for name, one in wanted.items()
    }


def test_numbers_of_safetensors_are_taken_as_well(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    write_tensors(str(path), open_model(first(np.random.default_rng(SEED), "float32")))
    wanted = read_tensors(path.read_bytes()).numbers()
    memory = read_writable(path)
    found = taken(read_tensors(memory), memory)
    whole = np.frombuffer(memory, np.uint8)
    assert found.keys() == wanted.keys()
    assert found
    assert all(np.shares_memory(one, whole) for one in found.values())
    assert all(one.tobytes() == wanted[name].tobytes() for name, one in found.items())


def test_what_becomes_of_a_file_changes_no_number_that_was_taken(tmp_path: Path) -> None:
    path = tmp_path / "net.model"
    data = first(np.random.default_rng(SEED), "float32")
    path.write_bytes(data)
    memory = read_writable(path)
    assert memory == data
    found = taken(open_model(memory), memory)
    with path.open("r+b") as stream:
        stream.truncate(0)
    wanted = open_model(data).numbers()
    assert all(one.tobytes() == wanted[name].tobytes() for name, one in found.items())


def test_a_file_that_is_not_counted_by_its_system_is_read_to_its_end() -> None:
    status = Path("/proc/self/status")
    if not status.is_file():
        pytest.skip("no system of files here that does not count")
    assert status.stat().st_size == 0
    assert read_writable(status).startswith(b"Name:")
