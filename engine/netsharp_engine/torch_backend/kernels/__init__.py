"""The table of torch's kernels: one row for each operation of networks of layers."""

from __future__ import annotations

from netsharp_engine.torch_backend.kernels import dense, elements, windows
from netsharp_engine.torch_backend.kernels.rows import Bind

KERNELS: dict[str, Bind] = {
    "full": dense.full,
    "filtered": dense.filtered,
    "bias": dense.bias,
    "add": dense.add,
    "activation": elements.activation,
    "transfer": elements.transfer,
    "Dropout": elements.dropout,
    "convolve": windows.convolve,
    "max pool": windows.max_pool,
    "mean pool": windows.mean_pool,
    "response norm": windows.response_norm,
}
