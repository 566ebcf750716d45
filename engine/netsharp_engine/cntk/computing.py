"""Which back end computes what CNTK trains and evaluates: chosen here, for the whole room.

A computation runs on one back end as a whole, and where a device was requested its facts say which
and why. It must not know what is computed, or for which command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

from netsharp_engine.backends import AUTO, CPU, Device, choose, parsed, refused, title_of
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.phases import PhasedBackend, PhasedDraft, drafted_phased, unreadable
from netsharp_engine.program import Job, Unsupported, Unusable
from netsharp_engine.tensor_backend import TensorDraft

if TYPE_CHECKING:
    from netsharp_engine.graph import Node
    from netsharp_engine.program import UpdateRule

BACKEND: PhasedBackend = TensorDraft
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Computing(NamedTuple):
    """The type of numbers of a computation, and the back end that runs all of it.

    ``facts`` are the name and title of a requested device and why it computes, for a log; there are
    none where no device was requested.
    """

    dtype: str
    backend: PhasedBackend = BACKEND
    facts: Mapping[str, str] = _NOTHING

    def draft(self, graph: Graph, rows: int, rule: UpdateRule | None = None) -> PhasedDraft:
        """Return the draft of a graph for at most ``rows`` rows. GraphError, one sentence, where a
        node cannot be computed.
        """
        return draft_of(Job(graph, rows, self.dtype, rule), self.backend)

    def refusal(self, job: Job, reads: Sequence[Node]) -> str | None:
        """Return why a job cannot be computed, or some of the nodes ``reads`` not be read after it,
        as a sentence; None where all can.
        """
        refusal = refused(self.backend, [job])
        if refusal is None:
            lacking = unreadable(self.backend(job), reads)
            refusal = next((one.reason for one in lacking), None)
        return refusal


def chosen(device: str, precision: str, jobs: Sequence[Job], dtype: str) -> Computing | Unusable:
    """Return what a device's name means for jobs, with products of a ``precision`` unless that is
    empty; or why there is no such device, or it cannot compute them.
    """
    found = choose(device, jobs, precision, BACKEND)
    if isinstance(found, Unusable):
        return found
    return Computing(dtype, cast("PhasedBackend", found.backend), _facts(found))


class Requested(NamedTuple):
    """A device by its name, and the type of its products where that is another than the numbers';
    empty where neither was requested.
    """

    device: str = ""
    precision: str = ""

    def training(self, job: Job) -> Computing:
        """Return what computes a training. GraphError, one sentence, where there is no such device,
        or it cannot compute the network.
        """
        if not (self.device or self.precision):
            return Computing(job.dtype)
        return self._chosen([job], job.dtype)

    def forward(self, job: Job, reads: Sequence[Node] = ()) -> Computing:
        """Return what computes a network without training it; values of the nodes ``reads`` are
        read. A requested device that cannot compute it leaves the whole of it to the processor,
        with the reason in the facts. GraphError, one sentence, where there is no such device.
        """
        if not (self.device or self.precision):
            return Computing(job.dtype)
        device = parsed(self.device)
        named = device is None or device.family != AUTO
        return beside(self._chosen([] if named else [job], job.dtype), job, reads)

    def _chosen(self, jobs: Sequence[Job], dtype: str) -> Computing:
        name = self.device or CPU
        found = chosen(name, self.precision, jobs, dtype)
        if isinstance(found, Unusable):
            raise GraphError(f"--device {name}: {found}")
        return found


def beside(first: Computing, job: Job, reads: Sequence[Node] = ()) -> Computing:
    """Return what computes another job of the same action: the same back end, else the processor,
    with the reason in the facts. GraphError, one sentence, where that cannot compute it either.
    """
    refusal = first.refusal(job, reads) if first.facts else None
    if refusal is None:
        return first._replace(dtype=job.dtype)
    if first.backend is not BACKEND:
        why = f"{first.facts['name']} cannot do it: {refusal.rstrip('.')}; so cpu is used"
        last = Device(CPU, BACKEND, title_of(BACKEND), why)
        refusal = refused(BACKEND, [job])
        if refusal is None:
            return Computing(job.dtype, BACKEND, _facts(last))
    raise GraphError(refusal)


def _facts(device: Device) -> dict[str, str]:
    return {"name": device.name, "title": device.title, "why": device.why}


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
