"""The compiled twin of a cell against the same cell in numpy; both do the same in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netsharp_engine.packing import packed
from netsharp_engine.tensor_backend import TensorProgram, scan
from netsharp_engine.tensor_backend.compiled_cell import CompiledCell, compiled, twins
from netsharp_engine.tensor_backend.lstm import CellScan
from tests.cntk.training.test_fused import CELLS, batch_of, graph_of, program_of
from tests.cntk.training.test_random_networks import packings
from tests.cntk.training.test_sequences import gradients_of
from tests.conftest import SEED

#: Cells beside and beyond the widths of vectors and panels; the smallest is mostly what is left.
SIZES = (1, 5, 16, 33, 70)


def cells_of(program: TensorProgram) -> list[object]:
    return [one._fused for one in program._walk._scans.values()]


def test_the_extension_is_installed() -> None:
    """Here a compiler is needed for the grammars, so that the twin has to be there, too."""
    assert twins is not None


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("options", ["", ", goBackwards=true", ", trainInitialState=true"])
def test_both_agree(size: int, options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(f"RecurrentLSTMLayer {{{size}{options}}} (e)")
    fast = program_of(graph, "float32")
    with monkeypatch.context() as patch:
        patch.setattr(scan, "compiled", lambda cell, kind: False)
        slow = program_of(graph, "float32")
    assert [type(one) for one in cells_of(fast)] == [CompiledCell]
    assert [type(one) for one in cells_of(slow)] == [CellScan]
    random = np.random.default_rng(SEED)
    # Larger weights would double each rounding from step to step.
    values = {one.name: random.normal(size=one.shape) / size**0.5 / 2 for one in graph.parameters}
    for lengths in ((5, 1, 3, 7, 2, 2), (1,), (3,) * 14, (30, 2, 9, 0, 8)):
        for reported, order, packing in packings(np.array(lengths), random):
            batch = batch_of(np.array(lengths), order, packing)
            fast.load(values)
            slow.load(values)
            found, expected = (gradients_of(one, batch) for one in (fast, slow))
            for name, gradient in expected.items():
                scale = np.abs(gradient).max()
                np.testing.assert_allclose(
                    found[name],
                    gradient,
                    rtol=2e-5,
                    atol=2e-6 * scale,
                    err_msg=f"{reported}, {name}",
                )
            for node in fast._walk._graph.nodes:
                np.testing.assert_allclose(
                    fast.read(node), slow.read(node), rtol=2e-5, atol=2e-6, err_msg=node.name
                )


def test_numbers_beyond_every_bound() -> None:
    """Gates stay between 0 and 1 where sums are as large as can be; NaN stays NaN."""
    graph = graph_of("RecurrentLSTMLayer {17} (e)")
    program = program_of(graph, "float32")
    lengths = np.array([3, 2])
    batch = batch_of(lengths, np.arange(2), packed(lengths))
    values: Any = batch.inputs["e"]
    values.values[:, :] *= 1e30
    shown = next(one for one in graph.nodes if one.op == "ElementTimes" and one.size == 17)
    program.feed(batch)
    program.forward()
    assert np.isfinite(program.read(shown)).all()
    values.values[0] = np.nan
    program.feed(batch)
    program.forward()
    assert np.isnan(program.read(graph.criteria[0])).any()


def test_only_what_it_knows_is_given_to_it() -> None:
    for name, is_plain in (("plain", True), ("peepholes", False), ("projection", False)):
        for dtype, is_narrow in (("float32", True), ("float64", False)):
            for one in cells_of(program_of(graph_of(CELLS[name]), dtype)):
                assert isinstance(one, CompiledCell) == (is_plain and is_narrow)
                kind = np.dtype(dtype).type
                assert compiled(one.cell, kind) == (is_plain and is_narrow)  # type: ignore[attr-defined]


def test_what_makes_no_sense_is_refused() -> None:
    """A fault of ours ends in a sentence, not in an access outside our arrays."""
    starts, borders, none = np.array([0, 1]), np.array([0]), np.zeros(0, np.int64)
    floats, wide = np.zeros(4096, np.float32), np.zeros(64)
    reported = [
        starts,
        borders,
        none,
        floats,
        None,
        None,
        None,
        floats,
        floats,
        wide,
        *[floats] * 5,
    ]
    reported.append(wide)
    sizes = 1, 1, 1, False, 0
    twins.cell_forward(*sizes, *reported)

    def replaced(at: int, by: object) -> list[object]:
        return [*reported[:at], by, *reported[at + 1 :]]

    with pytest.raises(ValueError, match="an array is too short"):
        twins.cell_forward(9, 9, 9, False, 0, *reported)
    with pytest.raises(ValueError, match="a size is out of range"):
        twins.cell_forward(1, 0, 1, False, 0, *reported)
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.cell_backward(1, 1, 1, False, 0)
    with pytest.raises(ValueError, match="a border is out of range"):
        twins.cell_forward(*sizes, *replaced(1, np.array([7])))
    for gaps in (np.array([1]), np.array([0, 0]), np.array([-1])):
        with pytest.raises(ValueError, match="a gap is out of range"):
            twins.cell_forward(*sizes, *replaced(2, gaps))
    for at in (7, 8, 9, 10, 11, 14, 15):
        with pytest.raises(ValueError, match="an array is missing"):
            twins.cell_forward(*sizes, *replaced(at, None))
    with pytest.raises(ValueError, match="an array is missing"):
        twins.cell_forward(1, 1, 1, False, 3, *reported)
    back = [*reported[:3], floats, floats, *[None] * 3, floats, None, *[floats] * 3, wide, wide]
    twins.cell_backward(*sizes, *back)
    for at in (3, 4, 8, 10, 11, 12, 13, 14):
        with pytest.raises(ValueError, match="an array is missing"):
            twins.cell_backward(*sizes, *back[:at], None, *back[at + 1 :])
    back[9] = floats
    with pytest.raises(ValueError, match="an array is missing"):
        twins.cell_backward(1, 1, 1, False, 3, *back)
