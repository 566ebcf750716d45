"""A trained model as a network in integers, what that costs, and its files."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_compile.calibrating.correcting import corrected
from netsharp_compile.calibrating.levelling import levelled
from netsharp_compile.calibrating.ranges import RANGES, doubts_of, observed
from netsharp_compile.evaluating.explaining import explained
from netsharp_compile.evaluating.gate import gate_verdict
from netsharp_compile.evaluating.pages import report_files
from netsharp_compile.evaluating.reports import RowPair, report_of
from netsharp_compile.evaluating.room import room_of
from netsharp_compile.evaluating.widening import WidthSearch
from netsharp_compile.exporting.written import write_qdq
from netsharp_compile.form import ModelForm
from netsharp_compile.importing.tensors import tensor_layers
from netsharp_compile.layers import SOFTMAX, layers_of, require_names, values_of
from netsharp_compile.planning import planned
from netsharp_compile.refusal import CompileError
from netsharp_compile.simulating import answers_of, logits_of, stretches
from netsharp_compile.training import observed_from
from netsharp_compile.widths import ACTIVATIONS, TRANSFERS, OperandWidth
from netsharp_compile.writing.device_files import DeviceSettings, device_files
from netsharp_engine.atomic_files import AtomicFile
from netsharp_engine.excerpt import excerpt
from netsharp_engine.exporting.refusal import ExportError

if TYPE_CHECKING:
    from netsharp_compile.calibrating.ranges import Observed
    from netsharp_compile.calibrating.rows import Rows
    from netsharp_compile.evaluating.explaining import PlannedPair
    from netsharp_compile.evaluating.gate import GateRows
    from netsharp_compile.evaluating.reports import CompileReport
    from netsharp_compile.evaluating.room import DeviceRoom
    from netsharp_compile.exporting.written import WrittenQdq
    from netsharp_compile.integers import IntegerNetwork
    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.operators import Array
    from netsharp_compile.widths import CompileSettings
    from netsharp_compile.writing.ending import Answers
    from netsharp_compile.writing.packages import Package
    from netsharp_compile.writing.products.targets import Target
    from netsharp_engine.model import Model, Predictions

#: The rows of the generated test, few since they are stored in flash.
_TESTED = 16
#: Seconds after which a temporary folder is taken for that of a killed run: writing takes far less.
_SECONDS_UNTIL_LEFT = 600.0
#: The errors of renaming while another process writes the same folder, and the number of attempts:
#: each attempt needs several writers to collide, so that 50 are never reached.
_MEANWHILE, _TRIED = (errno.ENOENT, errno.ENOTDIR, errno.ENOTEMPTY, errno.EEXIST), 50


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
        """Return the answers for rows, computed in integers bit by bit as on a device.

        Rows are those of ``Model.predict``: features [rows, features], a data frame, or arrays by
        the names of inputs.  Raises DataError and ValueError as it does.
        """
        matrix = self._features(features).astype(np.float64)
        absent = np.isnan(matrix).sum(axis=1) > 0
        answers = answers_of(self.network, np.nan_to_num(matrix, nan=0.0))
        answers[absent] = np.nan
        return self._model.labelled(answers.astype(self._model.settings.dtype))

    def write(
        self,
        folder: str | os.PathLike[str],
        prefix: str = "net",
        *,
        answers: Answers = "values",
        package: Package | None = None,
        target: Target = "c99",
    ) -> list[str]:
        """Write C99, tables, the manifest and the report into a new folder, or in the place of one
        written before, and return the names of the files.

        ``answers`` adds to the values "argmax", a call that returns the class, or "softmax", one
        that makes probabilities of values; ``package`` lays the files out for "arduino",
        "platformio", "cmake" or "zephyr", with what these read and an example; ``target`` writes
        for any processor, for those of "cortex-m" that have instructions for signals, or for a
        "host" with vectors, with the same bits.  Raises CompileError for a prefix that C does not
        take, answers that the network does not have, and a folder that holds anything else; OSError
        where it cannot be written, and then what was there is as it was.
        """
        codes = self.network.features.of(self._tested)
        settings = DeviceSettings(prefix, answers, package, target)
        files = device_files(self.network, settings, ModelForm.of(self._model), codes)
        files |= report_files(self.report)
        _replace_folder(os.fspath(folder), files)
        return sorted(files)

    def write_onnx(
        self, file: str | os.PathLike[str], rows: Any = None, *, opset: int | None = None
    ) -> list[str]:
        """Write the network as an ONNX file with QuantizeLinear and DequantizeLinear, of the same
        codes, weights and scales, and return a summary, line by line.

        Inputs and outputs are those of the export in floating point.  Where onnxruntime is
        installed, its codes are compared with the simulator's on rows as for ``simulate`` (by
        default a few of the calibration): given the same codes before a layer, none may differ by
        more than one.  ``opset`` is the version of ONNX's operators, by default 17, or 21 for codes
        of more than 8 bits.  Raises CompileError for a network that ONNX cannot hold, where the
        package onnx is not installed, and where codes differ by more; OSError where the file cannot
        be written, which then is unchanged.
        """
        given = self._tested if rows is None else self._features(rows)
        try:
            made = self.to_onnx([given], opset=opset)
        except ExportError as error:
            raise CompileError(str(error)) from None
        with AtomicFile(os.fspath(file)) as aside:
            aside.stream.write(made.data)
            aside.commit()
        return made.lines()

    def to_onnx(self, rows: Iterable[Any], *, opset: int | None = None) -> WrittenQdq:
        """Return the bytes of such a file, compared on rows [rows, features] in parts, which are
        not normalised.  Raises CompileError and ExportError.
        """
        return write_qdq(self._model, self.network, rows, opset)

    def _features(self, rows: Any) -> Array:
        """Return rows as features [rows, features]; ValueError for another number of them."""
        matrix = np.asarray(self._model.encoded(rows))
        needed = self._model.encoding.features
        if matrix.ndim != 2 or matrix.shape[1] != needed:
            raise ValueError(
                f"The features have the shape {matrix.shape}; the model needs rows of {needed} "
                "features."
            )
        return matrix

    def write_report(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write the report alone into a new folder, or in the place of a report, and return the
        names of the files; none where a network was written before, which stays as it is.

        Raises CompileError and OSError as ``write`` does.
        """
        path, files = os.fspath(folder), report_files(self.report)
        if os.path.isdir(path) and not set(os.listdir(path)) <= set(files):
            return []
        _replace_folder(path, files)
        return sorted(files)


