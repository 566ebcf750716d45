"""Truncation: how the options of SGD and of a reader cut sequences into pieces, and what cannot be
cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.schedules import PER_MINIBATCH
from netsharp_engine.cntk.samples.truncated import Cut, Truncated
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_lsp.cntk.training.networks.recurrent_stacks import STACK
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.plans.auto_adjust import NOT_NEGATIVE, demand
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_engine.cntk.descent.training import TrainingPlan
    from netsharp_engine.cntk.samples.minibatches import Sweeps
    from netsharp_engine.graph import Graph
    from netsharp_lsp.cntk.networks.node import Network

_OPTION = "truncated"
#: Readers that do not ask for it.
_OF_WORDS = ("lmsequencereader", "lusequencereader")
#: How many sequences stand beside each other.
_ROWS = "nbruttsineachrecurrentiter"


class Truncation(NamedTuple):
    """A plan as changed by the option truncated, and how sequences are cut; None: not at all.

    ``is_composed``: the reader is made of deserializers, and CNTK cuts them, too.
    """

    plan: TrainingPlan
    cut: Cut | None = None
    is_composed: bool = False

    def size(self, epoch: int) -> int:
        """Return the samples of a minibatch without gaps in an epoch (from 0)."""
        size = self.plan.schedule.size(epoch)
        if self.cut is None:
            return size
        rows, steps = self.cut.of(size)
        return rows * steps

    @property
    def notice(self) -> str:
        """Return the notice about truncation, empty where nothing is cut."""
        if self.cut is None:
            return ""
        rows, steps = self.cut.of(self.plan.schedule.size(0))
        beside = f"{rows:,} sequences" if rows > 1 else "one sequence"
        text = f"truncated: sequences are cut into pieces of {steps:,} steps, {beside} beside each"
        text += " other"
        if self.is_composed:
            return f"{text}."
        return (
            f"{text}, as CNTK's HTKDeserializers cuts them. Its CNTKTextFormatReader trains whole "
            "sequences: for those numbers remove truncated."
        )


def truncation(plan: TrainingPlan, sgd: Options, reader: Options) -> Truncation:
    """Return the truncation that SGD and the reader set; Refused where they contradict each
    other.
    """
    found = None if reader.text("readerType").lower() in _OF_WORDS else reader.found(_OPTION)
    is_read = found is not None and reader.truth(_OPTION, False)
    if not sgd.truth(_OPTION, False):
        if found is not None and is_read:
            reason = (
                "the reader has truncated=true, and SGD has not. Set it in a block around both, "
                "or remove it."
            )
            raise Refused(RunRefusal(reason, where_of(found.text)))
        return Truncation(plan)
    rows = reader.wholes(_ROWS) or [1]
    demand(reader, _ROWS, min(rows) > 0, "has to be 1 or more")
    demand(
        reader, _ROWS, len(set(rows)) == 1, "has several values, and truncated supports only one"
    )
    length = reader.whole("truncationLength", 0)
    demand(reader, "truncationLength", length >= 0, NOT_NEGATIVE)
    composed = reader.found("deserializers") is not None
    if composed:
        rows = [1]
        _demand_rates_of_samples(plan, sgd)
    # Rates of a minibatch are those of all rows, whether or not the reader cuts.
    plan = plan._replace(schedule=plan.schedule._replace(rows=rows[0]))
    if not is_read and (found is not None or reader.text("readerType").lower() in _OF_WORDS):
        return Truncation(plan)
    whole = not reader.truth("frameMode", False)
    demand(reader, "frameMode", whole, "is true, so that no sequence is left to cut by truncated")
    return Truncation(plan, Cut(length, rows[0]), composed)


def _demand_rates_of_samples(plan: TrainingPlan, sgd: Options) -> None:
    """Refuse options per minibatch, as the number of sequences in a minibatch is unknown here.

    SGDLib/SGD.h, FixUpEffectiveMBSize; CompositeDataReader/Exports.cpp.
    """
    schedule = plan.schedule
    if max(schedule.sizes) <= 1:
        return
    units = (
        (schedule.rate_unit, "learningRatesPerMB", "learningRatesPerSample"),
        (schedule.momentum_unit, "momentumPerMB", "momentumAsTimeConstant"),
    )
    for unit, name, other in units:
        if unit == PER_MINIBATCH:
            found = sgd.found(name)
            shown = (
                f"'{name}'" if found is not None else f"'{name}', which is 0.9 if none is given,"
            )
            reason = (
                f"{shown} cannot be used where sequences of deserializers are cut: CNTK stops "
                f"there, too. Give '{other}'."
            )
            raise Refused(RunRefusal(reason, where_of((found or sgd.scope).text)))


def require_cuttable(graph: Graph, network: Network, source: Sweeps, sizes: Sequence[int]) -> None:
    """Refuse nodes that need whole sequences, where minibatches of these ``sizes`` cut them."""
    cut = [steps for steps in map(source.cuts, sizes) if steps]
    if not cut:
        return
    steps = min(cut)
    why = (
        "truncated cuts sequences"
        if isinstance(source, Truncated)
        else f"the longest of {source.longest:,} are cut, as a minibatch has {steps:,} of each"
    )
    refusals = []
    for name in {node.name for node in graph.nodes} & network.nodes.keys():
        stack = network.nodes[name]
        if stack.operation == STACK:
            message = f"'{name}', of type {STACK}, needs whole sequences: {why}."
            refusals.append(RunRefusal(message, stack.where))
    if refusals:  # its parts have names that no network knows
        raise Refused(*refusals)
    for node in graph.nodes:
        reason = ""
        if node.op == DELAYS[1]:
            reason = "reads later steps, which may not be available yet"
        elif node.op in COLUMNS and node.op != "ReconcileDynamicAxis":
            reason = "needs whole sequences"
        elif node.op in DELAYS and node.attributes["timeStep"] > steps:
            far = node.attributes["timeStep"]
            reason = f"reads {far:,} steps before, and pieces have {steps:,}"
        if reason:
            message = f"'{node.name}', of type {node.op}, {reason}: {why}."
            refusals.append(RunRefusal(message, network.nodes[node.name].where))
    if refusals:
        raise Refused(*refusals)
