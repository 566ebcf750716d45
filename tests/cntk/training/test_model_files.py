"""Model files and checkpoints of CNTK's first format, read by a second reader and damaged."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.checkpoints import (
    Checkpoint,
    read_checkpoint,
    written_checkpoint,
)
from netsharp_engine.cntk.stored.model_file import read_model, written_model
from netsharp_engine.cntk.stored.values import StoredModel, StoredNode
from tests.conftest import SEED


def model(dtype: str) -> StoredModel:
    random = np.random.default_rng(SEED)

    def numbers(*shape: int) -> Any:
        return random.normal(size=shape[::-1]).astype(dtype)

    rate = {"learningRateMultiplier": 1.0}
    nodes = [
        StoredNode("InputValue", "x", (2,), attributes={"dynamicAxis": ""}),
        StoredNode("Mean", "m", (2,), ("x",), {}, numbers(2)),
        StoredNode("LearnableParameter", "W", (3, 2), (), rate, numbers(3, 2)),
        StoredNode("Times", "p", (3,), ("W", "x"), {"outputRank": 1, "inferInputRankToMap": -1}),
        StoredNode("Sigmoid", "h", (3,), ("p",)),
    ]
    return StoredModel(nodes, {"feature": ["x"], "output": ["h"]}, dtype)


class Second:
    """Reads a model by the description of the format, with nothing of the other reader."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def word(self) -> str:
        end = self.at
        while self.data[end : end + 2] != b"\0\0":
            end += 2
        found = self.data[self.at : end].decode("utf-16-le")
        self.at = end + 2
        return found

    def number(self, form: str) -> Any:
        size = struct.calcsize("<" + form)
        (found,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += size
        return found

    def matrix(self) -> tuple[int, int, list[float]]:
        assert self.data[self.at : self.at + 1] == b"d"
        self.at += 1
        assert self.word() == "BMAT"
        form = {4: "f", 8: "d"}[self.number("Q")]
        assert self.word() == "unnamed"
        assert self.number("i") == 0
        rows, columns = self.number("Q"), self.number("Q")
        values = [self.number(form) for _ in range(rows * columns)]
        assert self.word() == "EMAT"
        return rows, columns, values

    def words(self) -> list[str]:
        return [self.word() for _ in range(self.number("Q"))]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_second_reader_reads_the_same(dtype: str) -> None:
    stored = model(dtype)
    by_name = {node.name: node for node in stored.nodes}
    given = Second(written_model(stored))
    assert [given.word(), given.word()] == ["BCN", "BVersion"]
    assert (given.number("Q"), given.word()) == (15, "EVersion")
    assert (given.number("Q"), given.word()) == (5, "BNodeList")
    precision = {"float32": "float", "float64": "double"}[dtype]

    def head(operation: str, name: str) -> None:
        assert [given.word(), given.word(), given.word()] == [precision, operation, name]

    head("LearnableParameter", "W")
    assert given.number("f") == 1.0
    assert [given.number("I") for _ in range(3)] == [2, 3, 2]
    assert given.matrix() == (3, 2, by_name["W"].values.ravel().tolist())
    head("Sigmoid", "h")
    head("Mean", "m")
    assert given.number("?") is True
    assert given.matrix() == (2, 1, by_name["m"].values.tolist())
    head("Times", "p")
    assert (given.number("Q"), given.number("i")) == (1, -1)
    head("InputValue", "x")
    assert [given.number("Q"), given.number("Q")] == [0, 0]
    assert [given.number("I") for _ in range(3)] == [1, 2, 1]
    assert (given.word(), given.number("f")) == ("", 0.0)
    assert [given.word(), given.word()] == ["ENodeList", "BRelation"]
    relations = {given.word(): given.words() for _ in range(5)}
    assert relations == {"W": [], "h": ["p"], "m": ["x"], "p": ["W", "x"], "x": []}
    assert [given.word(), given.word()] == ["ERelation", "BRootNodes"]
    groups = {}
    for _ in range(5):
        mark = given.word()
        groups[mark[1:]] = given.words()
        assert given.word() == f"E{mark[1:]}"
    assert groups["FeatureNodes"] == ["x"]
    assert groups["OutputNodes"] == ["h"]
    assert [given.word(), given.word()] == ["ERootNodes", "ECN"]
    assert given.at == len(given.data)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_model_comes_back(dtype: str) -> None:
    stored = model(dtype)
    found = read_model(written_model(stored))
    assert found.dtype == dtype
    assert {group: list(names) for group, names in found.groups.items() if names} == stored.groups
    known = {node.name: node for node in stored.nodes}
    for node in found.nodes:
        assert (node.operation, node.inputs) == (
            known[node.name].operation,
            known[node.name].inputs,
        )
        if node.values is not None:
            assert node.values.dtype == dtype
            assert node.values.tobytes() == known[node.name].values.tobytes()


def test_a_checkpoint_comes_back() -> None:
    smoothed = [np.arange(6, dtype="float32").reshape(2, 3), np.ones(2, "float32")]
    state = Checkpoint(10_000, 0.008, 0.25, 25, smoothed)
    found = read_checkpoint(written_checkpoint(state), 2)
    assert found[:4] == state[:4]
    assert [one.tolist() for one in found.smoothed] == [one.ravel().tolist() for one in smoothed]


def test_a_file_that_ends_anywhere_is_refused_with_the_byte() -> None:
    for data, read in (
        (written_model(model("float32")), read_model),
        (
            written_checkpoint(Checkpoint(1, 0.1, 0.5, 4, [np.zeros(3, "float32")])),
            lambda data: read_checkpoint(data, 1),
        ),
    ):
        for end in range(len(data)):
            with pytest.raises(ModelFault, match=r"^byte [0-9,]+: "):
                read(data[:end])


def test_damage_is_refused_or_read_and_takes_no_memory() -> None:
    data = bytearray(written_model(model("float32")))
    random = np.random.default_rng(SEED)
    for _ in range(3_000):
        place = int(random.integers(len(data)))
        kept = data[place]
        data[place] = int(random.integers(256))
        with suppress(ModelFault):
            read_model(bytes(data))
        data[place] = kept


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "not a model"),
        (b"PK\x03\x04 another file", "not a model"),
        (written_model(model("float32")) + b"\0", "the file does not"),
        (written_model(model("float32")).replace(b"\x0f", b"\x63", 1), "version 99"),
        (
            written_model(model("float32")).replace(
                "Sigmoid".encode("utf-16-le"), "Whatnot".encode("utf-16-le")
            ),
            "type Whatnot",
        ),
    ],
)
def test_foreign_files_are_refused(data: bytes, word: str) -> None:
    with pytest.raises(ModelFault, match=word):
        read_model(data)
