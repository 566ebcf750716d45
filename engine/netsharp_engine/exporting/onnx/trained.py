"""A trained model of tables as an ONNX model: from columns to classes, with all that lies between.

Inputs are one tensor of features where all columns are numbers, else a tensor for each column;
outputs are `label` and `probabilities` of classes, or `prediction` of a regression.
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
from netsharp_engine.exporting.onnx.checking import PROGRAM, Runtime
from netsharp_engine.exporting.onnx.exported import BATCH, GraphExport, OnnxForm
from netsharp_engine.exporting.onnx.writing import Array, OnnxValue
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError

if TYPE_CHECKING:
    from onnx import ModelProto, OperatorSetIdProto, ValueInfoProto

    from netsharp_engine.data.encoding import Feature
    from netsharp_engine.model import Model

#: The operators that take texts, and their version.
_TEXTS, _TEXTS_VERSION = "ai.onnx.ml", 2
#: The one input of models whose columns are all numbers.
FEATURES = "features"


def exported_model(model: Model, form: OnnxForm) -> ModelProto:
    """Return a model as ONNX; ExportError names the layer that ONNX cannot hold."""
    return TableExport(model, form).model()


class TableExport(GraphExport):
    """One export of a model of tables."""

    def __init__(self, model: Model, form: OnnxForm) -> None:
        output = model.graph.output
        if output is None:
            raise ExportError("The network has no output.")
        about = {"specification": model.specification}
        portable = Portable(model.graph, model.tensors, model.settings.dtype, (output,), about)
        super().__init__(portable, portable.graph, form)
        self._model = model
        # Where a column is not one feature, each is an input for itself.
        self._by_column = not model.encoding.plain

    def versions(self) -> list[OperatorSetIdProto]:
        """Return the versions of the plain operators, and of those that take or give texts."""
        from onnx import helper

        found = super().versions()
        has_texts = any(one.levels is not None for one in self._model.encoding.columns)
        if has_texts or self._model.classes is not None:
            found.append(helper.make_opsetid(_TEXTS, _TEXTS_VERSION))
        return found

    def inputs(self) -> list[ValueInfoProto]:
        """Take columns, encode and normalise them, and divide them among the input layers."""
        typed, features = self.encoded()
        features = self._normalized(features)
        at = 0
        for node in self.part.inputs:
            name = features
            if node.size != self.portable.graph.features:
                bounds = (self.out.integers(one) for one in (at, at + node.size, 1))
                name = self.out.add("Slice", features, *bounds)
            if len(node.shape) > 1:
                name = self.out.shaped(name, 1, node.shape)
            self.values[node] = OnnxValue(name, 1, node.shape)
            at += node.size
        return typed

    def outputs(self) -> list[ValueInfoProto]:
        """Answer with classes and their probabilities, or with numbers."""
        from onnx import TensorProto, helper

        (output,) = self.portable.outputs
        found = self.out.shaped(self.values[output].name, 1, (output.size,))
        floats = TensorProto.DOUBLE if self.portable.dtype == "float64" else TensorProto.FLOAT
        classes = self._model.classes
        self.out.begin("answer")
        if classes is None:
            scale = self._model.objective.scale
            if scale is not None:
                spread, mean = (self.out.numbers([one]) for one in (scale.spread, scale.mean))
                found = self.out.add("Add", self.out.add("Mul", found, spread), mean)
            several = [output.size] if output.size > 1 else []
            shape = () if not several else (output.size,)
            number = self.out.rename(self.out.shaped(found, 1, shape), "prediction")
            return [helper.make_tensor_value_info(number, floats, [BATCH, *several])]
        shares = self.out.rename(self._probabilities(found, len(classes)), "probabilities")
        best = found if output.size > 1 else shares
        number = self.out.add("ArgMax", best, axis=1, keepdims=0)
        label = self.out.rename(
            self.out.add(
                "LabelEncoder",
                number,
                domain=_TEXTS,
                keys_int64s=list(range(len(classes))),
                values_strings=list(classes),
            ),
            "label",
        )
        return [
            helper.make_tensor_value_info(label, TensorProto.STRING, [BATCH]),
            helper.make_tensor_value_info(shares, floats, [BATCH, len(classes)]),
        ]

    def answers(self) -> list[str]:
        """Return the names of the outputs."""
        return ["prediction"] if self._model.classes is None else ["label", "probabilities"]

    def _probabilities(self, outputs: str, count: int) -> str:
        """Return the probabilities of all classes, as `Objective.probabilities` has them."""
        out = self.out
        none, one = out.numbers(0), out.numbers(1)
        if self.portable.outputs[0].size == 1:
            right = out.add("Clip", outputs, none, one)
            return out.add("Concat", out.add("Sub", one, right), right, axis=1)
        is_softmax = self.portable.outputs[0].attributes.get("function") == "softmax"
        values = outputs if is_softmax else out.add("Clip", outputs, none, one)
        total = out.reduced("ReduceSum", values, 1)
        share = out.add("Div", values, total)
        even = out.add("Equal", total, none)
        return out.add("Where", even, out.numbers(1 / count), share)

    def encoded(self) -> tuple[list[ValueInfoProto], str]:
        """Add features [batch, features] of the inputs, before they are normalised."""
        from onnx import TensorProto, helper

        encoding, out = self._model.encoding, self.out
        floats = TensorProto.DOUBLE if self.portable.dtype == "float64" else TensorProto.FLOAT
        if not self._by_column:
            name = out.fresh(FEATURES)
            typed = [helper.make_tensor_value_info(name, floats, [BATCH, encoding.features])]
            return typed, self._filled(name, encoding.columns)
        typed, parts = [], []
        for column in encoding.columns:
            name = out.fresh(column.name)
            kind = floats if column.levels is None else TensorProto.STRING
            typed.append(helper.make_tensor_value_info(name, kind, [BATCH, 1]))
            out.begin(column.name)
            is_number = column.levels is None
            parts.append(self._filled(name, [column]) if is_number else self._levels(name, column))
            if column.marked:
                absent = out.add("IsNaN", name)
                parts.append(out.add("Where", absent, out.numbers(1), out.numbers(0)))
        return typed, parts[0] if len(parts) == 1 else out.add("Concat", *parts, axis=1)

    def _filled(self, name: str, columns: Sequence[Feature]) -> str:
        """Return numbers with missing ones replaced."""
        fills = [one.fill for one in columns]
        if all(one is None for one in fills):
            return name
        given = self.out.numbers([[np.nan if one is None else one for one in fills]])
        return self.out.add("Where", self.out.add("IsNaN", name), given, name)

    def _levels(self, name: str, column: Feature) -> str:
        """Return a level as indicators; one that was not in the training is the last, if there is
        one.
        """
        assert column.levels is not None
        out, count = self.out, len(column.levels)
        code = out.add(
            "LabelEncoder",
            name,
            domain=_TEXTS,
            keys_strings=list(column.levels),
            values_int64s=list(range(count)),
            default_int64=count,
        )
        width = count + self._model.encoding.unknown
        levels = out.whole(np.arange(width)[None])
        return out.add("Where", out.add("Equal", code, levels), out.numbers(1), out.numbers(0))

    def _normalized(self, name: str) -> str:
        normalizer, out = self._model.normalizer, self.out
        out.begin("normalizer")
        if normalizer.name == "none":
            return name
        if normalizer.name == "binning":
            return self._binned(name)
        offset, scale = (out.numbers(one[None]) for one in (normalizer.offset, normalizer.scale))
        if normalizer.name == "robust":
            low, high = (out.numbers(one[None]) for one in normalizer.bounds())
            name = out.add("Min", out.add("Max", name, low), high)
        return out.add("Mul", out.add("Sub", name, offset), scale)

    def _binned(self, name: str) -> str:
        """Return the number of edges that a feature has reached, divided by their number."""
        edges, out = self._model.normalizer.edges, self.out
        width = max(map(len, edges), default=0)
        table = np.full((len(edges), max(width, 1)), np.inf)
        for feature, one in enumerate(edges):
            table[feature, : len(one)] = one
        reached = out.add(
            "GreaterOrEqual", out.add("Unsqueeze", name, out.integers(2)), out.numbers(table)
        )
        marks = out.add("Where", reached, out.numbers(1), out.numbers(0))
        counts = out.reduced("ReduceSum", marks, 2, keep=False)
        return out.add("Div", counts, out.numbers([[max(len(one), 1) for one in edges]]))


def compared_model(
    model: Model, written: ModelProto, rows: Iterable[Array]
) -> list[OutputDifference]:
    """Compare the answers of a model and of its export for rows [rows, features] before they are
    normalised.

    ExportError where labels differ, or onnxruntime refuses it.
    """
    # Their order is certain; a column may have taken a name.
    given, names = (
        [one.name for one in part] for part in (written.graph.input, written.graph.output)
    )
    runtime = Runtime(written.SerializeToString())
    apart: list[OutputDifference] = []
    for features in rows:
        inputs = dict(zip(given, inputs_of(model, features), strict=True))
        *labels, numbers = runtime(inputs, names)
        ours = model.answered(model.compute(features))
        known = np.asarray(ours.predicted) if ours.probabilities is None else ours.probabilities
        fresh = differences(PROGRAM, names[-1:], [known], [numbers])
        if ours.probabilities is not None:
            require_same_classes(PROGRAM, ours.probabilities, ours.predicted, labels[0], fresh[0])
        apart = [one.joined(other) for one, other in zip(apart or fresh, fresh, strict=True)]
    return apart


def inputs_of(model: Model, features: Array) -> list[Array]:
    """Return rows as the inputs of the export in their order, [rows, columns] each: texts in the
    place of indicators.
    """
    encoding = model.encoding
    if encoding.plain:
        return [features]
    inputs: list[Array] = []
    at = 0
    for column in encoding.columns:
        if column.levels is None:
            numbers = features[:, at : at + 1]
            if column.marked:
                absent = features[:, at + 1 : at + 2] > 0
                numbers = np.where(absent, np.asarray(np.nan, features.dtype), numbers)
            inputs.append(numbers)
            at += 1 + column.marked
            continue
        count = len(column.levels)
        marks = features[:, at : at + count]
        texts = [*column.levels, "?" * (1 + max(map(len, column.levels), default=0))]
        codes = np.where(marks.any(1), marks.argmax(1), count)
        inputs.append(np.array([[texts[code]] for code in codes], object))
        at += count + encoding.unknown
    return inputs
