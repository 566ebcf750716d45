"""The one table of PyTorch's words, and which operations have none, with the reason."""

from __future__ import annotations

from netsharp_engine.exporting.torch.operators import bundles, products, windows
from netsharp_engine.exporting.torch.operators.elements import ELEMENTS
from netsharp_engine.exporting.torch.operators.rows import BiasedRow, Row
from netsharp_engine.exporting.torch.operators.selecting import SELECTING
from netsharp_engine.exporting.torch.operators.shaping import SHAPING
from netsharp_engine.ops.tensors import SUMS

ROWS: dict[str, Row] = {
    **ELEMENTS,
    **products.PRODUCTS,
    **SHAPING,
    **SELECTING,
    **windows.WINDOWS,
    **bundles.BUNDLES,
}
#: Those whose layer adds a bias that the next node brings.
BIASED: dict[str, BiasedRow] = {**products.BIASED, **windows.BIASED, **bundles.BIASED}

_OTHERS = {
    "CosDistanceWithNegativeSamples": "it joins each sample with others of its batch.",
    "ScatterPacked": "it puts steps back into sequences, which tensors of steps do not have.",
    "RandomSample": "it draws classes by CNTK's generator.",
    "RandomSampleInclusionFrequency": "it draws classes by CNTK's generator.",
    "EpochAccumulator": "it gathers over the samples of an epoch.",
}


def why_not(operation: str) -> str:
    """Return why an operation is not written, after its name."""
    if operation in SUMS:
        return "it sums over samples, and only what each sample gives is exported."
    return _OTHERS.get(operation, "nothing of PyTorch is written for it yet.")
