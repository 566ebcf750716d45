"""The cost of a network in integers, layer by layer, and where its error arises.

Knows how numbers are counted and printed, and no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import inf, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netsharp_compile.evaluating.comparing import ValueSpread
from netsharp_compile.layers import SOFTMAX, values_of
from netsharp_compile.writing.c_arrays import arrays_of
from netsharp_compile.writing.c_files import scratch_size, stored_size

if TYPE_CHECKING:
    from netsharp_compile.evaluating.gate import GateVerdict
    from netsharp_compile.evaluating.room import RoomVerdict
    from netsharp_compile.evaluating.widening import MixedWidths
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork, Integers
    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.operators import Array
    from netsharp_compile.schemes import QuantizationScheme
    from netsharp_engine.train.objective import Objective

VERSION = 1
#: Instructions for a multiply-add and for a node, fitted to two dense networks that an emulator
#: counted, of 2,368 and 52,544 multiply-adds; convolutions were within 7 % of it.
INSTRUCTIONS = {"cortex-m0": (7.0, 105), "cortex-m4": (5.0, 33)}


@dataclass(frozen=True, slots=True)
class LayerReport:
    """The cost and the error of a layer.

    ``nodes`` and ``values`` count what it computes and reads, ``sum_bits`` the bits of its sums;
    ``table`` is the number of its table, None where there is none, and ``why`` the reason; ``sums``
    and ``results`` are the ranges that its codes cover, ``index`` and ``codes`` their schemes.
    ``below`` and ``above`` are the shares of sums at the least and the largest code.  ``error`` is
    the root mean square error of its values, as a part of their spread; ``own_error`` the same with
    exact values before it.
    """

    name: str
    function: str
    nodes: int
    values: int
    multiply_adds: int
    sum_bits: int
    table: int | None
    why: str
    index: str
    codes: str
    sums: tuple[float, float]
    results: tuple[float, float]
    below: float
    above: float
    error: float
    own_error: float
    weight_bytes: int
    bias_bytes: int
    table_bytes: int
    value_bytes: int

    @property
    def decibels(self) -> float:
        """Return the signal to noise ratio of its values, in decibels."""
        return -20 * log10(self.error) if self.error else inf


@dataclass(frozen=True, slots=True)
class CompileReport:
    """The cost of a network in integers, on the rows that it was calibrated with.

    ``agreement`` is the share of rows with the class of the float network, None of a regression;
    ``error`` the root mean square of the answers' differences, as a part of their spread; sizes are
    bytes; ``saved_bytes`` are those of tables that are stored once and not for each layer;
    ``doubts`` are sentences on what the rows did not show; ``gate`` is the evaluation on held-out
    rows, None where there are none; ``proposal`` has widths that pass where those asked for do not,
    None where none were found; ``room`` compares with the memory of a device, None where none is
    named.
    """

    layers: tuple[LayerReport, ...]
    rows: int
    agreement: float | None
    error: float
    weight_bytes: int
    table_bytes: int
    saved_bytes: int
    scratch_bytes: int
    pairs: int
    tables: int
    doubts: tuple[str, ...] = ()
    gate: GateVerdict | None = None
    proposal: MixedWidths | None = None
    room: RoomVerdict | None = None

    @property
    def multiply_adds(self) -> int:
        """Return the number of products that a run adds."""
        return sum(one.multiply_adds for one in self.layers)

    @property
    def instructions(self) -> dict[str, int]:
        """Return an estimate of the instructions of a run, by processor."""
        nodes = sum(one.nodes for one in self.layers)
        return {
            name: round(of_product * self.multiply_adds + of_node * nodes)
            for name, (of_product, of_node) in INSTRUCTIONS.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Return plain values, the same as in ``report.json``."""
        found = asdict(self)
        for place, layer in enumerate(self.layers):
            found["layers"][place]["decibels"] = layer.decibels
        if self.gate is not None:
            found["gate"] |= {
                "is_met": self.gate.is_met,
                "drop": self.gate.drop,
                "agreement": self.gate.agreement,
                "interval_before": self.gate.interval(self.gate.right_before),
                "interval": self.gate.interval(self.gate.right),
            }
        if self.room is not None:
            found["room"] |= self.room.to_json()
        figures = {"multiply_adds": self.multiply_adds, "instructions": self.instructions}
        return {"version": VERSION, **found, **figures}

    def proposal_lines(self) -> list[str]:
        """Return lines that describe the proposed widths."""
        if self.proposal is not None:
            if self.gate == self.proposal.gate:
                return [f"wider types taken to pass: {self.proposal.flags}"]
            return [f"these widths pass, and --auto-widths takes them: {self.proposal.flags}"]
        if self.gate is not None and not self.gate.is_met:
            return ["no wider types pass, up to 16 bits with a 12-bit index"]
        return []

    def shown_tables(self) -> str:
        """Return the number of tables, their bytes, and how many layers share them."""
        if not self.tables:
            return "no lookup tables"
        plural = "s" if self.tables > 1 else ""
        shared = f" that {self.pairs} layers share" if self.pairs > self.tables else ""
        return f"{self.table_bytes:,} bytes in {self.tables} lookup table{plural}{shared}"

    def __str__(self) -> str:
        """Return a line for each layer, and the totals."""
        lines = [
            f"{one.name}: {one.values} to {one.nodes}, {one.function}, "
            f"sums of {one.sum_bits} bits, "
            f"{'no table' if one.table is None else f'table {one.table}'}, error {one.error:.2%}"
            for one in self.layers
        ]
        lines.append(
            f"{self.weight_bytes:,} bytes of weights, biases and scales, {self.shown_tables()}, "
            f"{self.scratch_bytes:,} bytes of scratch memory, {self.multiply_adds:,} multiply-adds"
        )
        return "\n".join([*lines, *self.verdict_lines()])

    def verdict_lines(self) -> list[str]:
        """Return lines that describe its answers, and its widths."""
        agreed = "" if self.agreement is None else f"{self.agreement:.2%} of the classes agree, "
        lines = [f"on {self.rows:,} rows: {agreed}error {self.error:.2%}"]
        lines += [f"note: {one}" for one in self.doubts]
        lines += [] if self.gate is None else self.gate.lines()
        lines += self.proposal_lines()
        return lines if self.room is None else [*lines, *self.room.lines()]


