"""The releases that know the functions of the library, their parameters and the ways to start a
parameter; what no row names is as old as the first.  Tables; knows no text.
"""

from __future__ import annotations

from netsharp_lsp.cntk.versions import ALWAYS, FIRST, Releases
from netsharp_lsp.cntk.vocabulary import TAKEN_BY_ALL

#: Functions that later releases brought, by their names with points.
_FUNCTIONS = {
    "2.0": (
        *("ConvolutionTranspose", "ConvolutionTransposeLayer", "BilinearUpsamplingLayer"),
        *("MaxUnpoolingLayer", "EditDistanceError", "ForwardBackward", "LabelsToGraph"),
        "QuantizedTimes",
    ),
    "2.1": ("Cosh", "Sinh", "BS.Constants.Range"),
    "2.2": ("Acos", "Asin"),
    "2.3": ("Asinh", "Atanh"),
    "2.4": ("LatticeSequenceWithSoftmax", "StopGradient"),
    "2.6": ("StraightThrough", "CNTK2.StraightThrough"),
    "2.7": ("Cast",),
}
#: Parameters that are younger than their functions.
_PARAMETERS: dict[str, dict[str, tuple[str, ...]]] = {
    "2.0": {
        "RowStack": ("axis",),
        "Pooling": ("ceilOutDim", "includePad"),
        "_PoolingLayer": ("ceilOutDim", "includePad"),
        "MaxPoolingLayer": ("ceilOutDim",),
        "AveragePoolingLayer": ("ceilOutDim", "includePad"),
        "BatchNormalization": ("spatial", "runCount"),
    },
    "2.1": {"ROIPooling": ("spatialScale",)},
    "2.2": dict.fromkeys(
        (
            *("Convolution", "ConvolutionTranspose"),
            *("ConvolutionalLayer", "ConvolutionTransposeLayer"),
        ),
        ("dilation",),
    ),
    "2.3": dict.fromkeys(
        ("BatchNormalization", "BatchNormalizationLayer"), ("disableRegularization",)
    ),
    "2.5": {"LatticeSequenceWithSoftmax": ("latticeConfigPath",)},
}
#: Ways to start a parameter by a call; `bilinear` could not be told the size of its kernel before.
_STARTS = {"2.0": ("normal", "uniform1", "TruncNormal", "bilinear")}

FUNCTIONS = {name: Releases(since) for since, names in _FUNCTIONS.items() for name in names}
PARAMETERS = {
    (function, name): Releases(since)
    for since, functions in _PARAMETERS.items()
    for function, names in functions.items()
    for name in names
}
#: Of a convolution this was taken away again: another function does that.
PARAMETERS["Convolution", "transpose"] = Releases(until=FIRST)
STARTS = {name: Releases(since) for since, names in _STARTS.items() for name in names}
#: What a function takes by position, where that has changed, by the number of arguments.
COUNTS = {"BatchNormalization": {6: Releases(until=FIRST), 5: Releases("2.0")}}
#: From this release on every function of the library that makes a node takes its `precision`.
OF_ALL = dict.fromkeys(TAKEN_BY_ALL, Releases("2.7"))
#: The names of functions that some releases know, without points; those of arguments, and numbers
#: of arguments, by which releases differ.
VERSIONED = frozenset(name.rpartition(".")[2] for name in FUNCTIONS)
ARGUMENTS = frozenset((*OF_ALL, *(name for _, name in PARAMETERS)))
COUNTED = frozenset(count for counts in COUNTS.values() for count in counts)


def of_function(name: str) -> Releases:
    """The releases that know a function, by its name with points."""
    return FUNCTIONS.get(name, ALWAYS)


def of_parameter(function: str, name: str) -> Releases:
    """The releases in which a function has a parameter, apart from those that know it at all."""
    return PARAMETERS.get((function, name)) or OF_ALL.get(name, ALWAYS)


def of_count(function: str, count: int) -> Releases:
    """The releases in which a function takes so many arguments by position."""
    return COUNTS.get(function, {}).get(count, ALWAYS)


def of_start(word: str) -> Releases:
    """The releases that know a way to start a parameter."""
    return STARTS.get(word, ALWAYS)
