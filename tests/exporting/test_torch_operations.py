"""Every operation that has a row for PyTorch gives the engine's values there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.torch.exported import TorchForm, exported
from netsharp_engine.exporting.torch.operators.bundles import BUNDLES
from netsharp_engine.exporting.torch.operators.table import BIASED, ROWS, why_not
from netsharp_engine.exporting.torch.written import stored
from netsharp_engine.graph import Graph
from netsharp_engine.ops.tensors import COUNTING, ENVIRONMENT, HELD, SUMS, TENSORS
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_engine.tensor_backend.kernels.table import TABLE
from tests.cntk.training.operations import CASES, PREPARED, SAMPLES, Shape, values
from tests.conftest import SEED
from tests.peers import REASONS

pytest.importorskip("torch", reason=REASONS["torch"])
from netsharp_engine.exporting.torch.comparing import Running
from tests.exporting.modules import formatted, require_plain

EXPORTED = [case for case in CASES if case[0] in ROWS and SAMPLES in case[3]]


@pytest.mark.drawn
@pytest.mark.parametrize(("operation", "sizes", "attributes", "spread"), EXPORTED)
def test_operation(
    operation: str,
    sizes: tuple[Shape, ...],
    attributes: Mapping[str, Any],
    spread: tuple[int, ...],
) -> None:
    """Sources with one row are parameters, which all samples share."""
    random = np.random.default_rng(SEED)
    drawn = [values(operation, (n, *s), random) for n, s in zip(spread, sizes, strict=True)]
    drawn = PREPARED.get(operation, lambda same: same)(drawn)
    graph, tensors, sources = Graph(), {}, []
    for number, (size, array) in enumerate(zip(sizes, drawn, strict=True)):
        if len(array) == 1:
            parameter = graph.parameter(f"p{number}", size)
            tensors[parameter.name] = array[0]
            sources.append(
                graph.apply("LearnableParameter", parameters=[parameter], name=parameter.name)
            )
        else:
            sources.append(graph.input(f"x{number}", size))
    reported = dict(attributes)
    if operation == "Times" and len(sizes[0]) == 4:
        reported["outputRank"] = 2
    node = graph.apply(operation, *sources, name="y", **reported)
    module = exported(Portable(graph, tensors, "float64", (node,)), TorchForm())
    require_plain(module.text)
    assert formatted(module.text) == module.text
    given = {f"x{number}": one for number, one in enumerate(drawn) if len(one) > 1}
    (found,) = Running(module, stored(module))([given[one.origin] for one in module.inputs])
    np.testing.assert_allclose(found, TABLE[operation].forward(node, drawn), rtol=1e-9, atol=1e-12)


def test_every_operation_is_written_or_refused_with_its_reason() -> None:
    elsewhere = {*HELD, *DELAYS, *COLUMNS, ENVIRONMENT}
    left = TENSORS - ROWS.keys() - elsewhere
    assert left.issuperset(SUMS)
    assert not left.intersection(COUNTING)
    for operation in sorted(left):
        assert why_not(operation).endswith(".")
    assert BIASED.keys() <= ROWS.keys()
    tried = {case[0] for case in EXPORTED}
    assert tried >= ROWS.keys() - BUNDLES.keys() - {
        *("Convolution", "Pooling", "MaxPooling", "AveragePooling", "Dropout", "StraightThrough"),
        *COUNTING,
    }


def test_a_criterion_is_refused_by_name() -> None:
    graph = Graph()
    x, labels = graph.input("x", (3,)), graph.input("labels", (3,))
    loss = graph.apply("CrossEntropyWithSoftmax", labels, x, name="ce")
    with pytest.raises(ExportError, match="'ce' is of type CrossEntropyWithSoftmax: it sums over"):
        exported(Portable(graph, {}, "float32", (loss,)), TorchForm())
