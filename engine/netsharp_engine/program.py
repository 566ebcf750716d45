"""The seam between training and whatever computes: what a back end is asked, and nothing else.

The trainer's loop, ``Meter`` and ``Model`` know a program.  A program knows its device, its layouts
and its rules; arrays that cross are canonical ones of the host.  No array library is known here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from netsharp_engine.graph import GraphError, Node, Parameter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from netsharp_engine.dropping import Draw
    from netsharp_engine.graph import Graph
    from netsharp_engine.packing import Packing

    Array = npt.NDArray[np.generic]
    Tensors = dict[str, npt.NDArray[np.floating[Any]]]


class Shaping(NamedTuple):
    """The changes to gradients and parameters around a rule, all for one update.

    The gradient of a parameter is clipped to ``limit``, number by number where it ``truncates``,
    else by its norm; before that all gradients together are scaled to the norm ``total`` where
    theirs is larger. ``l2`` times the numbers is added to it; ``l1`` times the rate is the
    threshold below which numbers become 0; neither is applied to parameters that are ``unregular``.
    ``noise`` is the deviation of added noise, drawn from ``seed``. ``multipliers`` of the rate are
    1 where none is given.
    """

    limit: float = math.inf
    truncates: bool = True
    l2: float = 0.0
    l1: float = 0.0
    unregular: frozenset[str] = frozenset()
    noise: float = 0.0
    seed: tuple[int, ...] = (0,)
    multipliers: Mapping[str, float] = {}
    total: float = math.inf


class UpdateRule(NamedTuple):
    """The change of parameters by their gradients.

    ``kind`` (a key of ``REMEMBERS``) and its memory stay through a run; the numbers may differ at
    every update. ``constants`` are those of the kind alone.
    """

    kind: str
    rate: float
    momentum: float = 0.0
    nesterov: bool = False
    decay: float = 0.0
    max_norm: float = 0.0
    constants: Mapping[str, float] = {}
    shaping: Shaping = Shaping()


#: What each kind of rule remembers of every parameter that is trained: names that all back ends
#: use, so that one continues where another stopped.
REMEMBERS: Mapping[str, tuple[str, ...]] = {
    "sgd": (),
    "momentum": ("delta",),
    "adadelta": ("squared_gradient", "squared_step"),
    "adam": ("first_moment", "second_moment"),
    "smoothed": ("smoothed",),
    "adagrad": ("squares",),
    "fsadagrad": ("squares", "smoothed", "count"),
    "rmsprop": ("squares", "signs", "steps"),
}
#: Of these a parameter has one number, in float64, not as many as itself.
SINGLE = frozenset(("count",))


class Job(NamedTuple):
    """The request to a program.

    ``graph`` has the criteria, if any, as nodes. ``rows`` is the most that one call is fed as far
    as is known, and buffers may grow. Without ``rule`` nothing is trained; ``shared``: by several
    processes. ``dtype`` is float32 or float64. Jobs may share parameters: see ``Draft.program``.
    """

    graph: Graph
    rows: int
    dtype: str = "float32"
    rule: UpdateRule | None = None
    shared: bool = False


class Sparse(NamedTuple):
    """Rows few numbers of which are not 0: those of row r at ``starts[r]:starts[r + 1]``."""

    values: Array
    columns: Array
    starts: Array


class Packed(NamedTuple):
    """Sequences beside each other: rows are the columns of a packing, and gaps hold anything."""

    values: Array | Sparse
    packing: Packing


class Batch(NamedTuple):
    """The input of one call: a value for each input and target by its name.

    A dense one is [rows, nodes], or [rows] of numbers or codes. ``weights`` [rows] are those of the
    samples. The gradient is that of the weighted sum of the first criterion divided by
    ``expected``; None: by the sum of the batch's own weights. ``adds``: it is added to that of the
    call before, of which this batch is another part. Pieces of sequences take over states of the
    last batch that had the same number of a ``part``. ``draw`` determines the masks of ``Dropout``
    nodes with an attribute ``layer``; without one nothing is dropped.
    """

    inputs: Mapping[str, Array | Sparse | Packed]
    weights: Array | None = None
    expected: float | None = None
    adds: bool = False
    part: int = 0
    draw: Draw | None = None


class Fault(NamedTuple):
    """The first number that is not finite: a "loss", "gradient" or "weight", and where."""

    what: str
    place: Node | Parameter | None


class Figures(NamedTuple):
    """The figures that a program counts and returns on request.

    ``sums`` has a number for each criterion, summed over samples; ``weight`` is the sum of the
    samples' weights, ``rows`` their number, ``steps`` that of the calls that were finished. Nothing
    is counted after a ``fault``.
    """

    sums: tuple[float, ...] = ()
    weight: float = 0.0
    rows: int = 0
    steps: int = 0
    fault: Fault | None = None


class Memory(NamedTuple):
    """The state of the next update or call beside the parameters, in canonical arrays.

    ``updates`` counts updates. ``arrays`` has the rule's memory, by name and parameter. A back end
    whose scans carry states from one call to the next has these beside them, under another name and
    each as ``NODE/WHAT``; other back ends ignore them. Running statistics are parameters.
    """

    updates: int
    arrays: Mapping[str, Tensors]


class Program(Protocol):
    """A network, ready to run.

    A call may walk over time: a statement about a node holds for all of its steps.
    """

    def feed(self, batch: Batch) -> None:
        """Take the rows that the next call computes."""

    def forward(self) -> None:
        """Compute the nodes, without criteria."""

    def step(self) -> bool:
        """Compute nodes and criteria and, where there is a rule, the gradient; count the figures.

        Rows without weight are skipped. Return False when the program knows of a fault; one that
        finds faults only with the figures returns True and leaves out what follows the fault.
        """

    def update(self, rule: UpdateRule) -> bool:
        """Change the trained parameters by the gradient of the last step.

        The parameters are rolled back where one is no longer finite.  False as in ``step``.
        """

    def count(self, figures: Figures) -> None:
        """Continue counting from these figures."""

    def figures(self) -> Figures:
        """Return the figures that were counted, after all pending work."""

    def read(self, node: Node) -> npt.NDArray[np.floating[Any]]:
        """Return the values [rows, nodes] of a node after a call; valid until the next."""

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all parameters, statistics included; GraphError names a misfit."""

    def store(self) -> Tensors:
        """Return copies of all parameters by name."""

    def load_memory(self, memory: Memory) -> None:
        """Go on from there; without all that the rule remembers, from nothing."""

    def store_memory(self) -> Memory:
        """Return copies of the arrays that ``load_memory`` takes."""


