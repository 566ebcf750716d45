"""The one table of torch's rows: all operations but those of sequences, and those that act."""

from __future__ import annotations

from netsharp_engine.ops.tensors import ENVIRONMENT, HELD
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_engine.torch_backend.tensors.kernels.acting import ACTING
from netsharp_engine.torch_backend.tensors.kernels.criteria import CRITERIA
from netsharp_engine.torch_backend.tensors.kernels.elements import ELEMENTS
from netsharp_engine.torch_backend.tensors.kernels.images import IMAGES
from netsharp_engine.torch_backend.tensors.kernels.products import PRODUCTS
from netsharp_engine.torch_backend.tensors.kernels.queries import QUERIES
from netsharp_engine.torch_backend.tensors.kernels.regions import REGIONS
from netsharp_engine.torch_backend.tensors.kernels.rows import TorchRow
from netsharp_engine.torch_backend.tensors.kernels.shaping import SHAPING
from netsharp_engine.torch_backend.tensors.kernels.words import WORDS

TABLE: dict[str, TorchRow] = {
    **ELEMENTS,
    **SHAPING,
    **PRODUCTS,
    **IMAGES,
    **REGIONS,
    **CRITERIA,
    **WORDS,
    **QUERIES,
}
#: The operations that are computed.
COMPUTED = frozenset((*TABLE, *ACTING, *COLUMNS, *DELAYS, *HELD, ENVIRONMENT))
