"""Operations that read other steps of sequences, in PyTorch on [steps, sequences, ...].

A loop becomes a layer where it is one, else a loop of Python with a name for each step that a delay
reaches back.  Sequences of one batch have equally many steps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from netsharp_engine.exporting.recurrences import border_of
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.exporting.torch import recurrent
from netsharp_engine.exporting.torch.recurrent import repeated
from netsharp_engine.exporting.torch.source import call, listed
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import STEPWISE, ExportedValue
from netsharp_engine.ops.tensors.shaping import DELAYS

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node
    from netsharp_engine.tensor_backend.loops import Loop

#: Adds one operation inside a loop.
Emit = Callable[[TorchWriting, "Node", dict["Node", ExportedValue]], ExportedValue]


def delayed(out: TorchWriting, node: Node, values: Mapping[Node, ExportedValue]) -> str:
    """Add a delay outside of loops, and return its name. Raises ExportError where its first values
    change with the samples.
    """
    source = values[node.inputs[0]].name
    steps = int(node.attributes.get("timeStep", 1))
    border = border_of(node, out.floats, values)
    edge = out.let(repeated(out, border, source, str(steps)), f"{node.name}/edge")
    if node.op == DELAYS[0]:
        longer = out.let(call("torch.cat", listed((edge, source))))
        return out.let(f"{longer}[: len({source})]")
    longer = out.let(call("torch.cat", listed((source, edge))))
    return out.let(f"{longer}[{steps}:]")


def looped(
    out: TorchWriting,
    loop: Loop,
    shown: Collection[Node],
    values: dict[Node, ExportedValue],
    emit: Emit,
) -> None:
    """Add a loop; the values of the nodes that are read outside of it are then known. Raises
    ExportError for a loop that reads nothing along a sequence.
    """
    found = recurrent.layer_of(out, loop, shown, values)
    if found is None:
        names = ", ".join(one.name for one in loop.nodes if one.op in DELAYS)
        with out.section(f"One step after the other, {names}"):
            _by_steps(out, loop, shown, values, emit)
    else:
        values.update(found)


def _by_steps(
    out: TorchWriting,
    loop: Loop,
    shown: Collection[Node],
    values: dict[Node, ExportedValue],
    emit: Emit,
) -> None:
    inside = set(loop.nodes)
    read = dict.fromkeys(one for node in loop.nodes for one in node.inputs if one not in inside)
    fed = [one for one in read if values[one].lead]
    if not fed:
        raise refused(loop.nodes[0], "the loop that it is in reads nothing along a sequence.")
    if any(values[one].lead != STEPWISE for one in fed):
        raise refused(loop.nodes[0], "the loop that it is in reads what no step has of its own.")
    like = values[fed[0]].name
    known = {one: values[one] for one in read if not values[one].lead}
    delays = [node for node in loop.nodes if node.op in DELAYS]
    kept: dict[Node, list[str]] = {}
    for delay in delays:
        first = repeated(out, border_of(delay, out.floats, values), like)
        count = int(delay.attributes.get("timeStep", 1))
        kept[delay] = [out.names.fresh(delay.name) for _ in range(count)]
        for name in kept[delay]:
            out.add_statement(f"{name} = ", first)
        known[delay] = ExportedValue(kept[delay][-1], 1, delay.shape)
    results = {one: out.names.fresh(f"{one.name}/steps") for one in shown}
    for name in results.values():
        out.add_statement(f"{name}: list[Tensor] = []")
    turned = ".flip(0)" if loop.backwards else ""
    steps = {one: out.names.fresh(f"{values[one].name}/step") for one in fed}
    sources = [f"{values[one].name}{turned}" for one in fed]
    if len(sources) == 1:
        out.add_statement(f"for {steps[fed[0]]} in {sources[0]}:")
    else:
        out.add_statement(
            f"for {', '.join(steps.values())} in ", call("zip", *sources, strict="True"), ":"
        )
    known.update((one, ExportedValue(name, 1, one.shape)) for one, name in steps.items())
    with out.inside():
        for node in loop.nodes:
            if node.op not in DELAYS:
                known[node] = emit(out, node, known)
        _advance(out, delays, kept, known)
        for one, name in results.items():
            out.add_statement(f"{name}.append(", _spread(out, known[one], like), ")")
    for one, name in results.items():
        out.begin(one.name)
        found = out.let(f"torch.stack({name}){turned}")
        values[one] = ExportedValue(found, STEPWISE, one.shape)


def _spread(out: TorchWriting, value: ExportedValue, like: str) -> str:
    """Return a value for each sequence; one that all share is repeated."""
    if value.lead:
        return value.name
    sizes = ", ".join(map(str, value.shape))
    return f"{out.read(value)}.expand({like}.shape[1], {sizes})"


def _advance(
    out: TorchWriting,
    delays: list[Node],
    kept: Mapping[Node, list[str]],
    known: Mapping[Node, ExportedValue],
) -> None:
    """Move every delay by a step; one that reads another delay reads its value before the move."""
    states = {name for names in kept.values() for name in names}
    like = next(iter(states))
    sources = {}
    for delay in delays:
        value = known[delay.inputs[0]]
        out.begin("")
        name = f"{out.read(value)}" if value.lead else ""
        if not name:
            sizes = ", ".join(map(str, value.shape))
            name = f"{out.read(value)}.expand(len({like}), {sizes})"
        if name in states:
            fresh = out.names.fresh(f"{delay.name}/next")
            out.add_statement(f"{fresh} = ", name)
            name = fresh
        sources[delay] = name
    for delay in delays:
        names = kept[delay]
        for later, earlier in zip(names[::-1], names[-2::-1], strict=False):
            out.add_statement(f"{later} = ", earlier)
        out.add_statement(f"{names[0]} = ", sources[delay])