class Direct(Protocol):
    """The optional ``direct`` of a program: the outputs of any number of rows in one call."""

    def compute(self, features: object, normal: Array | None, out: Array, finite: bool, /) -> bool:
        """Write the outputs of ``features`` [rows, features] to ``out`` [rows, outputs].

        Where ``normal`` [4, features] is given, features are clipped to its first two rows, the
        third is subtracted, and they are multiplied by the fourth. Return False, with ``out``
        undefined, where the features are not a contiguous array of float32 or float64, or,
        ``finite``, one is not finite. Several threads may call at once, and the grouping of rows
        changes no bit.
        """


def direct_of(program: Program) -> Direct | None:
    """Return the direct evaluation of rows, None where a program has none."""
    found: Direct | None = getattr(program, "direct", None)
    return found


class Unsupported(NamedTuple):
    """A node that a back end cannot compute, and a sentence that says why and what to do."""

    node: Node
    reason: str


class Draft(Protocol):
    """A program before anything is made for it."""

    def unsupported(self) -> Sequence[Unsupported]:
        """Return the nodes that cannot be computed; the other methods may be called only if there
        are none.
        """

    def needs(self, *, shares: bool = False, threads: int = 1) -> Counter[str]:
        """Return the bytes of the host that the program will take, by their use.

        ``shares``: the parameters are those of another program; ``threads`` as in ``program``.
        """

    def program(self, threads: int = 1, beside: Program | None = None) -> Program:
        """Make it; ``beside`` is a program of the same back end whose parameters it shares.

        Without one, the parameters are undefined until they are loaded. At most ``threads`` threads
        compute a step at the same time, where the back end can; the same number gives the same
        bits. GraphError where this network cannot be computed so.
        """


class Unusable(NamedTuple):
    """The reason why nothing can be computed somewhere, and the remedy, as sentences to people."""

    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.reason} {self.remedy}".strip()


#: A back end: from a job to the draft of a program.  GraphError where the graph itself is wrong.
Backend = Callable[[Job], Draft]


def drafted(backend: Backend, job: Job) -> Draft:
    """Return the draft of a job; GraphError, a sentence, where the back end cannot compute a
    node.
    """
    draft = backend(job)
    require_computed(draft)
    return draft


def require_computed(draft: Draft) -> None:
    """Raise GraphError, a sentence, where a back end cannot do a node."""
    for node, reason in draft.unsupported():
        where = "" if node.origin is None else f" See {node.origin}."
        raise GraphError(f"{reason}{where}", node.origin)
