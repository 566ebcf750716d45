"""Models of a chosen size in both formats, by the writer of the tests: layers of equal width."""

from __future__ import annotations

import struct

import numpy as np

from tests.cntk.training.model_writing import First, Second, size
from tests.cntk.training.test_model_dictionaries import dense

#: The version of the first format, that of November 2016 and later.
VERSION = 25


def first(width: int, layers: int) -> bytes:
    """Products by square matrices of float32, one upon another, in the first format."""
    out = First(VERSION)
    out.input("features", (width,))
    source = "features"
    for number in range(layers):
        out.parameter(f"W{number}", np.full((width, width), 0.5**number, np.float32))
        out.add("Times", f"z{number}", size(1) + struct.pack("<i", -1), f"W{number}", source)
        source = f"z{number}"
    return out.data([("FeatureNodes", ["features"]), ("OutputNodes", [source])])


def second(width: int, layers: int) -> bytes:
    """Layers as blocks with square matrices of float32, one upon another, in the second format."""
    out, source = Second(), "Input1"
    out.variable("Input1", 0, (width,), name="features")
    for number in range(layers):
        weights = np.full((width, width), 0.5**number, np.float32)
        source = dense(out, f"Block{number}", source, weights, block=f"layer{number}")
    return out.data(f"Block{layers - 1}")


FORMATS = {"v1": first, "v2": second}
