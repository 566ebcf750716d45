"""Names, dynamic axes and groups of a model of the second format, which has only uids.

A function has its uid as name; inputs have the name that users gave, parameters that of their block
and their own, where that is unique.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from netsharp_engine.cntk.stored.values import StoredBlock, StoredNode

_INPUTS = ("InputValue", "SparseInputValue")
_HELD = "LearnableParameter"
_AXIS, _BATCH = "DynamicAxis", "defaultBatchAxis"
#: Operations that are trained, and those that are only reported.
_CRITERIA = frozenset(
    (
        "CrossEntropyWithSoftmax",
        "SquareError",
        "CrossEntropy",
        "Logistic",
        "LambdaRank",
        "ForwardBackward",
        "ClassBasedCrossEntropyWithSoftmax",
    )
)
_EVALUATIONS = frozenset(("ClassificationError", "NDCG1Eval", "EditDistanceError"))
_SUM = "SumElements"


def with_axes(nodes: Sequence[StoredNode]) -> list[StoredNode]:
    """Return nodes with the dynamic axes of inputs named where there are several.

    That of sequences is the one without a name; samples without a sequence have another.
    """
    given = [node.kept[".axes"] for node in nodes if node.operation in _INPUTS]
    kinds = sorted(dict.fromkeys(given), key=lambda one: (-len(one), given.index(one)))
    names = {kind: "" if at == 0 else _axis_name(kind) for at, kind in enumerate(kinds)}
    taken = {node.name for node in nodes}
    names = {kind: f"{one}.axis" if one in taken else one for kind, one in names.items()}
    found = [
        StoredNode(_AXIS, name, (), function=_AXIS, uid=name) for name in names.values() if name
    ]
    for node in nodes:
        axes = node.kept.get(".axes")
        if node.operation == "Where":
            axes = node.attributes.get("newDynamicAxes", ())
        name = names.get(axes, "") if axes is not None else ""
        if node.operation in _INPUTS or (name and node.operation == "Where"):
            node = node._replace(attributes={**node.attributes, "dynamicAxis": name})
        found.append(node)
    return found


def _axis_name(axes: Sequence[str]) -> str:
    """Return the name of a set of axes: its sequences, or the batch alone."""
    return next((one for one in axes if one != _BATCH), _BATCH)


def named(
    nodes: Sequence[StoredNode], blocks: Sequence[StoredBlock]
) -> tuple[list[StoredNode], dict[str, str]]:
    """Return nodes under the names that users ask for, and other names of them."""
    around = _blocks_of(nodes)
    paths = {
        node.name: f"{blocks[around[node.name]].name}/{node.label}"
        for node in nodes
        if node.operation == _HELD
        and node.label
        and node.name in around
        and blocks[around[node.name]].name
    }
    labels = Counter(node.label for node in nodes if node.operation in _INPUTS)
    wanted = {node.name: node.label for node in nodes if labels[node.label] == 1 and node.label}
    chosen = {
        node.name: wanted[node.name]
        for node in nodes
        if node.operation in _INPUTS and node.name in wanted
    }
    chosen |= paths
    counts = Counter((*chosen.values(), *(node.name for node in nodes)))
    new = {node.name: node.name for node in nodes}
    new |= {name: one for name, one in chosen.items() if counts[one] == 1}
    aliases = {f"{name}_Output_0": one for name, one in new.items()} | new
    given = Counter(node.label for node in nodes)
    for node in nodes:
        if node.label and given[node.label] == 1:
            aliases.setdefault(node.label, new[node.name])
    found = [
        node._replace(name=new[node.name], inputs=tuple(new.get(one, one) for one in node.inputs))
        for node in nodes
    ]
    kept = set(new.values())
    return found, {name: one for name, one in aliases.items() if name != one and name not in kept}


def _blocks_of(nodes: Sequence[StoredNode]) -> dict[str, int]:
    """Return the one block in which each parameter is read."""
    found: dict[str, set[int | None]] = {}
    for node in nodes:
        for one in node.inputs:
            found.setdefault(one, set()).add(node.block)
    single = {name: next(iter(used)) for name, used in found.items() if len(used) == 1}
    return {name: at for name, at in single.items() if at is not None}


def grouped(
    nodes: Sequence[StoredNode], roots: Sequence[str]
) -> tuple[Mapping[str, Sequence[str]], tuple[str, ...]]:
    """Return the groups of nodes as the first format has them, and all nodes worth asking for."""
    by_name = {node.name: node for node in nodes}
    roots = [name for name in roots if name in by_name]
    undivided = [_unsummed(by_name, name) for name in roots]
    criteria = [name for name in undivided if by_name[name].operation in _CRITERIA]
    evaluations = [name for name in undivided if by_name[name].operation in _EVALUATIONS]
    first, others = criteria[:1], [*criteria[1:], *evaluations]
    criterion_names = list(dict.fromkeys((*first, *others)))
    answers = [name for name, of in zip(roots, undivided, strict=True) if of not in criterion_names]
    sources = [source for name in criterion_names for source in by_name[name].inputs]
    answers += [name for name in sources if by_name[name].operation not in _INPUTS]
    answers = list(dict.fromkeys(answers))
    needed = _reached(by_name, answers)
    inputs = [node.name for node in nodes if node.operation in _INPUTS]
    labels = [name for name in inputs if name in sources and name not in needed]
    groups = {
        "feature": tuple(name for name in inputs if name not in labels),
        "label": tuple(labels),
        "criterion": tuple(first),
        "evaluation": tuple(dict.fromkeys(one for one in others if one not in first)),
        "output": tuple(answers),
    }
    read = {source for node in nodes for source in node.inputs}
    leaves = (*_INPUTS, _HELD, _AXIS)
    further = [
        node.name
        for node in nodes
        if node.operation not in leaves
        and node.name not in criterion_names
        and node.block is None
        and (node.label or node.name not in read)
        and _unsummed(by_name, node.name) not in criterion_names
    ]
    return groups, tuple(dict.fromkeys((*answers, *further)))


def _unsummed(by_name: Mapping[str, StoredNode], name: str) -> str:
    """Return the node that a sum over all samples adds up."""
    node = by_name[name]
    return node.inputs[0] if node.operation == _SUM and node.inputs else name


def _reached(by_name: Mapping[str, StoredNode], names: Sequence[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found and name in by_name:
            found.add(name)
            waiting += by_name[name].inputs
    return found
