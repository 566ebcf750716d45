"""One inference at a time on this machine: compiled networks beside onnxruntime, LiteRT and TFLM.

Knows how each is built and called, and no bound.
"""

from __future__ import annotations

import ctypes
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from compiled_networks import NAMES, Trained

COMPILERS = ("gcc", "clang")
#: Code for this very processor, as the peers choose theirs when they start.
FLAGS = ("-O3", "-march=native", "-std=gnu99", "-shared", "-fPIC")
#: Rows that are answered in turn, so that no answer is known beforehand.
ROWS = 300
_LOOP = """\
#include "net.h"
void many(const net_in_t *x, int rows, net_out_t *y)
{
    static uint8_t scratch[NET_SCRATCH];
    for (int row = 0; row < rows; row++)
        net_run(x + (long)row * NET_IN, y + (long)row * NET_OUT, scratch);
}
"""
#: A call that answers some rows, and how many.
Step = tuple[Callable[[], object], int]


def built(found: Trained, compiler: str, target: Any, folder: Path) -> tuple[Step, np.ndarray]:
    """Return a call that answers rows, and those of its answers that are not the simulator's."""
    if shutil.which(compiler) is None:
        raise OSError(f"no {compiler}")
    folder.mkdir(parents=True)
    made = found.compiled()
    made.write(folder / "net", target=target)
    (folder / "many.c").write_text(_LOOP)
    sources = [folder / "net" / f"net{part}.c" for part in ("", "_weights", "_tables")]
    library = folder / "net.so"
    command = [compiler, *FLAGS, f"-I{folder / 'net'}", *sources, folder / "many.c", "-o", library]
    subprocess.run(command, check=True, capture_output=True)
    codes = np.ascontiguousarray(made.network.features.of(found.held[:ROWS]))
    wanted = made.network.simulate(codes)[-1]
    given = np.zeros_like(wanted)
    many = ctypes.CDLL(str(library)).many
    pointers = codes.ctypes.data_as(ctypes.c_void_p), given.ctypes.data_as(ctypes.c_void_p)

    def call(kept: tuple[np.ndarray, ...] = (codes, given)) -> None:
        many(pointers[0], ROWS, pointers[1])

    call()
    return (call, ROWS), given != wanted


def onnxruntimes(found: Trained, folder: Path) -> Step:
    """Return a call of onnxruntime with the same weights, quantised by its own tool, and inputs
    that need no copy.
    """
    from netsharp_engine.exporting.onnx.trained import FEATURES

    session = onnx_session(quantized_by_onnxruntime(found, folder))
    rows = cycle([row[None].astype(np.float32) for row in found.held[:ROWS]])
    return lambda: session.run(None, {FEATURES: next(rows)}), 1


def onnx_session(path: Path) -> Any:
    """Return an ONNX file in onnxruntime, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def quantized_by_onnxruntime(found: Trained, folder: Path) -> Path:
    """Return the float export up to its logits as onnxruntime's own tool quantises it: prepared as
    its guide says, operands of bytes, weights with a scale for each node.  The normaliser stays as
    it is.
    """
    import onnx
    import onnxruntime
    from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    from netsharp_engine.exporting.onnx.exported import OnnxForm
    from netsharp_engine.exporting.onnx.trained import FEATURES, exported_model

    class Shown(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.rows = iter(found.learned.astype(np.float32))

        def get_next(self) -> dict[str, np.ndarray] | None:
            row = next(self.rows, None)
            return None if row is None else {FEATURES: row[None]}

    onnxruntime.set_default_logger_severity(3)
    folder.mkdir(parents=True)
    exported = onnx.shape_inference.infer_shapes(exported_model(found.model, OnnxForm()))
    onnx.save(_without_labels(exported), folder / "float.onnx")
    quant_pre_process(folder / "float.onnx", folder / "prepared.onnx", skip_symbolic_shape=True)
    names = [one.name for one in onnx.load(folder / "prepared.onnx").graph.node]
    quantize_static(
        folder / "prepared.onnx",
        folder / "quantized.onnx",
        Shown(),
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        nodes_to_exclude=[one for one in names if one.startswith("normalizer/")],
    )
    return folder / "quantized.onnx"


def _without_labels(model: Any) -> Any:
    """The model up to what a softmax is made of: labels are texts, which a device has not."""
    from onnx import TensorProto, helper

    softmax = next(one for one in model.graph.node if one.op_type == "Softmax")
    kept = []
    for node in model.graph.node:
        if node.output == softmax.output:
            break
        kept.append(node)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    del model.graph.output[:]
    logits = helper.make_tensor_value_info(softmax.input[0], TensorProto.FLOAT, None)
    model.graph.output.append(logits)
    return model


def _interpreter(kind: str) -> Any:
    from ai_edge_litert.interpreter import Interpreter

    found = Interpreter(str(file_of(kind)), num_threads=1)
    found.allocate_tensors()
    return found


def file_of(kind: str) -> Path:
    """Return where the .tflite file of a network lies."""
    return Path(__file__).with_name("tflite") / f"{NAMES[kind]}.tflite"


def _codes_of(kind: str, found: Trained) -> Iterator[np.ndarray]:
    """Rows in the codes that the .tflite file takes, again and again."""
    scale, zero = _interpreter(kind).get_input_details()[0]["quantization"]
    steps = np.rint(found.held[:ROWS] / scale) + zero
    return cycle(np.clip(steps, -128, 127).astype(np.int8)[:, None])


def litert(kind: str, found: Trained) -> Step:
    """Return a call of LiteRT with XNNPACK, which it takes by itself."""
    interpreter, rows = _interpreter(kind), _codes_of(kind, found)
    number = interpreter.get_input_details()[0]["index"]
    interpreter.set_tensor(number, next(rows))
    return interpreter.invoke, 1


def microlite(kind: str, found: Trained) -> Step:
    """Return a call of TensorFlow Lite for Microcontrollers, with reference kernels."""
    from tflite_micro import runtime

    interpreter, rows = runtime.Interpreter.from_file(str(file_of(kind))), _codes_of(kind, found)
    interpreter.set_input(next(rows), 0)
    return interpreter.invoke, 1


def share_of_same_classes(kind: str, found: Trained) -> float:
    """Return the share of rows held back to which LiteRT gives the class of our integers."""
    interpreter = _interpreter(kind)
    given, made = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    scale, zero = given["quantization"]
    same, network = 0, found.compiled()
    predicted = np.asarray(network.simulate(found.held).predicted)
    for row, ours in zip(found.held, predicted, strict=True):
        codes = np.clip(np.rint(row / scale) + zero, -128, 127).astype(np.int8)
        interpreter.set_tensor(given["index"], codes[None])
        interpreter.invoke()
        same += int(interpreter.get_tensor(made["index"]).argmax() == int(ours))
    return same / len(found.held)


def in_turns(steps: dict[str, Step], rounds: int) -> dict[str, float]:
    """Return the microseconds of CPU of an inference, medians of rounds in turns."""
    seen: dict[str, list[float]] = {name: [] for name in steps}
    for call, _ in steps.values():
        call()
    for _ in range(rounds):
        for name, (call, rows) in steps.items():
            seen[name].append(_microseconds(call) / rows)
    return {name: statistics.median(each) for name, each in seen.items()}


def _microseconds(call: Callable[[], object], least: float = 0.02) -> float:
    calls, start = 0, time.process_time()
    while (now := time.process_time()) - start < least:
        for _ in range(10):
            call()
        calls += 10
    return 1e6 * (now - start) / calls