def _layers(model: Model) -> list[SummedLayer]:
    """Return the layers of a model; CompileError for one that cannot be compiled."""
    read = layers_of if model.network is None else tensor_layers
    return read(model.graph, model.tensors)


def explain_model(model: Model, settings: CompileSettings) -> list[PlannedPair]:
    """Return the plan for compiling a model, as far as it is known without data. Raises
    CompileError for settings that the tables of a training contradict.
    """
    layers = _layers(model)
    settings = _of_training(model, _of_nodes(layers, _of_inputs(model, settings)))
    require_names(layers, dict(settings.layers))
    return explained(layers, settings)


def _of_inputs(model: Model, settings: CompileSettings) -> CompileSettings:
    """Return settings in which widths of inputs are the width of the features: the widest of
    several.
    """
    inputs = {node.name for node in model.graph.inputs}
    named = [width for name, width in settings.layers if name in inputs]
    if not named:
        return settings
    widest = max(named, key=lambda one: OperandWidth.of(one).bits)
    others = tuple(one for one in settings.layers if one[0] not in inputs)
    return replace(settings, features=widest, layers=others)


def _of_nodes(layers: Sequence[SummedLayer], settings: CompileSettings) -> CompileSettings:
    """Return settings in which layers that were named by the node they end in have their own
    names.
    """
    names = {one.node: one.name for one in layers if one.node}
    named = tuple((names.get(name, name), width) for name, width in settings.layers)
    return replace(settings, layers=named)


