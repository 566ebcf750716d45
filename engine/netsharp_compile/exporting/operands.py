"""Codes and weights as ONNX has them: QuantizeLinear, DequantizeLinear, and the types in between.

Scales are float32 there, and roundings half to even.  Knows no layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.exporting.rounding import single

if TYPE_CHECKING:
    from netsharp_compile.integers import Integers
    from netsharp_compile.operators import Array
    from netsharp_compile.schemes import QuantizationScheme
    from netsharp_engine.exporting.onnx.writing import OnnxWriting

#: From this operator set on, codes and weights may have 16 bits.
WIDE_CODES = 21


def quantized(
    out: OnnxWriting, name: str, scheme: QuantizationScheme, *, are_bounded: bool = False
) -> str:
    """Add the codes of numbers, of any shape, which are cut off at the ends of codes unless they
    are known not to go beyond.  Raises ValueError for a scale that float32 does not hold.
    """
    scale, kinds = single(np.array(scheme.scale)), np.iinfo(scheme.dtype)
    if not are_bounded and (scheme.least, scheme.most) != (kinds.min, kinds.max):
        # QuantizeLinear itself cuts off at the ends of its type.
        ends = (end - scheme.zero_point for end in (scheme.least, scheme.most))
        name = out.add("Clip", name, *(out.number(float(scale) * end) for end in ends))
    zero = out.constant(np.array(scheme.zero_point, scheme.dtype))
    return out.add("QuantizeLinear", name, out.constant(scale), zero)


def dequantized(
    out: OnnxWriting, codes: str, scale: float, zero_point: int, dtype: np.dtype[np.integer]
) -> str:
    """Add the numbers that codes mean; ValueError for a scale that float32 does not hold."""
    zero = out.constant(np.array(zero_point, dtype))
    return out.add("DequantizeLinear", codes, out.constant(single(np.array(scale))), zero)


def padded(out: OnnxWriting, codes: str, zero_point: int, dtype: np.dtype[np.integer]) -> str:
    """Add codes [n, values] with a zero point after them, [n, values + 1]."""
    from onnx import helper

    # Pad takes few types in runtimes; all take int32.
    wide = out.add("Cast", codes, to=helper.np_dtype_to_tensor_dtype(np.dtype(np.int32)))
    padding = out.constant(np.array(zero_point, np.int32))
    longer = out.add("Pad", wide, out.integers(0, 0, 0, 1), padding)
    return out.add("Cast", longer, to=helper.np_dtype_to_tensor_dtype(dtype))


def weights(out: OnnxWriting, values: Integers, scales: Array, name: str) -> str:
    """Add the numbers that integers mean, each part along the first axis with a scale of its own
    [parts].  Raises ValueError for a scale that float32 does not hold.
    """
    each, kept = single(scales), out.constant(values, name)
    is_one = bool((each == each[0]).all())
    scale = out.constant(each[0].reshape(()) if is_one else each, f"{name}/scales")
    # Zeros are not shared: onnxruntime converts signs of weights in place, with their zeros.
    zeros = np.zeros(() if is_one else each.shape, values.dtype)
    given = kept, scale, out.constant(zeros, f"{name}/zeros")
    return out.add("DequantizeLinear", *given, **({} if is_one else {"axis": 0}))


def biases(out: OnnxWriting, values: Integers, scales: Array, name: str) -> str:
    """Add the numbers [parts] that biases in units of scales [parts] mean: as integers of 32 bits,
    which hold all but those of sums that need more. Raises ValueError for a scale that float32 does
    not hold.
    """
    ends = np.iinfo(np.int32)
    if ends.min <= values.min() and values.max() <= ends.max:
        return weights(out, values.astype(np.int32), scales, name)
    return out.numbers(values * scales, name)
