"""The releases that have the library functions, their parameters and the initializations of
parameters; names without a row are as old as the first release.  Tables; knows no text.
"""

from __future__ import annotations

from netsharp_lsp.cntk.versions import ALWAYS, FIRST, Releases
from netsharp_lsp.cntk.vocabulary import TAKEN_BY_ALL

#: Functions that later releases added, by their qualified names.
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
#: Initializations in calls; before 2.0 `bilinear` had no parameter for the size of its kernel.
_STARTS = {"2.0": ("normal", "uniform1", "TruncNormal", "bilinear")}

FUNCTIONS = {name: Releases(since) for since, names in _FUNCTIONS.items() for name in names}
PARAMETERS = {
    (function, name): Releases(since)
    for since, functions in _PARAMETERS.items()
    for function, names in functions.items()
    for name in names
}
#: This parameter of a convolution was removed: another function replaced it.
PARAMETERS["Convolution", "transpose"] = Releases(until=FIRST)
STARTS = {name: Releases(since) for since, names in _STARTS.items() for name in names}
#: Numbers of positional arguments that differ between releases, by function.
COUNTS = {"BatchNormalization": {6: Releases(until=FIRST), 5: Releases("2.0")}}
#: From this release on every library function that creates a node takes its `precision`.
OF_ALL = dict.fromkeys(TAKEN_BY_ALL, Releases("2.7"))
#: The unqualified names of functions that only some releases have; the names of arguments, and
#: the numbers of arguments, in which releases differ.
VERSIONED = frozenset(name.rpartition(".")[2] for name in FUNCTIONS)
ARGUMENTS = frozenset((*OF_ALL, *(name for _, name in PARAMETERS)))
COUNTED = frozenset(count for counts in COUNTS.values() for count in counts)


def of_function(name: str) -> Releases:
    """Return the releases that have a function, by its qualified name."""
    return FUNCTIONS.get(name, ALWAYS)


def of_parameter(function: str, name: str) -> Releases:
    """Return the releases in which a function has a parameter, whether or not they have the
    function.
    """
    return PARAMETERS.get((function, name)) or OF_ALL.get(name, ALWAYS)


def of_count(function: str, count: int) -> Releases:
    """Return the releases in which a function takes a number of positional arguments."""
    return COUNTS.get(function, {}).get(count, ALWAYS)


def of_start(word: str) -> Releases:
    """Return the releases that have an initialization of parameters."""
    return STARTS.get(word, ALWAYS)
