"""The contents of a CNTK model file of either format: nodes, groups, blocks.

Readers give it, and descriptions, evaluation and exports take it; it must not know files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array

#: The two formats: the one of networks in text, and that of the Python library.
V1, V2 = "v1", "v2"
#: Groups of nodes, in the order of the first format.
GROUPS = ("feature", "label", "criterion", "evaluation", "output")
#: The epsilon of a BatchNormalization whose file has none: CNTK's default,
#: ComputationNetworkLib/TrainingNodes.h, BatchNormalizationNode.
EPSILON = 1e-5


class StoredNode(NamedTuple):
    """A node of a file: ``values`` are its numbers, the first dimension fastest, if it has any.

    ``operation`` is what the first format calls it today, ``function`` what this file calls it
    where that differs.  ``label`` is a name that people gave and that need not be unique, ``uid``
    the one of the second format, ``block`` the index of the innermost block around it.  ``at`` is
    the byte of the first number; ``kept`` what only the file needs to be written as it was.
    """

    operation: str
    name: str
    shape: tuple[int, ...]
    inputs: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = {}
    values: Array | None = None
    dtype: str = "float32"
    function: str = ""
    label: str = ""
    uid: str = ""
    block: int | None = None
    at: int = -1
    kept: Mapping[str, Any] = {}


class StoredBlock(NamedTuple):
    """A function that is made of others: what it is called, its kind, the block around it, and
    the name of its node.
    """

    name: str
    function: str
    parent: int | None = None
    node: str = ""


class StoredModel(NamedTuple):
    """A network: nodes, and the names of those of each group.

    ``version`` is the file's own, ``versions`` those of its parts; ``types`` the number of nodes of
    each type in the file's words; ``outputs`` the nodes worth asking for; ``aliases`` other names
    of nodes; ``warnings`` sentences about what was changed, skipped or is missing, and ``faults``
    those about parts that were not read: such a model is described and never run.
    """

    nodes: Sequence[StoredNode]
    groups: Mapping[str, Sequence[str]]
    dtype: str
    format: str = V1
    version: int = 1
    versions: Mapping[str, int] = {}
    types: Mapping[str, int] = {}
    blocks: Sequence[StoredBlock] = ()
    outputs: Sequence[str] = ()
    aliases: Mapping[str, str] = {}
    warnings: Sequence[str] = ()
    faults: Sequence[str] = ()
    kept: Mapping[str, Any] = {}

    def numbers(self) -> dict[str, Array]:
        """Return the numbers of nodes by their names as arrays of their own, in a precision that is
        computed with: those of nodes are views on the file. Each has the shape that the file gives
        it.
        """
        return {
            one.name: np.array(one.values, np.float64 if one.dtype == "float64" else np.float32)
            for one in self.nodes
            if one.values is not None
        }

    def found(self, name: str) -> StoredNode | None:
        """Return the node of a name or an alias; None where there is none."""
        wanted = self.aliases.get(name, name)
        return next((node for node in self.nodes if node.name == wanted), None)


class LegacyShape(tuple[int, ...]):
    """A shape that an older file stores as the width, height and channels of an image."""

    __slots__ = ()


class SparseValues(NamedTuple):
    """A sparse matrix as a file has it: format, rows and columns, numbers, their places."""

    form: int
    rows: int
    columns: int
    values: Array
    indices: Array
    starts: Array

    def dense(self) -> Array:
        """Return all numbers, flat, column by column."""
        found = np.zeros((self.columns, self.rows), self.values.dtype)
        outer = self.columns if self.form == CSC else self.rows
        counts = (self.starts[1:] - self.starts[:-1]).astype(np.int64)
        owners = np.repeat(np.arange(outer), counts)
        inner = self.indices.astype(np.int64)
        places = (owners, inner) if self.form == CSC else (inner, owners)
        np.add.at(found, places, self.values)
        return found.reshape(-1)


#: CNTK's numbers of the forms of sparse matrices that it stores.
CSC, CSR = 6, 7
