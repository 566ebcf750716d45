"""The reasons why a node of a network is neither trained nor evaluated: its type, or its
attributes.
"""

from __future__ import annotations

from netsharp_engine.ops.tensors import COUNTING, DRAWING, ENVIRONMENT, GATHERING, TENSORS
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_lsp.cntk.networks.node import PARAMETER
from netsharp_lsp.cntk.networks.node_types import INPUTS, NODE_TYPES
from netsharp_lsp.cntk.networks.rules.reshaping import each
from netsharp_lsp.cntk.networks.starting import FROM_FILE
from netsharp_lsp.cntk.training.networks import windows
from netsharp_lsp.cntk.training.networks.cropping import CROP, Uncropped, offsets
from netsharp_lsp.cntk.training.networks.recurrent_stacks import STACK, why_not_taken_apart
from netsharp_lsp.cntk.training.networks.simpler import PARTS
from netsharp_lsp.limits import COUNTED_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node

#: The type that passes on what it prints: here it prints nothing.
TRACE = "Trace"
_LATTICES = "which reads lattices of speech; that is not supported."
_OF_SPEECH = "which compares sequences of other lengths (CTC); that is not supported."
_STEPS = "which makes an axis of a sequence, or a sequence of an axis; that is not supported."
_BATCH = "which makes an axis of all samples of a batch; that is not supported."
#: The reasons for types, to follow their names.
_TYPES = {
    "SequenceWithSoftmax": _LATTICES,
    "LatticeSequenceWithSoftmax": _LATTICES,
    "EditDistanceError": "which counts the differences of two sequences; that is not supported.",
    **dict.fromkeys(("ForwardBackward", "LabelsToGraph"), _OF_SPEECH),
    "QuantizedTimes": "which multiplies whole numbers of few bits; that is not supported.",
    **dict.fromkeys(("ToSequence", "ToSequenceLike", "UnpackSequence"), _STEPS),
    "ConvolutionSequenceShape": _STEPS,
    **dict.fromkeys(("ToBatch", "UnpackBatch"), _BATCH),
    "RandomDistribution": "which draws new random numbers at every evaluation; that is not "
    "supported.",
    "CustomProxy": "which calls code that is not in the file.",
    "UserDefinedFunction": "which is user-defined code that is not in the file.",
}
#: The prefixes of types that the first format has no words for, and of reductions to an index.
_FOREIGN, _PLACES = "v2:", ("Argmax", "Argmin")
#: Why types that are computed are refused in configurations.
_REFUSED = {
    "NoiseContrastiveEstimation": "which CNTK of November 2016 does not accept either: it asks for "
    "a bias along a dynamic axis, and reads it as one number for each word. "
    "ClassBasedCrossEntropyWithSoftmax is supported.",
}


def why_not(node: Node) -> str:
    """Return why a node is not computed, to follow its name; empty where it is."""
    known = node.operation in (*TENSORS, *INPUTS, *PARTS, STACK, TRACE)
    if node.operation in _REFUSED or not known:
        return f"is of type {node.operation}, {_of_type(node.operation)}"
    if node.operation == ENVIRONMENT and node.text("propertyName") != "isTraining":
        return (
            f"reads the property '{node.text('propertyName')}', and only isTraining is supported."
        )
    if node.operation == STACK and (reason := why_not_taken_apart(node)):
        return reason
    is_known = node.shape and all(node.shape)
    if not is_known and node.text("init") == FROM_FILE:
        return (
            f"takes its shape from '{node.text('initFromFilePath')}', which cannot be read or is "
            f"larger than {COUNTED_BYTES}: write its dimensions."
        )
    if not is_known:
        return "has an unknown shape."
    if node.operation in DRAWING and node.inputs[0].axis is not None:
        return "draws classes by weights that change with the samples, which CNTK does not do."
    if node.operation == CROP:
        try:
            offsets(node)
        except Uncropped as reason:
            return str(reason)
    if node.operation in GATHERING and node.inputs[0].axis is None:
        return "computes a mean over samples of a value that has none."
    moved = node.inputs[-1:] if node.operation in COLUMNS else ()
    if any(one.axis is None for one in moved or node.inputs[: node.operation in DELAYS]):
        return "reads a value without a dynamic axis along one, which is not supported yet."
    if node.operation == "LegacyReshape" and node.axis is not node.inputs[0].axis:
        return "makes one sample of several, or several of one, which is not supported yet."
    if node.operation in COUNTING:
        if len(node.inputs) > 5:
            return "counts samples in a node of its own, which is not supported yet."
        if any(one.operation != PARAMETER for one in node.inputs[3:5]):
            return "keeps its running statistics in nodes that are not parameters."
    return _why_not_along(node) or windows.why_not(node)


def _why_not_along(node: Node) -> str:
    """Return why a node cannot reduce along its axes; empty where it can."""
    several = len(each(node, "axis")) > 1 and 0 not in each(node, "axis")
    if node.operation == "ReduceElements" and node.text("reductionOp") in _PLACES and several:
        return "returns an index along several axes at once, which CNTK does not do either."
    return ""


def _of_type(operation: str) -> str:
    bare = operation.removeprefix(_FOREIGN)
    if bare in _TYPES or bare in _REFUSED:
        return (_TYPES | _REFUSED)[bare]
    row = NODE_TYPES.get(operation)
    if row is not None and row.since:
        return f"which came with CNTK {row.since}; only types of November 2016 are supported."
    return "which is not trained or evaluated yet."
