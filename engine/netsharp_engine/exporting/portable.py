"""The contents of an export: a graph with its numbers and the nodes that are wanted of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from netsharp_engine.graph import Graph
    from netsharp_engine.nodes import Node

    #: Samples of every input by its name, [steps, sequences, *shape]; without sequences one step.
    Samples = Mapping[str, npt.NDArray[np.floating[Any]]]


#: The description of a network from a model file of CNTK.
OF_CNTK = {"source": "a model of CNTK"}


class Portable(NamedTuple):
    """A trained network of whatever language.

    ``tensors`` has the numbers of each parameter, ``dtype`` (float32 or float64) is their type,
    ``outputs`` are nodes of the graph, and ``about`` says in words where the network comes from.
    ``samples`` reads the samples of files, by a function where these do not say themselves how;
    None where files bring none for it.
    """

    graph: Graph
    tensors: Mapping[str, npt.NDArray[np.floating[Any]]]
    dtype: str
    outputs: tuple[Node, ...]
    about: Mapping[str, str] = {}
    samples: Callable[[Sequence[str], Any], Iterator[Samples]] | None = None
