"""The interface of programs that CNTK's trainer needs beside ``program``: an epoch's phase,
lengths.

Operations such as dropout differ in training, and values come back as sequences. It must not know
array libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from netsharp_engine.ops.tensors import GATHERING, HELD
from netsharp_engine.program import Draft, Job, Program, Unsupported, require_computed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from netsharp_engine.graph import Graph, Node

#: Returns the next numbers of a generator, from 0 to 1: as many as its argument says.
Draws = Callable[[int], Any]


class Phase(NamedTuple):
    """The settings of an epoch.

    ``dropout`` is the share that is dropped, ``draws`` makes the generator of one of the nodes that
    draw (from its place among them and their number), in float64 where the third argument says so,
    else in the type of the numbers; time constants of batch normalisation are None where those of
    the nodes hold.
    """

    dropout: float = 0.0
    draws: Callable[[int, int, bool], Draws] | None = None
    normalization: float | None = None
    blend: float | None = None


class PhasedProgram(Program, Protocol):
    """A program that takes an epoch's settings, and knows the sequences of its values."""

    def begin(self, phase: Phase) -> None:
        """Take the settings of an epoch."""

    def lengths(self, node: Node) -> npt.NDArray[np.intp] | None:
        """Return the number of samples of ``read`` for each sequence, [sequences]; None for a value
        that all share.
        """

    def exchange_gradient(
        self, exchange: Callable[[Sequence[npt.NDArray[Any]]], object], *, fresh: bool
    ) -> None:
        """Let the gradient be replaced by the sum of those of several programs of one network.

        Unless it is ``fresh`` this program has none, since it was fed nothing.
        """


class PhasedDraft(Draft, Protocol):
    """The draft of such a program."""

    def program(self, threads: int = 1, beside: Program | None = None) -> PhasedProgram:
        """Make it, as ``Draft`` says."""


def unreadable(draft: Draft, nodes: Sequence[Node]) -> Sequence[Unsupported]:
    """Return those of some nodes whose values a program would not have after a call without
    training, with sentences: none, unless its draft has a method ``unreadable``.
    """
    ask: Callable[[Sequence[Node]], Sequence[Unsupported]] | None
    ask = getattr(draft, "unreadable", None)
    return () if ask is None else ask(nodes)


def gathered(graph: Graph) -> set[Node]:
    """Return the criteria whose value is that of the epoch so far: they are computed from a mean
    since it began, or a parameter.
    """
    means: set[Node] = set()
    still: set[Node] = set()
    for node in graph.nodes:
        if node.op in GATHERING:
            means.add(node)
        elif node.op in HELD:
            still.add(node)
        elif node.inputs and (means | still).issuperset(node.inputs):
            (means if means.intersection(node.inputs) else still).add(node)
    return means.intersection(graph.criteria)


def reaching(node: Node) -> set[Node]:
    """Return a node with all that it depends on."""
    found, waiting = {node}, [node]
    while waiting:
        fresh = [one for one in waiting.pop().inputs if one not in found]
        found.update(fresh)
        waiting += fresh
    return found


#: A back end of CNTK's networks: from a job to the draft of a program.
PhasedBackend = Callable[[Job], PhasedDraft]


def drafted_phased(backend: PhasedBackend, job: Job) -> PhasedDraft:
    """Return the draft of a job; GraphError, a sentence, where the back end cannot compute a
    node.
    """
    draft = backend(job)
    require_computed(draft)
    return draft