def _of_training(model: Model, settings: CompileSettings) -> CompileSettings:
    """Return settings with which the tables of a training with tables are made again; CompileError
    where others are asked for.
    """
    trained = model.settings.quantize
    if trained is None:
        return settings
    if settings.transfer != TRANSFERS[0]:
        raise CompileError(
            "The model was trained with tables, which --transfer arith does without: leave that "
            "out."
        )
    if settings.activations not in (ACTIVATIONS[0], trained):
        raise CompileError(
            f"The model was trained with tables of {trained} codes, not {settings.activations}: "
            "leave the activations out, or train it with these."
        )
    if settings.range != RANGES[0]:
        raise CompileError(
            f"The model was trained with tables, whose ranges are fixed: leave --range "
            f"{settings.range} out."
        )
    narrow = OperandWidth.of(trained).bits < OperandWidth.of(ACTIVATIONS[0]).bits
    features = settings.features or (ACTIVATIONS[0] if narrow else None)
    return replace(settings, activations=trained, features=features, share_tables=True)


def compile_model(
    model: Model,
    rows: Rows,
    settings: CompileSettings,
    gate: GateRows | None = None,
    *,
    auto_widths: bool = False,
    room: DeviceRoom | None = None,
) -> CompiledNetwork:
    """Return a trained model as a network in integers, with tables for its transfer functions.

    ``rows`` returns features [rows, features] before normalisation, in parts, each time that it is
    called: first for ranges, then for errors.  ``gate`` has held-out rows: where they lose more
    than is allowed, wider operands are searched for, and taken with ``auto_widths``.  ``room`` is
    the memory of a device, which the report compares with what is needed.  Raises CompileError for
    a layer that has no form in integers, with its place, and for rows without information.
    """
    plain = _layers(model)
    settings = _of_training(model, _of_nodes(plain, _of_inputs(model, settings)))
    tested = _first(rows, model.encoding.names)

    def blocks() -> Iterator[Array]:
        return (_normalized(model, block) for block in _blocks(rows))

    has_tables = any(layer.trained is not None for layer in plain)
    # The ranges of a training with tables are fixed.
    layers = plain if has_tables else levelled(plain, blocks(), tested.shape[1])
    features, seen = observed(layers, blocks, settings.method)
    seen = [_as_trained(*one) for one in zip(layers, seen, strict=True)]

    some = next(_pairs(model, rows))

    def plan(chosen: CompileSettings) -> IntegerNetwork:
        made = planned(layers, model.normalizer, features, seen, chosen)
        return made if has_tables else corrected(made, layers, *some)

    network = plan(settings)
    verdict = proposal = None
    if gate is not None:
        verdict = gate_verdict(model, layers, network, gate)
        # The widths of a training with tables are fixed.
        if not verdict.is_met and not has_tables:
            search = WidthSearch(
                plan,
                _error_on(layers, some),
                lambda other: gate_verdict(model, layers, other, gate),
            )
            found = search.found(settings, _raisable(layers), model.graph.inputs[0].name)
            proposal = None if found is None else found[1]
            if found is not None and auto_widths:
                network, verdict = plan(found[0]), found[1].gate
    doubts = tuple(doubts_of(model.encoding.names, features, layers, seen))
    report = report_of(layers, network, model.objective, _pairs(model, rows))
    fits = None if room is None else room_of(network, room)
    report = replace(report, doubts=doubts, gate=verdict, proposal=proposal, room=fits)
    return CompiledNetwork(model, network, report, tested)


def _as_trained(layer: SummedLayer, seen: Observed) -> Observed:
    return seen if layer.trained is None else observed_from(layer.function, layer.trained)


def _pairs(model: Model, rows: Rows) -> Iterator[RowPair]:
    return (RowPair(block, _normalized(model, block)) for block in _blocks(rows))


def _raisable(layers: Sequence[SummedLayer]) -> list[str]:
    """Return the layers whose width has an effect: the last has one only where it has a table."""
    *hidden, last = layers
    named = [*hidden, *([] if last.function in (SOFTMAX, "linear") else [last])]
    return list(dict.fromkeys(one.name for one in named if one.name))


def _error_on(layers: Sequence[SummedLayer], rows: RowPair) -> Callable[[IntegerNetwork], float]:
    """Return a function that computes the root mean square error of a network's answers on some
    rows.
    """
    *_, (_, wanted) = values_of(layers, rows.normalized)

    def error(network: IntegerNetwork) -> float:
        return float(np.sqrt(np.square(logits_of(network, rows.features) - wanted).mean()))

    return error


