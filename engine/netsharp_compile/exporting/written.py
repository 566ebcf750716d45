"""The bytes of a QDQ file, checked before a caller gets them, with a summary for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_compile.exporting.agreement import agreement
from netsharp_compile.exporting.model import quantized_model
from netsharp_engine.excerpt import excerpt
from netsharp_engine.exporting.onnx.checking import has_runtime, require_valid
from netsharp_engine.exporting.onnx.written import require_package, shown_tensor
from netsharp_engine.exporting.refusal import ExportError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_compile.exporting.agreement import Agreement, CodeDifferences
    from netsharp_compile.integers import IntegerNetwork
    from netsharp_engine.exporting.values import Array
    from netsharp_engine.model import Model


class WrittenQdq(NamedTuple):
    """A QDQ file: its bytes, its operators and their version, its inputs and outputs as `name
    [sizes]`, the names of outputs of the float export that it lacks, and what onnxruntime makes of
    it; None where that is not installed, or for no rows.
    """

    data: bytes
    operators: int
    opset: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    left_out: tuple[str, ...]
    agreement: Agreement | None

    def lines(self) -> list[str]:
        """Return the summary, line by line."""
        found = [f"inputs: {', '.join(self.inputs)}", f"outputs: {', '.join(self.outputs)}"]
        if self.left_out:
            names = ", ".join(map(excerpt, self.left_out))
            found.append(f"left out: {names}; a network in integers has its answer alone")
        seen = self.agreement
        if seen is None:
            return [*found, "onnxruntime is not installed: the codes were not compared."]
        apart = [one for one in seen.layers if one.differing]
        found += [
            f"{one.name} in onnxruntime, given the simulator's codes before it: {one.differing:,} "
            f"of {one.codes:,} codes differ, by one"
            for one in apart
        ]
        if not apart:
            count = sum(one.codes for one in seen.layers)
            found.append(
                "each layer in onnxruntime, given the simulator's codes before it: 0 of "
                f"{count:,} codes differ"
            )
        return [*found, _answered(seen)]


def _answered(seen: Agreement) -> str:
    answers = seen.answers
    most = f", by {answers.most:,} at most" * bool(answers.differing)
    largest = f"; {seen.same:,} have the same largest answer" * (seen.outputs > 1)
    return (
        f"answers in onnxruntime, on {seen.rows:,} rows: {answers.differing:,} of "
        f"{answers.codes:,} codes differ{most}{largest}"
    )


def write_qdq(
    model: Model, network: IntegerNetwork, rows: Iterable[Array], opset: int | None = None
) -> WrittenQdq:
    """Export a compiled model, and compare it on rows [rows, features] that are not normalised.

    Raises CompileError for what ONNX cannot hold, and ExportError where the package `onnx` is not
    installed and where a layer's code in onnxruntime is more than one from the simulator's.
    """
    require_package()
    made = quantized_model(model, network, opset)
    require_valid(made.proto)
    seen = agreement(model, network, made, rows) if has_runtime() else None
    for one in () if seen is None else seen.layers:
        _require_near(one)
    (plain, *_) = made.proto.opset_import
    return WrittenQdq(
        made.proto.SerializeToString(),
        len(made.proto.graph.node),
        plain.version,
        tuple(map(shown_tensor, made.proto.graph.input)),
        tuple(map(shown_tensor, made.proto.graph.output)),
        made.left_out,
        seen,
    )


def _require_near(layer: CodeDifferences) -> None:
    if layer.most > 1:
        raise ExportError(
            f"in onnxruntime on this machine {layer.differing:,} of {layer.codes:,} codes of "
            f"{layer.name} differ from the simulator's, by {layer.most:,} at most, where one is "
            "allowed. Nothing is written.",
            differs=True,
        )
