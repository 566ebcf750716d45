"""QDQ files of CNTK's models beside their float exports, and in onnxruntime."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from netsharp_compile.exporting.model import QuantizedModel
from netsharp_engine.exporting.onnx.exported import OnnxForm, exported
from netsharp_lsp.cntk.training.portable import portable_model
from tests.cli.command_line import netsharp as command

HAS_RUNTIME = find_spec("onnxruntime") is not None


def answered(path: Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What onnxruntime makes of a file, by the names of its outputs."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def require_the_same_border(path: Path, written: QuantizedModel) -> None:
    """Inputs, outputs and the description of the file are those of the float export."""
    portable = portable_model(str(path), ())
    assert portable is not None
    plain, ours = exported(portable, OnnxForm()).graph, written.proto.graph
    assert list(ours.input) == list(plain.input)
    assert list(ours.output) == list(plain.output)


def require_exported(model: Path, folder: Path, *given: str) -> list[str]:
    """Export a model where its run is; the lines that are said.

    Few rows have another largest answer than in the simulator.
    """
    name = model.relative_to(folder).as_posix()
    answer = command("export", name, "--to", "onnx-qdq", "device.onnx", *given, cwd=folder)
    assert (answer.code, answer.err) == (0, "")
    (folder / "device.onnx").unlink()
    lines = [line.strip() for line in answer.out.splitlines()]
    found = re.fullmatch(
        r"answers in onnxruntime, on ([\d,]+) rows: .*?(?:; ([\d,]+) have .*)?", lines[-1]
    )
    assert found is not None, lines
    if found[2] is not None:
        rows, same = (int(one.replace(",", "")) for one in found.groups())
        assert rows - same <= max(1, 0.005 * rows), lines
    return lines
