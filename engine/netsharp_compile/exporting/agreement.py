"""Comparison of a compiled model in onnxruntime with the simulator: layer by layer with the same
codes before it, and from end to end.

Where onnxruntime is not installed nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.exporting.model import given_to
from netsharp_compile.simulating import stretches
from netsharp_engine.exporting.onnx.checking import Runtime

if TYPE_CHECKING:
    from onnx import ValueInfoProto

    from netsharp_compile.exporting.model import QuantizedModel
    from netsharp_compile.integers import IntegerNetwork, Integers
    from netsharp_engine.exporting.values import Array
    from netsharp_engine.model import Model


class CodeDifferences(NamedTuple):
    """The number of codes of a layer that were compared, how many differ, and the largest
    difference.
    """

    name: str
    codes: int
    differing: int
    most: int

    @classmethod
    def of(cls, name: str, ours: Integers, theirs: Integers) -> CodeDifferences:
        """Compare codes of equal shapes: how many there are, how many differ, and by how much at
        most.
        """
        apart = np.abs(ours.astype(np.int64) - theirs.astype(np.int64))
        return cls(name, apart.size, int((apart > 0).sum()), int(apart.max(initial=0)))

    def joined(self, other: CodeDifferences) -> CodeDifferences:
        """Return both together."""
        codes, differing = self.codes + other.codes, self.differing + other.differing
        return CodeDifferences(self.name, codes, differing, max(self.most, other.most))


class Agreement(NamedTuple):
    """The result of a comparison on rows: for each layer its sums and values given the codes before
    them, in ``layers``; the last codes from end to end, in ``answers``; and the number of rows with
    the same largest answer.
    """

    rows: int
    layers: tuple[CodeDifferences, ...]
    answers: CodeDifferences
    same: int

    @property
    def outputs(self) -> int:
        """Return the number of answers for a row."""
        return self.answers.codes // self.rows

    def joined(self, other: Agreement) -> Agreement:
        """Return both together."""
        pairs = zip(self.layers, other.layers, strict=True)
        return Agreement(
            self.rows + other.rows,
            tuple(one.joined(another) for one, another in pairs),
            self.answers.joined(other.answers),
            self.same + other.same,
        )


def agreement(
    model: Model, network: IntegerNetwork, written: QuantizedModel, rows: Iterable[Array]
) -> Agreement | None:
    """Compare an export with the simulator on rows [rows, features] that are not normalised; None
    for no rows.  ExportError where onnxruntime does not take it.
    """
    whole = Runtime(_with_answer(written, network))
    apart = Runtime(_taken_apart(written, network))
    found: Agreement | None = None
    for features in _blocks(rows, model.settings.dtype):
        inputs = given_to(model, written, features)
        codes = _simulated(network, written, features)
        (last,) = whole(inputs, [written.layers[-1].values])
        theirs = apart({**inputs, **{_given(name): one for name, one in codes.items()}}, [*codes])
        ours = codes[written.layers[-1].values]
        names = dict(_names(network, written))
        part = Agreement(
            len(features),
            tuple(
                CodeDifferences.of(names[name], codes[name], one)
                for name, one in zip(codes, theirs, strict=True)
            ),
            CodeDifferences.of("answers", ours, last),
            int((ours.argmax(axis=1) == last.argmax(axis=1)).sum()),
        )
        found = part if found is None else found.joined(part)
    return found


def _blocks(rows: Iterable[Array], dtype: str) -> Iterator[Array]:
    for part in rows:
        for some in stretches(len(part)):
            yield np.asarray(part[some], dtype)


def _names(network: IntegerNetwork, written: QuantizedModel) -> Iterator[tuple[str, str]]:
    """Yield each tensor of codes, and its name in a report."""
    yield written.features, "features"
    for layer, tensors in zip(network.layers, written.layers, strict=True):
        if tensors.sums != tensors.values:
            yield tensors.sums, f"{layer.name}, sums"
        yield tensors.values, layer.name


def _simulated(
    network: IntegerNetwork, written: QuantizedModel, features: Array
) -> dict[str, Integers]:
    """Return the simulator's codes by their tensors, in order."""
    codes = network.features.of(features.astype(np.float64))
    found, operands = {written.features: codes}, [codes]
    for layer, tensors in zip(network.layers, written.layers, strict=True):
        sums = network.results_of(layer, operands)
        found[tensors.sums] = sums.astype(layer.result.dtype)
        operands.append(network.looked_up(layer, sums))
        found[tensors.values] = operands[-1]
    return found


def _given(name: str) -> str:
    """Return the name of the input that replaces a tensor of codes."""
    return f"{name}/given"


def _types(network: IntegerNetwork, written: QuantizedModel) -> dict[str, np.dtype[np.integer]]:
    """Return the type of each tensor of codes."""
    found = {written.features: network.features.codes.dtype}
    for layer, tensors in zip(network.layers, written.layers, strict=True):
        found[tensors.sums] = layer.result.dtype
        found[tensors.values] = layer.target.dtype
    return found


def _with_answer(written: QuantizedModel, network: IntegerNetwork) -> bytes:
    """Return the model with its last codes as a further output."""
    found = type(written.proto)()
    found.CopyFrom(written.proto)
    name = written.layers[-1].values
    found.graph.output.append(_typed(name, network.layers[-1].target.dtype))
    data: bytes = found.SerializeToString()
    return data


def _taken_apart(written: QuantizedModel, network: IntegerNetwork) -> bytes:
    """Return the model with codes as inputs of each layer, and its own codes as outputs."""
    found, types = type(written.proto)(), _types(network, written)
    found.CopyFrom(written.proto)
    for node in found.graph.node:
        for place, name in enumerate(node.input):
            if name in types:
                node.input[place] = _given(name)
    for name, dtype in types.items():
        found.graph.input.append(_typed(_given(name), dtype))
        found.graph.output.append(_typed(name, dtype))
    data: bytes = found.SerializeToString()
    return data


def _typed(name: str, dtype: np.dtype[np.integer]) -> ValueInfoProto:
    """Return a tensor of codes as an input or output of a model."""
    from onnx import helper

    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), None)
