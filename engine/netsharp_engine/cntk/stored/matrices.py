"""The numbers of a node in a file of the first format: dense or sparse, beside their shape."""

from __future__ import annotations

from typing import Any, NamedTuple

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.binary import BinaryReading, BinaryWriting
from netsharp_engine.cntk.stored.fields import Codec, NodePlace
from netsharp_engine.cntk.stored.values import SparseValues, StoredNode

#: How often larger than the file a sparse matrix may become that is computed with.
_SPREAD, _SMALL = 16, 1 << 20


class StoredMatrix(NamedTuple):
    """A matrix, where its first number and its node's shape stand, rows, and its name."""

    values: Array | SparseValues
    at: int
    start: int
    rows: int
    name: str
    most: int


def _read(given: BinaryReading, place: NodePlace) -> StoredMatrix:
    start = given.at
    values, at, rows, name = given.any_matrix(sparse=True)
    return StoredMatrix(values, at, start, rows, name, max(_SMALL, _SPREAD * given.length))


def _write(out: BinaryWriting, node: StoredNode, place: NodePlace) -> None:
    assert node.values is not None
    name = node.kept.get(".matrixName", "unnamed")
    sparse = node.kept.get(".sparse")
    if sparse is not None and node.values is node.kept.get(".dense"):
        out.sparse(sparse, name)
        return
    rows = node.kept.get(".matrixRows", node.shape[0] if node.shape else 1)
    out.matrix(node.values, rows, name)


def with_matrix(given: BinaryReading, node: StoredNode, matrix: StoredMatrix) -> StoredNode:
    """Return a node with its numbers; ModelFault where their number is not that of its shape."""
    size = 1
    for one in node.shape:
        size *= one
    values, kept = matrix.values, dict(node.kept)
    count = values.rows * values.columns if isinstance(values, SparseValues) else values.size
    if node.shape and size != count:
        raise given.fault(
            f"'{node.name}' has {count:,} numbers, and its shape {size:,}", matrix.start
        )
    if isinstance(values, SparseValues):
        if count * values.values.itemsize > matrix.most:
            raise given.fault(
                f"'{node.name}' is a sparse matrix of {count:,} numbers, of which the file has "
                f"{values.values.size:,}: it is too large to be read as a whole one",
                matrix.start,
            )
        dense: Any = values.dense()
        kept |= {".sparse": values, ".dense": dense}
        values = dense
    if node.shape[:1] != (matrix.rows,):
        kept[".matrixRows"] = matrix.rows
    if matrix.name != "unnamed":
        kept[".matrixName"] = matrix.name
    return node._replace(values=values, at=matrix.at, kept=kept)


MATRIX = Codec(_read, _write)
