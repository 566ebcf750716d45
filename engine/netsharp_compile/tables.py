"""Transfer functions as tables: for every code that a layer's result can be, the code that the next
layer reads.

An entry is what exact arithmetic gives: floating point decides where it is sure, decimals where the
result is near the middle between two codes.  A device looks up, and works nothing out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.operators import (
    DIGITS,
    TIE,
    Named,
    TransferOperator,
    chain_of,
    error_of,
    exact_value,
)
from netsharp_compile.schemes import QuantizationScheme, rounded_up

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.operators import Array

#: The most bits of a table's index by default (4,096 entries), and at all (65,536 entries).
USUAL_BITS, MOST_INDEX_BITS = 12, 16
#: The distance from a tie, in steps, within which decimals decide: the library functions of float64
#: are far more exact, but are not the same on all hosts.
_NEAR = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class TransferTable:
    """A transfer function as a table: the code of the result for every code of the operand.

    Attributes
    ----------
    sources : tuple of QuantizationScheme
        The schemes of the operands, one or two.
    operators : tuple of str
        The operators between them and the result, by name.
    target : QuantizationScheme
        The scheme of the result.
    values : numpy.ndarray
        Codes of the result, [size] or [size, size]; entry i is that of code i + least.
    is_identity : bool
        Whether every code stays what it is, so that no table is needed.

    Since
    -----
    0.1
    """

    sources: tuple[QuantizationScheme, ...]
    operators: tuple[str, ...]
    target: QuantizationScheme
    values: npt.NDArray[np.integer]

    def look_up(self, *codes: npt.ArrayLike) -> npt.NDArray[np.integer]:
        """Return the results for codes of each operand, element by element, in their shape.

        Raises ValueError for another number of operands, and for a code that an operand has not.
        """
        if len(codes) != len(self.sources):
            raise ValueError(
                f"The table has {len(self.sources)} operands; codes of {len(codes)} were given."
            )
        places = []
        for scheme, given in zip(self.sources, codes, strict=True):
            found = np.asarray(given)
            if found.size and not (
                np.issubdtype(found.dtype, np.integer)
                and scheme.least <= found.min()
                and found.max() <= scheme.most
            ):
                raise ValueError(
                    f"Codes are whole numbers from {scheme.least} to {scheme.most} here."
                )
            places.append(found.astype(np.int64) - scheme.least)
        return self.values[tuple(places)]

    @property
    def is_identity(self) -> bool:
        """Return whether every code keeps its value, so that no table is needed."""
        (first, *others) = self.sources
        return not others and np.array_equal(self.values, first.codes())

    def __repr__(self) -> str:
        """Return the operators, the number of entries, and the first and last of them."""
        flat = self.values.reshape(-1).tolist()
        names = ", ".join(self.operators) or "linear"
        return f"<TransferTable {names}: {len(flat):,} entries, {flat[0]} ... {flat[-1]}>"


def transfer_table(
    source: QuantizationScheme | Sequence[QuantizationScheme],
    operators: Named | Sequence[Named],
    target: QuantizationScheme,
    *,
    big_tables: bool = False,
) -> TransferTable:
    """Return the table of a transfer function: from the codes of one layer to those of the next.

    Each entry is the code nearest to the exact result, the upper one of two that are as near; of a
    function that the caller brings, nearest to what that returns.

    Parameters
    ----------
    source : QuantizationScheme or sequence of two
        The scheme of the operand; of two, which have at most 16 bits together, where the first
        operator takes two.
    operators : str, tuple, callable or list of these
        What is applied, in turn: a name ("tanh"), a name with its numbers (("leaky relu", 0.1)), or
        a function of one float.
    target : QuantizationScheme
        The scheme of the result.
    big_tables : bool
        Allow one operand of more than 12 bits, whose table has up to 65,536 entries.

    Returns
    -------
    TransferTable
        The table.

    Raises
    ------
    ValueError
        For an operator that there is not, an index that is too wide, and a result that is infinite
        or no number, with its code and the operator.

    Since
    -----
    0.1
    """
    sources = (source,) if isinstance(source, QuantizationScheme) else tuple(source)
    _require_size(sources, big_tables)
    chain = chain_of(operators, len(sources))
    grids = np.meshgrid(*(one.dequantize(one.codes()) for one in sources), indexing="ij")
    values, error = _computed(chain, sources, grids)
    steps, unsure = _steps(values, error, target)
    for place in np.argwhere(unsure).tolist():
        found = _decided(chain, sources, place, target)
        if found is not None:
            steps[tuple(place)] = found
    table = target.clamped(steps)
    table.flags.writeable = False
    return TransferTable(sources, tuple(one.name for one in chain), target, table)


def _require_size(sources: Sequence[QuantizationScheme], big_tables: bool) -> None:
    if len(sources) not in (1, 2):
        raise ValueError(f"A table has one operand or two; {len(sources)} were given.")
    bits = sum(one.bits for one in sources)
    shown = " + ".join(str(one.bits) for one in sources)
    if bits > MOST_INDEX_BITS:
        raise ValueError(
            f"The operands of a table have at most {MOST_INDEX_BITS} bits together; {shown} = "
            f"{bits} were given."
        )
    if bits > USUAL_BITS and len(sources) == 1 and not big_tables:
        raise ValueError(
            f"A table for an index of {shown} bits has {sources[0].size:,} entries: ask for it "
            f"with big_tables=True, or give the index at most {USUAL_BITS} bits."
        )


def _computed(
    chain: Sequence[TransferOperator], sources: Sequence[QuantizationScheme], grids: Sequence[Array]
) -> tuple[Array, Array]:
    """Return results in floating point, and a bound of their distance from the exact ones."""
    operands = list(grids)
    errors = [np.abs(one) * 2.0**-53 for one in operands]
    for operator in chain:
        with np.errstate(all="ignore"):
            values = np.asarray(operator.values(*operands), np.float64)
        _require_numbers(operator, sources, values)
        pairs = [one for both in zip(operands, errors, strict=True) for one in both]
        operands, errors = [values], [error_of(operator, values, *pairs)]
    return operands[0], errors[0]


def _require_numbers(
    operator: TransferOperator, sources: Sequence[QuantizationScheme], values: Array
) -> None:
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        codes = [one.least + place for one, place in zip(sources, wrong[0].tolist(), strict=True)]
        shown = " and ".join(map(str, codes))
        meant = " and ".join(
            f"{float(one.dequantize(code)):g}" for one, code in zip(sources, codes, strict=True)
        )
        raise ValueError(
            f"The operator '{operator.name}' gives {values[tuple(wrong[0])]:g} for code {shown}, "
            f"which means {meant}: a table holds numbers only."
        )


def _steps(
    values: Array, error: Array, target: QuantizationScheme
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the nearest whole multiples of the target's scale, and which of them floating point
    cannot decide.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # A quotient may overflow.
        scaled = values / target.scale
        bound = error / target.scale + np.abs(scaled) * 2.0**-50 + _NEAR
        near = np.abs(scaled - np.floor(scaled) - 0.5) <= bound
    low, high = (end - target.zero_point for end in (target.least - 1, target.most + 1))
    return rounded_up(scaled), near & (scaled >= low) & (scaled <= high)


def _decided(
    chain: Sequence[TransferOperator],
    sources: Sequence[QuantizationScheme],
    place: Sequence[int],
    target: QuantizationScheme,
) -> int | None:
    """Return the nearest whole multiple of the target's scale, computed in decimals; None where an
    operator has no such form.
    """
    with localcontext(Context(prec=DIGITS, Emin=-(10**9), Emax=10**9)):
        operands = [
            Decimal(one.scale) * (one.least + at - one.zero_point)
            for one, at in zip(sources, place, strict=True)
        ]
        value = exact_value(chain, operands)
        if value is None:
            return None
        steps = value / Decimal(target.scale)
        below = int(steps.to_integral_value(rounding="ROUND_FLOOR"))
        return below + (steps - below >= Decimal("0.5") - TIE)
