"""Writes `docs/nodes.md`: what is done with each type of node of CNTK, from the code's own tables.

python -m tests.cntk.training.node_table
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from netsharp_engine.cntk.stored.dictionaries.functions import OPERATIONS, function_of
from netsharp_engine.cntk.stored.stored_nodes import RENAMED, TYPES
from netsharp_engine.exporting.onnx.operators.table import ROWS
from netsharp_engine.ops.tensors import ENVIRONMENT, HELD, TENSORS
from netsharp_engine.ops.tensors.shaping import DELAYS
from netsharp_engine.tensor_backend.kernels.table import TABLE
from netsharp_lsp.cntk.networks.node import Node
from netsharp_lsp.cntk.networks.node_types import INPUTS, MODEL_TYPES, NODE_TYPES, row_of
from netsharp_lsp.cntk.training.networks.left_out import _REFUSED, TRACE
from netsharp_lsp.cntk.training.networks.recurrent_stacks import STACK
from netsharp_lsp.cntk.training.networks.simpler import PARTS
from netsharp_lsp.cntk.writing.attributes import why_not_writable

PAGE = Path(__file__).parents[3] / "docs" / "nodes.md"
#: The table of PyTorch's modules, where that export is installed.
TORCH = "netsharp_engine.exporting.torch.operators.table"
#: Types that a graph holds without a row of their own: written of other nodes, or nothing.
_MADE = frozenset((*INPUTS, *HELD, *DELAYS, ENVIRONMENT, STACK, TRACE, *PARTS))
#: What of sequences is exported where it takes steps by their position.
_CHOSEN = frozenset(("Where", "PackedIndex", "GatherPacked", "ReconcileDynamicAxis"))
#: Operations outside of the table of kernels through which a gradient comes back.
_LEARNING = frozenset(
    (*DELAYS, "GatherPacked", "ScatterPacked", "ReconcileDynamicAxis", "Dropout")
) | {"BatchNormalization", "LearnableParameter", STACK, TRACE}
_HEAD = """\
# Nodes of CNTK

What netsharp supports for each type of node of CNTK's networks.

- *read*: it is read from model files, `1` in CNTK's own format (networks of BrainScript and NDL),
  `2` in the format of CNTK's Python library, with its name there if it differs;
- *shape*: its shape is inferred, so that networks with it can be checked and described;
- *evaluated*: its value is computed;
- *trained*: a gradient flows back through it to at least one input;
- *ONNX*, *torch*: it is exported to ONNX and to PyTorch; `position`: only if the steps of a
  sequence that it selects are determined by their position;
- *BrainScript*: `export --to brainscript` writes it.

The table is generated from the code (`python -m tests.cntk.training.node_table`), and a test
compares the two.

| node | read | shape | evaluated | trained | ONNX | torch | BrainScript |
|---|---|---|---|---|---|---|---|
"""
_YES, _NO = "yes", ""


def torch_rows() -> Mapping[str, Any]:
    """The operations that are exported to PyTorch; none where that is not installed."""
    try:
        found: Mapping[str, Any] = import_module(TORCH).ROWS
    except ImportError:
        return {}
    return found


def named_by_second() -> dict[str, list[str]]:
    """What the second format calls each type of the first."""
    found: dict[str, list[str]] = {}
    for name in OPERATIONS:
        if name not in ("Block", "Combine"):
            found.setdefault(function_of(name).operation, []).append(name)
    return found


def learns(operation: str) -> bool:
    """Whether a gradient comes back through an operation to one of its sources."""
    if operation in PARTS or operation in _LEARNING or operation == "RowStack":
        return True
    return operation in TABLE and any(TABLE[operation].backward)


def page() -> str:
    """The page as it has to be."""
    second, torch = named_by_second(), torch_rows()
    known = {RENAMED.get(name, name) for name in TYPES}
    rows = []
    for operation in sorted({*NODE_TYPES, *MODEL_TYPES, *known, *second}, key=str.lower):
        others = second.get(operation, [])
        read = ["1"] * (operation in TYPES)
        read += [f"2 ({', '.join(others)})" if others != [operation] else "2"] * bool(others)
        computed = operation in (*TENSORS, *INPUTS, *PARTS, STACK, TRACE)
        computed &= operation not in _REFUSED
        cells = [
            operation,
            ", ".join(read),
            _messages(row_of(operation) is not None),
            _messages(computed),
            _messages(computed and learns(operation)),
            _exported(operation, ROWS) if computed else _NO,
            _exported(operation, torch) if computed and torch else _NO,
            _messages(operation in TYPES and why_not_writable(Node(operation, 0)) is None),
        ]
        rows.append("| " + " | ".join(cells) + " |\n")
    return _HEAD + "".join(rows)


def _messages(done: bool) -> str:
    return _YES if done else _NO


def _exported(operation: str, rows: Mapping[str, Any]) -> str:
    if operation in _CHOSEN:
        return "position"
    return _messages(operation in rows or operation in _MADE)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
