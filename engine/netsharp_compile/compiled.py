"""A trained model as a network in integers, what that costs, and its files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_compile.c_files import c_files, require_prefix, scratch_of
from netsharp_compile.layers import SOFTMAX, layers_of, values_of
from netsharp_compile.manifest import manifest_of
from netsharp_compile.planning import planned
from netsharp_compile.ranges import observed
from netsharp_compile.refusal import CompileError

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerNetwork, Integers
    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.operators import Array
    from netsharp_compile.planning import CompileSettings
    from netsharp_engine.model import Model, Predictions

#: So many rows are looked at together, and so many are in the test that is written.
_BLOCK, _TESTED = 1024, 16


@dataclass(frozen=True, slots=True)
class LayerReport:
    """What a layer costs: its nodes, the bits of its sums, the number of its table (None: its codes
    are used as they are), and the error of its values, as a part of their spread.
    """

    name: str
    function: str
    nodes: int
    values: int
    sum_bits: int
    table: int | None
    error: float

    @property
    def multiply_adds(self) -> int:
        """How many products a run of it adds."""
        return self.nodes * self.values


@dataclass(frozen=True, slots=True)
class CompileReport:
    """What a network in integers costs, on the rows that it was calibrated with.

    ``agreement`` is the share of rows with the class of the float network, None of a regression;
    ``error`` the root of the mean square of the answers' differences, as a part of their spread;
    sizes are bytes.
    """

    layers: tuple[LayerReport, ...]
    rows: int
    agreement: float | None
    error: float
    weight_bytes: int
    table_bytes: int
    scratch_bytes: int
    pairs: int
    tables: int

    def __str__(self) -> str:
        """A line for each layer, and the sums."""
        lines = [
            f"{one.name}: {one.values} to {one.nodes}, {one.function}, "
            f"sums of {one.sum_bits} bits, "
            f"{'no table' if one.table is None else f'table {one.table}'}, error {one.error:.2%}"
            for one in self.layers
        ]
        products = sum(one.multiply_adds for one in self.layers)
        lines.append(
            f"{self.weight_bytes:,} bytes of weights, {self.table_bytes:,} of {self.tables} tables "
            f"for {self.pairs} transfer functions, {self.scratch_bytes:,} of scratch memory, "
            f"{products:,} multiply-adds"
        )
        agreed = "" if self.agreement is None else f"{self.agreement:.2%} of the classes agree, "
        lines.append(f"on {self.rows:,} rows: {agreed}error {self.error:.2%}")
        return "\n".join(lines)


class CompiledNetwork:
    """A trained network in integers, as a device runs it.

    Attributes
    ----------
    report : CompileReport
        What it costs, layer by layer; printed it is a line for each.
    network : IntegerNetwork
        The integers themselves: features, layers and tables.

    Since
    -----
    0.1
    """

    report: CompileReport
    network: IntegerNetwork

    def __init__(
        self, model: Model, network: IntegerNetwork, report: CompileReport, tested: Array
    ) -> None:
        self._model, self.network, self.report, self._tested = model, network, report, tested

    def simulate(self, features: Any) -> Predictions:
        """Return the answers for rows, worked out in integers bit by bit as a device does.

        Rows are what ``Model.predict`` takes; DataError and ValueError are as there.
        """
        matrix = np.asarray(self._model.encoded(features), np.float64)
        absent = np.isnan(matrix).sum(axis=1) > 0
        answers = _answers(self.network, np.nan_to_num(matrix, nan=0.0))
        answers[absent] = np.nan
        return self._model.labelled(answers.astype(self._model.settings.dtype))

    def write(self, folder: str | os.PathLike[str], prefix: str = "net") -> list[str]:
        """Write C99 and the manifest into a new folder, or in the place of one written before, and
        return the names of the files.

        Raises CompileError for a prefix that C does not take, and for a folder that holds anything
        else; OSError where it cannot be written, and then what was there is as it was.
        """
        require_prefix(prefix)
        codes = self.network.features.of(self._tested)
        outputs = self.network.simulate(codes)[-1]
        files = c_files(self.network, prefix, self._model.classes, codes, outputs)
        files[f"{prefix}.json"] = manifest_of(self.network, self._model.classes)
        _replace_folder(os.fspath(folder), files)
        return sorted(files)


def compile_model(model: Model, calibration: Any, settings: CompileSettings) -> CompiledNetwork:
    """Return a trained model as a network in integers, with tables for its transfer functions.

    ``calibration`` are rows as ``Model.predict`` takes them, from which ranges are read.  Raises
    CompileError for a network that is not made of full bundles, with the place, and for rows that
    say nothing; DataError and ValueError for rows that the model cannot read.
    """
    if model.network is not None:
        raise CompileError("Networks of CNTK are not compiled yet; those of Net# are.")
    if model.normalizer.name == "binning":
        raise CompileError(
            "The features are binned, which is not compiled yet. Train with another normalizer, "
            'such as "gaussian".'
        )
    layers = layers_of(model.graph, model.tensors)
    rows = np.asarray(model.encoded(calibration), np.float64)
    if len(rows) == 0 or np.isnan(rows).any():
        what = "There are none" if len(rows) == 0 else "A number is missing in some"
        raise CompileError(f"Ranges are read from rows without gaps. {what}.")
    features, seen = observed(layers, _normalized_blocks(model, rows))
    network = planned(layers, model.normalizer, features, seen, settings)
    report = _report(model, layers, network, rows)
    return CompiledNetwork(model, network, report, rows[:_TESTED])


def _normalized_blocks(model: Model, rows: Array) -> Iterator[Array]:
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK].astype(model.settings.dtype)
        model.normalizer.apply(block)
        yield block.astype(np.float64)


def _answers(network: IntegerNetwork, features: Array) -> Array:
    """What the network answers [rows, outputs]; a few rows at a time, as its values take memory."""
    last = network.layers[-1]
    values = np.empty((len(features), len(last.weights)))
    for start in range(0, len(features), _BLOCK):
        codes = network.simulate(network.features.of(features[start : start + _BLOCK]))[-1]
        values[start : start + _BLOCK] = last.target.dequantize(codes)
    return _softmax(values) if last.function == SOFTMAX else values


def _softmax(values: Array) -> Array:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    found: Array = powers / powers.sum(axis=1, keepdims=True)
    return found


def _report(
    model: Model, layers: list[SummedLayer], network: IntegerNetwork, rows: Array
) -> CompileReport:
    apart = np.zeros((len(layers), 2))
    agreed = 0
    blocks = zip(range(0, len(rows), _BLOCK), _normalized_blocks(model, rows), strict=True)
    for start, block in blocks:
        found = network.simulate(network.features.of(rows[start : start + _BLOCK]))
        for place, (_, wanted) in enumerate(values_of(layers, block)):
            given = network.layers[place].target.dequantize(found[place])
            spread = wanted - wanted.mean()
            apart[place] += np.square(given - wanted).sum(), np.square(spread).sum()
        answers = network.layers[-1].target.dequantize(found[-1])
        agreed += int((_chosen(answers) == _chosen(wanted)).sum())
    errors = np.sqrt(apart[:, 0] / np.maximum(apart[:, 1], np.finfo(float).tiny)).tolist()
    parts = [
        LayerReport(
            one.name,
            one.function,
            len(one.weights),
            one.weights.shape[1],
            one.bound.bit_length() + 1,
            one.table,
            error,
        )
        for one, error in zip(network.layers, errors, strict=True)
    ]
    return CompileReport(
        layers=tuple(parts),
        rows=len(rows),
        agreement=None if model.classes is None else agreed / len(rows),
        error=errors[-1],
        weight_bytes=sum(_stored_bytes(network)),
        table_bytes=sum(one.nbytes for one in network.tables),
        scratch_bytes=scratch_of(network).size,
        pairs=sum(one.table is not None for one in network.layers),
        tables=len(network.tables),
    )


def _stored_bytes(network: IntegerNetwork) -> Iterator[int]:
    """Bytes of weights, biases, multipliers and shifts of each layer, as they are written."""
    for layer in network.layers:
        nodes = len(layer.weights)
        yield layer.weights.nbytes + nodes * ((8 if layer.wide else 4) + 4 + 1)


def _chosen(answers: Array) -> Integers:
    if answers.shape[1] == 1:
        return (answers[:, 0] > 0.5).astype(np.int64)
    return np.asarray(answers.argmax(axis=1))


def _replace_folder(folder: str, files: dict[str, str]) -> None:
    """Write files into a folder that takes the place of one of the same files, or of none."""
    folder = os.path.abspath(folder)
    there = os.path.lexists(folder)
    if there:
        strange = sorted(set(os.listdir(folder)) - set(files))
        if strange:
            raise CompileError(
                f"{folder} holds {strange[0]}, which is no file of this network: give a folder "
                "that is new, or one that was written before with the same prefix."
            )
    aside = tempfile.mkdtemp(prefix=".netsharp-", dir=os.path.dirname(folder))
    try:
        made = os.path.join(aside, "new")
        os.mkdir(made)
        for name, text in files.items():
            with open(os.path.join(made, name), "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
        if there:
            os.rename(folder, os.path.join(aside, "old"))
        os.rename(made, folder)
    finally:
        if there and not os.path.lexists(folder):
            os.rename(os.path.join(aside, "old"), folder)
        shutil.rmtree(aside, ignore_errors=True)
