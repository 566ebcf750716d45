"""Widths and kinds of operands by their names, ``uint8``, ``int16/12``, ``qmn8`` and the others,
and all other settings of compiling.

Knows no layer and no data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import frexp
from typing import TYPE_CHECKING, Literal, NamedTuple

from netsharp_compile.calibrating.ranges import RANGES, RangeMethod
from netsharp_compile.refusal import CompileError
from netsharp_compile.schemes import LEAST_BITS, MOST_BITS, QuantizationScheme
from netsharp_compile.tables import USUAL_BITS

if TYPE_CHECKING:
    from netsharp_compile.schemes import Operand

_KINDS: dict[str, Operand] = {
    "uint": "unsigned",
    "int": "signed",
    "symmetric": "symmetric",
    "qmn": "signed",
}
_NAME = re.compile(rf"({'|'.join(_KINDS)})([0-9]{{1,2}})(?:/([0-9]{{1,2}}))?")
#: Bits of operands and of their index, each more exact than the one before.
_LADDER = ((8, 8), (10, 10), (USUAL_BITS, USUAL_BITS), (MOST_BITS, USUAL_BITS))


@dataclass(frozen=True, slots=True)
class OperandWidth:
    """The codes of a layer's values and of its sums: ``bits`` of the former, ``index`` of the
    latter, by which a table is looked up.
    """

    kind: str
    bits: int
    index: int

    @classmethod
    def of(cls, text: str) -> OperandWidth:
        """Return the width that a text names; CompileError for one that names none."""
        match = _NAME.fullmatch(text) if isinstance(text, str) else None
        if match is not None:
            bits = int(match[2])
            found = cls(match[1], bits, int(match[3] or bits))
            if LEAST_BITS <= found.index <= found.bits <= MOST_BITS:
                return found
        raise CompileError(
            f"Operands are uint8, int8, symmetric8 or qmn8, with {LEAST_BITS} to {MOST_BITS} bits, "
            "and may be looked up by fewer, as int16/12 is; "
            f"{text!r} is none."
        )

    @property
    def operand(self) -> Operand:
        """Return the kind of its codes."""
        return _KINDS[self.kind]

    def __str__(self) -> str:
        """Return the name."""
        index = "" if self.index == self.bits else f"/{self.index}"
        return f"{self.kind}{self.bits}{index}"

    def raised(self) -> OperandWidth | None:
        """Return the next more exact width; None after the last."""
        for bits, index in _LADDER:
            if (bits, index) > (self.bits, self.index):
                return OperandWidth(self.kind, bits, index)
        return None

    def covering(self, values: tuple[float, float], bits: int) -> QuantizationScheme:
        """Return the scheme of a number of bits for real numbers from one to another."""
        if self.kind == "qmn":
            return _fixed_point(max(abs(values[0]), abs(values[1])), bits)
        return scheme_of_range(values, bits, self.operand)


def scheme_of_range(values: tuple[float, float], bits: int, operand: Operand) -> QuantizationScheme:
    """Return the affine scheme of a range, symmetric where its operands are."""
    low, high = values
    if operand == "symmetric":
        return QuantizationScheme.symmetric(max(abs(low), abs(high)), bits)
    return QuantizationScheme.asymmetric(low, high, bits, operand)


def _fixed_point(bound: float, bits: int) -> QuantizationScheme:
    """Return the finest Qm.n whose largest code is not below a bound."""
    most = (1 << bits - 1) - 1
    fraction = bits - 1
    if bound:
        # 2^fraction is the largest power of two that is not above the quotient.
        fraction = frexp(most / bound)[1] - 1
    return QuantizationScheme.qmn(bits - 1 - fraction, fraction)


Activations = str
Weights = Literal["int8", "int8-tensor", "int16", "qmn8"]
Logits = Literal["int16", "int8", "uint8"]
Requantisation = Literal["auto", "mul", "shift"]
Transfer = Literal["lut", "arith"]


class WeightKind(NamedTuple):
    """The largest weight, whether each node has a scale, and whether that is a power of two."""

    most: int
    by_node: bool
    by_power: bool = False


#: The largest codes are those of 8 and 16 bits, without the least negative one: symmetric.
WEIGHT_KINDS = {
    "int8": WeightKind(127, True),
    "int8-tensor": WeightKind(127, False),
    "int16": WeightKind(32767, True),
    "qmn8": WeightKind(127, True, True),
}
LOGIT_WIDTHS: dict[str, tuple[int, Operand]] = {
    "int16": (16, "symmetric"),
    "int8": (8, "symmetric"),
    "uint8": (8, "unsigned"),
}
#: What they may be, the default first; activations have other bits, too.
ACTIVATIONS = ("uint8", "int8", "symmetric8", "qmn8")
WEIGHTS, LOGITS = tuple(WEIGHT_KINDS), tuple(LOGIT_WIDTHS)
REQUANTISATIONS = ("auto", "mul", "shift")
#: Tables, or formulas in fixed point, to compare with.
TRANSFERS = ("lut", "arith")


@dataclass(frozen=True, slots=True)
class CompileSettings:
    """Widths and kinds of operands; CompileError for invalid ones.

    ``layers`` are the widths of some layers by name, ``features`` that of the features where it
    differs.  ``requant``: how sums become codes, by a multiplier or by a shift alone; ``transfer``:
    whether transfer functions are looked up, or computed in fixed point.
    """

    activations: Activations = "uint8"
    weights: Weights = "int8"
    logits: Logits = "int16"
    share_tables: bool = True
    range: str = RANGES[0]
    layers: tuple[tuple[str, str], ...] = ()
    requant: Requantisation = "auto"
    big_tables: bool = False
    features: str | None = None
    transfer: Transfer = "lut"

    @property
    def method(self) -> RangeMethod:
        """Return the method that chooses ranges."""
        return RangeMethod.of(self.range)

    def width_of(self, layer: str) -> OperandWidth:
        """Return the width of a layer's operands."""
        return OperandWidth.of(dict(self.layers).get(layer, self.activations))

    def __post_init__(self) -> None:
        RangeMethod.of(self.range)
        for width in (self.activations, *dict(self.layers).values()):
            OperandWidth.of(width)
        for name, known in (
            ("weights", WEIGHTS),
            ("logits", LOGITS),
            ("requant", REQUANTISATIONS),
            ("transfer", TRANSFERS),
        ):
            given = getattr(self, name)
            if given not in known:
                raise CompileError(f"{name} is one of {', '.join(known)}; {given!r} is none.")