class RowPair(NamedTuple):
    """Rows as they are and as the normaliser makes them, each [rows, features]."""

    features: Array
    normalized: Array


class _Tally:
    """Adds up what is seen of a layer."""

    def __init__(self) -> None:
        self.spread = ValueSpread()
        self.square = self.own = 0.0
        self.below = self.above = self.count = 0

    def saw(self, layer: IntegerLayer, results: Integers) -> None:
        """Count the values that are clipped."""
        self.below += int((results == layer.result.least).sum())
        self.above += int((results == layer.result.most).sum())
        self.count += results.size


def report_of(
    layers: Sequence[SummedLayer],
    network: IntegerNetwork,
    objective: Objective,
    rows: Iterable[RowPair],
) -> CompileReport:
    """Return the report on a network's cost and on its error on rows. Raises ValueError for an
    activation without an operator.
    """
    tallies = [_Tally() for _ in layers]
    agreed = count = 0
    for features, normalized in rows:
        codes = network.features.of(features)
        operands, exact = [codes], [codes]
        for layer, tally, (_, wanted) in zip(
            network.layers, tallies, values_of(layers, normalized), strict=True
        ):
            results = network.results_of(layer, operands)
            tally.saw(layer, results)
            operands.append(network.looked_up(layer, results))
            alone = network.looked_up(layer, network.results_of(layer, exact))
            exact.append(layer.target.quantize(wanted))
            tally.square += float(np.square(layer.target.dequantize(operands[-1]) - wanted).sum())
            tally.own += float(np.square(layer.target.dequantize(alone) - wanted).sum())
            tally.spread.add(wanted)
        found = network.layers[-1].target.dequantize(operands[-1])
        if objective.classes is not None:
            agreed += int((objective.predicted(found) == objective.predicted(wanted)).sum())
        count += len(features)
    parts = tuple(_layer(network, place, tallies[place]) for place in range(len(layers)))
    with_table = [one for one in network.layers if one.table is not None]
    apart = sum(network.tables[one.table].nbytes for one in with_table if one.table is not None)
    table_bytes = sum(one.nbytes for one in network.tables)
    return CompileReport(
        layers=parts,
        rows=count,
        agreement=None if objective.classes is None else agreed / count,
        error=parts[-1].error,
        weight_bytes=stored_size(network),
        table_bytes=table_bytes,
        saved_bytes=apart - table_bytes,
        scratch_bytes=scratch_size(network),
        pairs=len(with_table),
        tables=len(network.tables),
    )


def _layer(network: IntegerNetwork, place: int, tally: _Tally) -> LayerReport:
    layer = network.layers[place]
    first = next(n for n, one in enumerate(network.layers) if one.table == layer.table)
    of_table = 0
    if layer.table is not None and first == place:
        of_table = network.tables[layer.table].nbytes
    arrays = list(arrays_of(layer.name, layer))
    stored = sum(one.size for one in arrays)
    weights = sum(one.size for one in arrays if "_weights" in one.name[len(layer.name) :])
    return LayerReport(
        name=layer.name,
        function=layer.function,
        nodes=layer.nodes,
        values=layer.values,
        multiply_adds=layer.multiply_adds,
        sum_bits=layer.bound.bit_length() + 1,
        table=layer.table,
        why=reason_of(
            layer.function,
            layer.table,
            shared=first < place,
            has_formula=layer.formula is not None,
        ),
        index=shown_scheme(layer.result),
        codes=shown_scheme(layer.target),
        sums=covered(layer.result),
        results=covered(layer.target),
        below=tally.below / tally.count,
        above=tally.above / tally.count,
        error=tally.spread.part_of(tally.square),
        own_error=tally.spread.part_of(tally.own),
        weight_bytes=weights,
        bias_bytes=stored - weights,
        table_bytes=of_table,
        value_bytes=layer.nodes * layer.target.dtype.itemsize,
    )


def reason_of(function: str, table: int | None, *, shared: bool, has_formula: bool = False) -> str:
    """Return why a layer has a table of its own, that of another, or none."""
    if has_formula:
        return "computed in fixed point"
    if table is not None:
        return "shared with a layer before" if shared else "its own"
    if function == SOFTMAX:
        return "the sums are the answers: the largest is the class"
    if function == "linear":
        return "the codes of sums are those of values"
    return "the ends of the codes do what the operator does"


def shown_scheme(scheme: QuantizationScheme) -> str:
    """Return a scheme for people: its operand with its bits, its step and its zero."""
    word = {"unsigned": "uint", "signed": "int", "symmetric": "symmetric"}[scheme.operand]
    kind = "qmn" if scheme.kind == "qmn" else word
    return f"{kind}{scheme.bits}, step {scheme.scale:.4g}, 0 at {scheme.zero_point}"


def covered(scheme: QuantizationScheme) -> tuple[float, float]:
    """Return the values of the smallest and the largest code."""
    low, high = scheme.dequantize([scheme.least, scheme.most]).tolist()
    return low, high
