"""Specifications that are made of the sizes of hidden layers; they know no data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral

#: The default sizes of hidden layers, as in scikit-learn's networks.
DEFAULT_SIZES = (100,)
#: What the output layer computes, by task.
OUTPUTS = {"classification": "softmax", "regression": "linear"}


def layered(sizes: int | Sequence[int] | None, task: str) -> str:
    """Return the Net# text of full layers of sigmoids with ``sizes`` nodes.

    ``sizes``: a number of nodes for each hidden layer, one number for one layer, None for
    `DEFAULT_SIZES`.  ``task``: "classification" or "regression".  Raises ValueError for
    any other value.
    """
    counts = _counts(DEFAULT_SIZES if sizes is None else sizes)
    names = ["Hidden"] if len(counts) == 1 else [f"Hidden{n + 1}" for n in range(len(counts))]
    lines, source = ["input Data auto;"], "Data"
    for name, count in zip(names, counts, strict=True):
        lines.append(f"hidden {name} [{count}] sigmoid from {source} all;")
        source = name
    lines.append(f"output Result auto {OUTPUTS[task]} from {source} all;")
    return "\n".join(lines) + "\n"


def _counts(sizes: object) -> list[int]:
    given: list[object] = [sizes] if isinstance(sizes, Integral) else [None]
    if isinstance(sizes, Iterable):
        given = list(sizes)
    counts = [int(one) for one in given if isinstance(one, Integral) and int(one) > 0]
    if len(counts) != len(given) or any(isinstance(one, bool) for one in given):
        raise ValueError(
            "hidden_layer_sizes must be whole numbers of nodes, at least 1, such as (100, 50), "
            f"found {sizes!r}."
        )
    return counts
