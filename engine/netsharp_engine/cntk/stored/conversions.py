"""Conversions of older files' contents to today's: statistics, inputs and axes.

Networks are changed as values; it must not read files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netsharp_engine.cntk.stored.values import EPSILON, StoredModel, StoredNode

_NORMALIZATION, _STACK, _PARAMETER = "BatchNormalization", "OptimizedRNNStack", "LearnableParameter"
#: What nodes keep whose numbers are no longer those of the file.
CONVERTED = ".converted"
#: The versions before which a node's numbers or inputs meant something else.
_VARIANCES, _WEIGHTS_FIRST = 13, 14


def converted(model: StoredModel) -> StoredModel:
    """Return a model of an older version as one of today, with its conversions as warnings."""
    nodes = {node.name: node for node in model.nodes}
    warnings = list(model.warnings)
    for change in (_variances, _swapped_stacks, _without_counts, _one_axis_each):
        warning = change(nodes, model.version)
        warnings += [warning] if warning else []
    return model._replace(nodes=list(nodes.values()), warnings=warnings)


def _variances(nodes: dict[str, StoredNode], version: int) -> str:
    """Convert inverse deviations to variances: epsilon is added to them, and once more when
    normalising.

    CNTK: BatchNormalizationNode, the conversion of files before version 13.
    """
    if version >= _VARIANCES:
        return ""
    done: set[str] = set()
    for node in list(nodes.values()):
        if node.operation != _NORMALIZATION or len(node.inputs) < 5 or node.inputs[4] in done:
            continue
        source = nodes[node.inputs[4]]
        if source.values is not None:
            done.add(source.name)
            inverse = source.values.astype(np.float64)
            with np.errstate(divide="ignore"):
                variance = 1 / (inverse * inverse) + node.attributes.get("epsilon", EPSILON)
            values = variance.astype(source.values.dtype)
            kept = {**source.kept, CONVERTED: True}
            nodes[source.name] = source._replace(values=values, kept=kept)
    if not done:
        return ""
    return (
        f"The statistics of {len(done):,} batch normalisations were inverse deviations, as models "
        "before version 13 have them, and are variances now."
    )


def _swapped_stacks(nodes: dict[str, StoredNode], version: int) -> str:
    if version < _WEIGHTS_FIRST:
        for node in list(nodes.values()):
            if node.operation == _STACK and len(node.inputs) == 2:
                nodes[node.name] = node._replace(inputs=node.inputs[::-1])
    return ""


def _without_counts(nodes: dict[str, StoredNode], version: int) -> str:
    """Convert a count of samples that is an input to a number of the node."""
    for node in list(nodes.values()):
        if node.operation == _NORMALIZATION and len(node.inputs) > 5:
            counted = nodes[node.inputs[5]].values
            values = node.values
            if counted is not None and counted.size == 1:
                values = np.asarray(counted, np.float64).reshape(1)
            nodes[node.name] = node._replace(inputs=node.inputs[:5], values=values)
    return ""


def _one_axis_each(nodes: dict[str, StoredNode], version: int) -> str:
    """Convert a node that works along several axes to several of one axis each."""
    for node in list(nodes.values()):
        keys = _SEVERAL.get(node.operation)
        if keys is None or not isinstance(node.attributes.get("axis"), tuple):
            continue
        given: Mapping[str, Any] = node.attributes
        count, source = len(given["axis"]), node.inputs
        for at in range(count):
            own = {key: value[at] if key in keys else value for key, value in given.items()}
            name = node.name if at == count - 1 else f"{node.name}.{at + 1}"
            nodes[name] = node._replace(name=name, inputs=source, attributes=own)
            source = (name,)
    return ""


_SEVERAL = {
    "Slice": frozenset(("beginIndex", "endIndex", "axis", "stride")),
    "ReduceElements": frozenset(("axis",)),
}
_CRITERION_GROUPS = frozenset(("criterion", "evaluation"))


def default_outputs(
    nodes: Sequence[StoredNode], groups: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return the nodes worth asking for: those that the file calls outputs, else those that no
    other node reads, criteria excepted.
    """
    if groups.get("output"):
        return tuple(dict.fromkeys(groups["output"]))
    criteria = {name for group in _CRITERION_GROUPS for name in groups.get(group, ())}
    labels = set(groups.get("label", ()))
    read = {name for node in nodes if node.name not in criteria for name in node.inputs}
    compared = {
        name
        for node in nodes
        if node.name in criteria
        for name in node.inputs
        if name not in labels
    }
    leaves = (_PARAMETER, "InputValue", "SparseInputValue")
    computed = [one.name for one in nodes if one.operation not in leaves]
    return tuple(
        name for name in computed if name not in criteria and (name in compared or name not in read)
    )
