"""How the options of SGD and of a reader cut sequences into pieces, and what cannot be cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.samples.minibatches import Parts
from netsharp_engine.cntk.samples.truncated import Cut
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_lsp.cntk.training.networks.recurrent_stacks import STACK
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.plans.auto_adjust import NOT_NEGATIVE, demand
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of

if TYPE_CHECKING:
    from netsharp_engine.cntk.descent.training import TrainingPlan
    from netsharp_engine.graph import Graph
    from netsharp_lsp.cntk.networks.node import Network

_OPTION = "truncated"
#: How many sequences stand beside each other.
_ROWS = "nbruttsineachrecurrentiter"


class Truncation(NamedTuple):
    """A plan as the option truncated changes it, and how sequences are cut; None: not at all."""

    plan: TrainingPlan
    cut: Cut | None = None

    def size(self, epoch: int) -> int:
        """The samples of a minibatch of an epoch (from 0) that has no gaps."""
        size = self.plan.schedule.size(epoch)
        if self.cut is None:
            return size
        rows, steps = self.cut.of(size)
        return rows * steps

    @property
    def notice(self) -> str:
        """What is told of it."""
        if self.cut is None:
            return ""
        rows, steps = self.cut.of(self.plan.schedule.size(0))
        beside = f"{rows:,} sequences" if rows > 1 else "one sequence"
        return (
            f"truncated: sequences are cut into pieces of {steps:,} steps, {beside} beside each "
            "other, as CNTK's HTKDeserializers cuts them. Its CNTKTextFormatReader trains whole "
            "sequences: for those numbers leave truncated out."
        )


def truncation(plan: TrainingPlan, sgd: Options, reader: Options) -> Truncation:
    """What SGD and the reader say; Refused where they contradict each other."""
    found = reader.found(_OPTION)
    is_read = found is not None and reader.truth(_OPTION, False)
    if not sgd.truth(_OPTION, False):
        if found is not None and is_read:
            reason = (
                "the reader is told to cut sequences, and SGD is not. Write truncated=true in "
                "front of both, or leave it out."
            )
            raise Refused(RunRefusal(reason, where_of(found.text)))
        return Truncation(plan)
    rows = reader.wholes(_ROWS) or [1]
    demand(reader, _ROWS, min(rows) > 0, "has to be 1 or more")
    demand(reader, _ROWS, len(set(rows)) == 1, "has several values, and truncated takes one")
    length = reader.whole("truncationLength", 0)
    demand(reader, "truncationLength", length >= 0, NOT_NEGATIVE)
    # Rates of a minibatch are those of all rows, whether or not the reader cuts.
    plan = plan._replace(schedule=plan.schedule._replace(rows=rows[0]))
    if found is not None and not is_read:
        return Truncation(plan)
    whole = not reader.truth("frameMode", False)
    demand(reader, "frameMode", whole, "is true, so that no sequence is left to cut by truncated")
    parts = plan.parts.number <= 1
    demand(sgd, "numSubminibatches", parts, "and truncated together are not done yet")
    # How many samples are held at once changes no number.
    return Truncation(plan._replace(parts=Parts()), Cut(length, rows[0]))


def require_cuttable(graph: Graph, network: Network, truncation: Truncation) -> None:
    """Refuse nodes that ask for whole sequences, where these are cut."""
    if truncation.cut is None:
        return
    cut, sizes = truncation.cut, truncation.plan.schedule.sizes
    steps = min(cut.of(size)[1] for size in sizes)
    refusals = []
    for name in {node.name for node in graph.nodes} & network.nodes.keys():
        stack = network.nodes[name]
        if stack.operation == STACK:
            said = f"'{name}', of type {STACK}, asks for whole sequences: truncated cuts sequences."
            refusals.append(RunRefusal(said, stack.where))
    if refusals:  # its parts have names that no network knows
        raise Refused(*refusals)
    for node in graph.nodes:
        reason = ""
        if node.op == DELAYS[1]:
            reason = "reads steps that follow, which may not be there yet"
        elif node.op in COLUMNS and node.op != "ReconcileDynamicAxis":
            reason = "asks for whole sequences"
        elif node.op in DELAYS and node.attributes["timeStep"] > steps:
            far = node.attributes["timeStep"]
            reason = f"reads {far:,} steps before, and pieces have {steps:,}"
        if reason:
            said = f"'{node.name}', of type {node.op}, {reason}: truncated cuts sequences."
            refusals.append(RunRefusal(said, network.nodes[node.name].where))
    if refusals:
        raise Refused(*refusals)
