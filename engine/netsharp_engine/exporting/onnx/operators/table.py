"""The one table of ONNX operators, and which operations have none, with the reason."""

from __future__ import annotations

from netsharp_engine.exporting.onnx.operators.bundles import BUNDLES
from netsharp_engine.exporting.onnx.operators.elements import ELEMENTS
from netsharp_engine.exporting.onnx.operators.products import PRODUCTS
from netsharp_engine.exporting.onnx.operators.rows import Row
from netsharp_engine.exporting.onnx.operators.selecting import SELECTING
from netsharp_engine.exporting.onnx.operators.shaping import SHAPING
from netsharp_engine.exporting.onnx.operators.windows import WINDOWS
from netsharp_engine.ops.tensors import SUMS

ROWS: dict[str, Row] = {**ELEMENTS, **PRODUCTS, **SHAPING, **WINDOWS, **SELECTING, **BUNDLES}

_OTHERS = {
    "MaxUnpooling": "ONNX asks for the places of the maxima, which the network does not have.",
    "CosDistanceWithNegativeSamples": "it joins each sample with others of its batch.",
    "ScatterPacked": "it puts steps back into sequences, which ONNX does not have.",
}


def why_not(operation: str) -> str:
    """Return why an operation is not written, after its name."""
    if operation in SUMS:
        return "it sums over samples, and only what each sample gives is exported."
    return _OTHERS.get(operation, "no operator of ONNX is written for it yet.")
