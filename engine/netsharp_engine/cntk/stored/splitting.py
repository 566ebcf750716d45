"""Splits parameters of a stored model into products of two smaller ones, by singular values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.stored.values import StoredNode

_PARAMETER = "LearnableParameter"


class KeptShare(NamedTuple):
    """Which parameters are split, and the share of the sum of singular values that is kept."""

    pattern: re.Pattern[str]
    kept: float


class Split(NamedTuple):
    """A parameter that was split: rows, columns, and the singular values that were kept."""

    name: str
    rows: int
    columns: int
    rank: int


def split_nodes(
    nodes: Sequence[StoredNode], shares: Sequence[KeptShare], aligned: int
) -> tuple[list[StoredNode], list[Split]]:
    """Nodes with every matching matrix W as W_U times W_V, and what was split, in order of names.

    The number of singular values is rounded up to a multiple of ``aligned``, to all at most.
    """
    found = {node.name: node for node in nodes}
    told: list[Split] = []
    for share in shares:
        for name in sorted(found):
            node = found[name]
            if node.operation == _PARAMETER and share.pattern.fullmatch(name):
                parts, split = _split(node, share.kept, aligned)
                found.update((one.name, one) for one in parts)
                told += [split] if split is not None else []
    return list(found.values()), told


def _split(node: StoredNode, kept: float, aligned: int) -> tuple[list[StoredNode], Split | None]:
    rows = (node.shape or (1,))[0]
    assert node.values is not None
    matrix = np.asarray(node.values).reshape(-1, rows).T
    columns = matrix.shape[1]
    if rows == 1 or columns == 1:
        return [], None
    left, values, right = np.linalg.svd(matrix.astype(np.float64), full_matrices=False)
    beyond = np.flatnonzero(np.cumsum(values) > values.sum() * kept)
    rank = int(beyond[0]) + 1 if len(beyond) else len(values)
    rank = min(-(-rank // aligned) * aligned, len(values))
    roots = np.sqrt(values[:rank])
    names = f"{node.name}_U", f"{node.name}_V"
    halves = left[:, :rank] * roots, roots[:, None] * right[:rank]
    parts = [
        node._replace(
            name=name,
            shape=half.shape,
            values=half.astype(node.values.dtype).T.reshape(-1),
        )
        for name, half in zip(names, halves, strict=True)
    ]
    product = StoredNode(
        "Times",
        node.name,
        node.shape,
        names,
        {"outputRank": 1, "inferInputRankToMap": -1},
        dtype=node.dtype,
    )
    return [*parts, product], Split(node.name, rows, columns, rank)
