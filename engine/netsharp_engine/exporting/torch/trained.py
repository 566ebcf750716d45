"""A trained model of tables as a module of PyTorch: from features to classes, with all that lies
between, and a function that makes features of rows.

Outputs are `label`, the number of a class, and `probabilities`, or `prediction` of a regression.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from netsharp_engine.exporting.differences import (
    OutputDifference,
    differences,
    require_same_classes,
)
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.torch.comparing import PROGRAM, Running
from netsharp_engine.exporting.torch.exported import TorchExport, TorchForm, TorchModule
from netsharp_engine.exporting.torch.module import Port
from netsharp_engine.exporting.torch.naming import quoted
from netsharp_engine.exporting.torch.source import (
    Expression,
    ProgramLine,
    call,
    items,
    lines,
    listed,
)
from netsharp_engine.exporting.values import Array, ExportedValue

if TYPE_CHECKING:
    from netsharp_engine.model import Model

#: The one input.
FEATURES = "features"
_ENCODING = '''

def encode(rows: Rows) -> Tensor:
    """Return rows as features: a cell for each column, None for a number that is missing."""
    found: list[list[float]] = []
    for row in rows:
        features: list[float] = []
        for value, (_, levels) in zip(row, COLUMNS, strict=True):
            if levels is None:
                features.append(float("nan" if value is None else value))
            else:
                features += [float(value == level) for level in levels]{unknown}
        found.append(features)
    return torch.tensor(found, dtype=torch.{floats})
'''
_UNKNOWN = "\n                features.append(float(value not in levels))"
_PREDICTING = '''

def predict(network: Network, rows: Rows) -> list[str]:
    """Return the classes of rows."""
    with torch.inference_mode():
        labels, _ = network(encode(rows))
    return [CLASSES[label] for label in labels.tolist()]
'''


def exported_model(model: Model, form: TorchForm) -> TorchModule:
    """Return a model as a module; ExportError names the layer that PyTorch cannot hold."""
    output = model.graph.output
    if output is None:
        raise ExportError("The network has no output.")
    if any(one.marked for one in model.encoding.columns):
        raise ExportError("columns that mark missing numbers are not written for PyTorch yet.")
    about = {"source": "a model of netsharp"}
    portable = Portable(model.graph, model.tensors, model.settings.dtype, (output,), about)
    return _TableExport(model, portable, form).module()


class _TableExport(TorchExport):
    def __init__(self, model: Model, portable: Portable, form: TorchForm) -> None:
        super().__init__(portable, portable.graph, form)
        self._model = model

    def surroundings(self) -> tuple[list[str], list[str]]:
        """Return the classes and columns, and the functions that use them."""
        encoding, classes = self._model.encoding, self._model.classes
        columns: list[Expression] = []
        for one in encoding.columns:
            levels: Expression = "None"
            if one.levels is not None:
                levels = listed([quoted(level) for level in one.levels])
            columns.append(items([quoted(one.name), levels]))
        before = [
            "",
            "Rows = Sequence[Sequence[float | str | None]]",
            "#: The columns of a row, each with the texts that it may hold.",
        ]
        head = "COLUMNS: list[tuple[str, list[str] | None]] = "
        before += lines(ProgramLine(0, head, listed(columns)))
        unknown = _UNKNOWN if encoding.unknown else ""
        text = _ENCODING.replace("{unknown}", unknown if not encoding.plain else "")
        after = text.replace("{floats}", self.portable.dtype)
        if classes is not None:
            before += lines(ProgramLine(0, "CLASSES = ", listed([quoted(one) for one in classes])))
            after += _PREDICTING
        return before, after.removesuffix("\n").split("\n")

    def inputs(self) -> tuple[Port, ...]:
        """Take features, normalise them, and divide them among the input layers."""
        name = self.out.names.fresh(FEATURES)
        self.out.begin(FEATURES)
        count = self._model.encoding.features
        given = self._normalized(self._filled(name))
        at = 0
        for node in self.part.inputs:
            part = given
            if node.size != count:
                part = self.out.let(f"{given}[:, {at}:{at + node.size}]", node.name)
            if len(node.shape) > 1:
                part = self.out.let(self.out.shaped(part, (node.size,), node.shape), node.name)
            self.values[node] = ExportedValue(part, 1, node.shape)
            at += node.size
        return (Port(name, FEATURES, 1, (count,)),)

    def outputs(self) -> tuple[Port, ...]:
        """Answer with the number of a class and the probabilities of all, or with numbers."""
        (output,) = self.portable.outputs
        value, out, classes = self.values[output], self.out, self._model.classes
        out.begin("")
        found = out.let(out.shaped(value.name, value.shape, (output.size,)), "outputs")
        if classes is None:
            scale = self._model.objective.scale
            if scale is not None:
                spread = out.tensor(np.array(scale.spread), "label/spread")
                mean = out.tensor(np.array(scale.mean), "label/mean")
                found = out.let(f"{found} * {spread} + {mean}", "unscaled")
            if output.size > 1:
                name = out.let(f"{found}.flatten(1)", "prediction")
                return (Port(name, "prediction", 1, (output.size,)),)
            name = out.let(f"{found}[:, 0]", "prediction")
            return (Port(name, "prediction", 1, ()),)
        shares = self._probabilities(found, len(classes))
        best = found if output.size > 1 else shares
        label = out.let(call(f"{best}.argmax", "1"), "label")
        return (
            Port(label, "label", 1, ()),
            Port(shares, "probabilities", 1, (len(classes),)),
        )

    def _probabilities(self, outputs: str, count: int) -> str:
        """Return the probabilities of all classes, as `Objective.probabilities` has them."""
        out, (output,) = self.out, self.portable.outputs
        if output.size == 1:
            right = out.let(f"{outputs}.clamp(0, 1)", "share")
            pair = listed((f"1 - {right}", right))
            return out.let(call("torch.cat", pair, dim="1"), "probabilities")
        values = outputs
        if output.attributes.get("function") != "softmax":
            values = out.let(f"{outputs}.clamp(0, 1)", "share")
        total = out.let(call(f"{values}.sum", "1", keepdim="True"), "total")
        share = call("torch.where", f"{total} == 0", repr(1 / count), f"{values} / {total}")
        return out.let(share, "probabilities")

    def _filled(self, name: str) -> str:
        """Return features with missing numbers replaced."""
        fills: list[float] = []
        for one in self._model.encoding.columns:
            width = 1
            if one.levels is not None:
                width = len(one.levels) + self._model.encoding.unknown
            fills += [np.nan if one.fill is None else one.fill] * width
        if np.isnan(fills).all():
            return name
        known = self.out.tensor(np.array(fills), "fills")
        return self.out.let(call("torch.where", f"{name}.isnan()", known, name), "filled")

    def _normalized(self, name: str) -> str:
        normalizer, out = self._model.normalizer, self.out
        if normalizer.name == "none":
            return name
        if normalizer.name == "binning":
            return self._binned(name)
        offset = out.tensor(normalizer.offset, "normalizer/offset")
        scale = out.tensor(normalizer.scale, "normalizer/scale")
        if normalizer.name == "robust":
            ends = zip(normalizer.bounds(), ("low", "high"), strict=True)
            bounds = [out.tensor(each, f"normalizer/{end}") for each, end in ends]
            name = out.let(call("torch.clamp", name, *bounds), "within")
        return out.let(f"({name} - {offset}) * {scale}", "normalized")

    def _binned(self, name: str) -> str:
        """Return the number of edges that a feature has reached, divided by their number."""
        edges, out = self._model.normalizer.edges, self.out
        width = max(map(len, edges), default=0)
        table = np.full((len(edges), max(width, 1)), np.inf)
        for feature, one in enumerate(edges):
            table[feature, : len(one)] = one
        known = out.tensor(table, "normalizer/edges")
        counts = out.tensor(np.array([max(len(one), 1) for one in edges]), "normalizer/counts")
        reached = out.let(f"({name}.unsqueeze(-1) >= {known}).sum(-1)", "reached")
        return out.let(f"{reached} / {counts}", "normalized")


def compared_model(
    model: Model, module: TorchModule, numbers: bytes, rows: Iterable[Array]
) -> list[OutputDifference]:
    """Compare the answers of a model and of its export for rows [rows, features] before they are
    normalised.

    ExportError where labels differ.
    """
    running = Running(module, numbers)
    names = [one.origin for one in module.outputs]
    apart: list[OutputDifference] = []
    for features in rows:
        *labels, values = running([features])
        ours = model.answered(model.compute(features))
        known = np.asarray(ours.predicted) if ours.probabilities is None else ours.probabilities
        fresh = differences(PROGRAM, names[-1:], [known], [values])
        if ours.probabilities is not None:
            theirs = _classes(model.classes or (), labels[0])
            require_same_classes(PROGRAM, ours.probabilities, ours.predicted, theirs, fresh[0])
        apart = [one.joined(other) for one, other in zip(apart or fresh, fresh, strict=True)]
    return apart


def _classes(classes: Sequence[str], numbers: Array) -> Array:
    return np.array([classes[number] for number in numbers], object)
