"""The tables of the seed's own examples, as the documents show them: run it to print them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import netsharp
from netsharp_compile.schemes import QuantizationScheme

if TYPE_CHECKING:
    from collections.abc import Iterator

_MADE = QuantizationScheme
#: What is shown of each table at either end.
_ENDS = 4
_LAYER = _MADE.asymmetric(-3.0, 2.5)
_UNIT = _MADE.asymmetric(0.0, 1.0)
_WIDE = _MADE.symmetric(2.5, 16)
#: A word for the table, the schemes before and after it, and the operator.
EXAMPLES: tuple[tuple[str, QuantizationScheme, Any, QuantizationScheme], ...] = (
    ("tanh, asymmetric to symmetric", _LAYER, "tanh", _MADE.symmetric(1.0)),
    ("leaky ReLU", _LAYER, ("leaky relu", 0.1), _MADE.asymmetric(-0.3, 2.5)),
    ("sigmoid", _MADE.asymmetric(-6.0, 6.0, 8, "signed"), "sigmoid", _UNIT),
    ("erf", _MADE.symmetric(2.0), "erf", _MADE.qmn(0, 7)),
    ("identity, as a converter", _LAYER, "identity", _MADE.symmetric(2.5)),
    ("identity, 8 to 16 bits", _LAYER, "identity", _WIDE),
    ("identity, 16 to 8 bits", _WIDE, "identity", _LAYER),
)


def lines() -> Iterator[str]:
    """Yield the lines of the table in the documents."""
    yield "| transfer function | before | after | entries | first and last |"
    yield "|---|---|---|---|---|"
    for name, source, operator, target in EXAMPLES:
        table = netsharp.transfer_table(source, operator, target, big_tables=True)
        entries = table.values.tolist()
        ends = ", ".join(map(str, entries[:_ENDS])), ", ".join(map(str, entries[-_ENDS:]))
        shown = f"{len(entries):,} | {ends[0]} ... {ends[1]}"
        yield f"| {name} | {_shown(source)} | {_shown(target)} | {shown} |"


def _shown(scheme: QuantizationScheme) -> str:
    """A scheme in a cell: its codes, its step and its zero."""
    codes = f"{scheme.least} to {scheme.most}"
    return (
        f"{scheme.kind} {scheme.bits}, {codes}, step {scheme.scale:.4g}, 0 at {scheme.zero_point}"
    )


if __name__ == "__main__":
    print("\n".join(lines()))
