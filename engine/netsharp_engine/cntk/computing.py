"""Which back end computes what CNTK trains and evaluates: named here, for the whole room."""

from __future__ import annotations

from collections.abc import Sequence

from netsharp_engine.graph import Graph
from netsharp_engine.phases import PhasedBackend, PhasedDraft, drafted_phased
from netsharp_engine.program import Job, Unsupported
from netsharp_engine.tensor_backend import TensorDraft

BACKEND: PhasedBackend = TensorDraft


def not_computed(graph: Graph) -> Sequence[Unsupported]:
    """Return the nodes that the back end cannot compute. GraphError, one sentence, for a loop that
    cannot be run.
    """
    return BACKEND(Job(graph, 1)).unsupported()


def draft_of(job: Job, backend: PhasedBackend | None = None) -> PhasedDraft:
    """Return the draft of a job, by another back end where one is given. GraphError, one sentence,
    where a node cannot be computed.
    """
    return drafted_phased(backend or BACKEND, job)
