"""Tables of the BrainScript names of NDL's functions, options and words."""

from __future__ import annotations

from netsharp_lsp.cntk.vocabulary import FALSE, NDL_STARTS, PLAIN_TRUTHS, TRUE

#: Short names that BrainScript knows, too, in its spelling.
KEPT = {
    one.lower(): one
    for one in (
        "Input",
        "SparseInput",
        "Parameter",
        "Delay",
        "ErrorPrediction",
        "ReLU",
        "ColumnwiseCrossProduct",
    )
}
#: Long names that only NDL knows, with what they are called instead.
INPUTS = {"InputValue": "Input", "SparseInputValue": "SparseInput"}
#: Words of `init` in the case in which BrainScript knows them.
INITS = {one.lower(): one for one in NDL_STARTS}
#: What has no function in the library: the node is built by hand.
BY_HAND = ("Crop", "Diagonal", "DummyCriterion", "LookupTable", "SequenceWithSoftmax")
#: What has another name there.
OTHERWISE = {"RowElementTimes": "ElementTimes", "If": "BS.Boolean.If"}
#: Functions whose layout of images is HWC where nothing is said, and is CHW in BrainScript.
OLD_LAYOUT = frozenset(("ImageInput", "SparseImageInput", "MaxPooling", "AveragePooling"))
#: Options of a parameter that only say whether it is trained.
GRADIENTS = ("needgradient", "needsgradient", "computegradient")
#: Node groups by what NDL calls them, in lower case.
GROUPS = {
    "featurenodes": "featureNodes",
    "labelnodes": "labelNodes",
    "criterionnodes": "criterionNodes",
    "criterianodes": "criterionNodes",
    "evalnodes": "evaluationNodes",
    "outputnodes": "outputNodes",
}
#: Functions that only migration brings in: nothing else may have their names.
BROUGHT_IN = frozenset(("ParameterTensor", "Input", "SparseInput", "BS", "Fail"))
TRUTHS = {
    word.lower(): plain
    for words, plain in zip((TRUE, FALSE), PLAIN_TRUTHS, strict=True)
    for word in words
    if word
}
#: The operators that functions stand for.
OPERATORS = {"Times": "*", "Plus": "+", "Minus": "-", "ElementTimes": ".*"}


def tag_of(word: str) -> str:
    """Return a tag as BrainScript writes it; empty for one that puts a node into no group."""
    lowered = word.lower()
    if lowered.startswith("eval"):
        return "evaluation"
    if lowered in ("criteria", "criterion"):
        return "criterion"
    return lowered if lowered in ("feature", "label", "output") else ""