def _blocks(rows: Rows) -> Iterator[Array]:
    """Yield blocks of rows of limited size, whatever the size of the parts."""
    for part in rows():
        for some in stretches(len(part)):
            yield np.asarray(part[some], np.float64)


def _first(rows: Rows, names: Sequence[str]) -> Array:
    """Return the rows of the generated test; CompileError where there are none, or one has a value
    that is not finite.
    """
    found, seen = [], 0
    for block in _blocks(rows):
        wrong = np.argwhere(~np.isfinite(block))
        if len(wrong):
            row, feature = wrong[0].tolist()
            value = block[row, feature]
            what = "is missing" if np.isnan(value) else f"is {value:g}"
            raise CompileError(
                f"Ranges are read from rows of numbers: '{excerpt(names[feature])}' of row "
                f"{seen + row + 1} {what}. Leave the row out."
            )
        if seen < _TESTED:
            found.append(block[: _TESTED - seen])
        seen += len(block)
    if not found:
        raise CompileError("Ranges are read from rows of numbers, and there are none.")
    return np.concatenate(found)


def _normalized(model: Model, block: Array) -> Array:
    found = block.astype(model.settings.dtype)
    model.normalizer.apply(found)
    return found.astype(np.float64)


def _replace_folder(folder: str, files: dict[str, bytes]) -> None:
    """Write files into a folder that takes the place of one of the same files, or of none; where
    others write the same folder, the last one stays.
    """
    for _ in range(_TRIED - 1):
        try:
            _put_folder(os.path.realpath(folder), files)
        except OSError as error:
            if error.errno not in _MEANWHILE:
                raise
        else:
            return
    _put_folder(os.path.realpath(folder), files)


def _put_folder(folder: str, files: dict[str, bytes]) -> None:
    parent, name = os.path.split(folder)
    _recover(parent, name)
    there = os.path.lexists(folder)
    if there:
        strange = sorted(set(_files_below(folder)) - set(files))
        if strange:
            raise CompileError(
                f"{folder} holds {strange[0]}, which is not a file of this network: give a new "
                "folder, or one that was written before with the same prefix."
            )
    try:
        aside = tempfile.mkdtemp(prefix=_aside(name), dir=parent)
    except OSError as error:  # Its name is a temporary one.
        raise type(error)(error.errno, error.strerror, folder) from None
    made, old = os.path.join(aside, "new"), os.path.join(aside, "old")
    try:
        os.mkdir(made)
        for one, data in files.items():
            path = os.path.join(made, *one.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as stream:
                stream.write(data)
        if there:
            os.rename(folder, old)
        os.rename(made, folder)
    finally:
        if os.path.lexists(old) and not os.path.lexists(folder):
            os.rename(old, folder)
        shutil.rmtree(aside, ignore_errors=True)


def _files_below(folder: str) -> Iterator[str]:
    """Yield the names of all files in a folder and below it, and of its empty folders."""
    if not os.path.isdir(folder) or os.path.islink(folder):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)
    for path, folders, files in os.walk(folder):
        below = os.path.relpath(path, folder).replace(os.sep, "/")
        links = [one for one in folders if os.path.islink(os.path.join(path, one))]
        for one in [*files, *links, *([] if folders or files or below == "." else [""])]:
            yield os.path.normpath(os.path.join(below, one)).replace(os.sep, "/")


def _aside(name: str) -> str:
    """Return the beginning of the names of temporary folders beside a folder that is being
    written.
    """
    return f".{name}.netsharp-"


def _recover(parent: str, name: str) -> None:
    """Put back a folder that a killed run had taken away, and remove what such runs left."""
    folder = os.path.join(parent, name)
    for one in sorted(os.listdir(parent)):
        left = os.path.join(parent, one)
        # No run makes links: the target belongs to someone else.
        if one.startswith(_aside(name)) and os.path.isdir(left) and not os.path.islink(left):
            old, written = os.path.join(left, "old"), os.stat(left).st_mtime
            if os.path.lexists(old) and not os.path.lexists(folder):
                os.rename(old, folder)
            if time.time() - written > _SECONDS_UNTIL_LEFT:
                shutil.rmtree(left, ignore_errors=True)
