"""The plan of a compilation, as far as it is known without data: pairs of layers, the operators
between them, the schemes on both sides, and which of them have a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_compile.evaluating.reports import reason_of, shown_scheme
from netsharp_compile.layers import SOFTMAX
from netsharp_compile.planning import schemes_without_data
from netsharp_compile.tables import transfer_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.widths import CompileSettings


_NONE = {
    function: f"no table: {reason_of(function, None, shared=False)}"
    for function in (SOFTMAX, "linear", "rlinear")
}
_WORKED_OUT = f"no table: {reason_of('', None, shared=False, has_formula=True)}"


class PlannedPair(NamedTuple):
    """A layer and those that read it: the operator between them, the schemes of the sums and of
    what is read, whether there is a table, and why.
    """

    layer: str
    readers: tuple[str, ...]
    operator: str
    sums: str
    values: str
    table: str
    multiply_adds: int

    def __str__(self) -> str:
        """Return a line."""
        to = ", ".join(self.readers) or "the answers"
        return (
            f"{self.layer} -> {to}: {self.operator}, sums {self.sums}, values {self.values}, "
            f"{self.table}"
        )


def explained(layers: Sequence[SummedLayer], settings: CompileSettings) -> list[PlannedPair]:
    """Return the pairs of a network in order. Raises ValueError for a table of more operands or
    bits than there are tables of.
    """
    found = []
    sharing: dict[str, str] = {}
    for place, layer in enumerate(layers):
        last = place == len(layers) - 1
        readers = tuple(
            one.name
            for one in layers
            if any(part.bundle.source.operand == place + 1 for part in one.parts)
        )
        index, codes = schemes_without_data(layer.function, settings, layer.name, last=last)
        sums, values = (
            one if isinstance(one, str) else shown_scheme(one) for one in (index, codes)
        )
        table = _table(layer.function, settings, last=last)
        if not isinstance(index, str) and not isinstance(codes, str):
            # Both follow from the operator, and so does the table.
            if transfer_table(index, layer.function, codes, big_tables=True).is_identity:
                table = _NONE["rlinear"]
            else:
                first = sharing.setdefault(layer.function, layer.name)
                table = "a table" if first == layer.name else f"the table of {first}"
        if settings.transfer == "arith" and table not in _NONE.values():
            table = _WORKED_OUT
        found.append(
            PlannedPair(
                layer.name, readers, layer.function, sums, values, table, layer.multiply_adds
            )
        )
    return found


def _table(function: str, settings: CompileSettings, *, last: bool) -> str:
    is_alike = function == "linear" if last else function in ("linear", "rlinear")
    if function == SOFTMAX or (is_alike and (last or settings.method.kind != "minmax")):
        return _NONE[function]
    return "a table"
