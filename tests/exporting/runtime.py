"""An exported graph computed by onnxruntime beside the engine's own evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netsharp_engine.exporting.onnx.checking import require_valid
from netsharp_engine.exporting.onnx.comparing import compared
from netsharp_engine.exporting.onnx.exported import OnnxForm, exported
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.sampling import random_samples
from netsharp_engine.graph import Graph, Node


def agree(
    graph: Graph,
    tensors: Mapping[str, Any],
    outputs: Sequence[Node],
    *,
    dtype: str = "float64",
    bound: float = 1e-9,
    seed: int = 1,
    **form: Any,
) -> Any:
    """Export a graph, check it, and compare what both say of random samples; return the model."""
    portable = Portable(graph, tensors, dtype, tuple(outputs))
    model = exported(portable, OnnxForm(**form))
    require_valid(model)
    for difference in compared(portable, model, [random_samples(portable, seed)]):
        assert difference.relative <= bound, difference
    return model
