"""Snippets of whole declarations, and the places where each fits; knows no protocol."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.options import TOP
from netsharp_lsp.cntk.ide.places.blocks import around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.completion.place import Writing
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.ide.answers import Completion


class Template(NamedTuple):
    """A snippet: its name, its purpose, and its text."""

    label: str
    description: str
    snippet: str

    @property
    def plain(self) -> str:
        """Return the text with each placeholder's default, for clients without snippets."""
        chosen = _CHOICE.sub(r"\1", self.snippet)
        return _HOLE.sub(r"\1", chosen).replace("$0", "")


_CHOICE = re.compile(r"\$\{\d+\|([^,|]*)[^|]*\|\}")
_HOLE = re.compile(r"\$\{\d+:([^}]*)\}")

CONFIGURATION = Template(
    "configuration",
    "a command that trains, with its network, SGD and reader",
    """\
command = ${1:Train}
modelPath = "${2:model.dnn}"

${1:Train} = {
    action = "train"
    BrainScriptNetworkBuilder = {
        $0
    }
    SGD = {
        epochSize = 0
        minibatchSize = 64
        learningRatesPerSample = ${3:0.01*5:0.005}
        maxEpochs = ${4:10}
    }
    reader = {
        readerType = "CNTKTextFormatReader"
        file = "${5:train.txt}"
        input = {
            features = { dim = ${6:784} ; format = "dense" }
            labels = { dim = ${7:10} ; format = "dense" }
        }
    }
}
""",
)
TEST = Template(
    "command that tests",
    "measures the trained model",
    """\
${1:Test} = {
    action = "test"
    minibatchSize = 1024
    reader = {
        readerType = "CNTKTextFormatReader"
        file = "${2:test.txt}"
        $0
    }
}
""",
)
NETWORK = Template(
    "network, one hidden layer",
    "inputs, a hidden layer, criterion and evaluation",
    """\
featDim = ${1:784}
labelDim = ${2:10}
features = Input {featDim}
labels = Input {labelDim, tag = "label"}
model = Sequential (
    DenseLayer {${3:200}, activation = ${4|ReLU,Sigmoid,Tanh|}} :
    LinearLayer {labelDim}
)
z = model (features)
ce = CrossEntropyWithSoftmax (labels, z)
errs = ClassificationError (labels, z)
featureNodes = (features)
labelNodes = (labels)
criterionNodes = (ce)
evaluationNodes = (errs)
outputNodes = (z)
$0""",
)
FUNCTION = Template(
    "function",
    "whose value is one of its members",
    """\
${1:Layer} (${2:x}, ${3:dim}) = {
    ${4:y} = ${5:x}
}.${4:y}$0""",
)
CONVOLUTION = Template(
    "convolution and pooling",
    "two parts of a Sequential",
    """\
ConvolutionalLayer {${1:32}, (${2:5}:${2:5}), pad = true, activation = ReLU} :
MaxPoolingLayer {(${3:3}:${3:3}), stride = (2:2)}$0""",
)
#: How far back an open bracket is looked for, in bytes.
_REACH = 4_000


def in_configuration(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """Yield commands, where a line of the top level begins."""
    if writing.before != b"" or around(edited, writing.start).table is not TOP:
        return
    if not any(entry.key.lower() == b"command" for entry in edited.main.configuration.root):
        yield _proposal(writing, CONFIGURATION)
    yield _proposal(writing, TEST)


def in_brainscript(
    edited: Edited, writing: Writing, *, begins: bool, empty: bool
) -> Iterator[Completion]:
    """Yield a network where there is none, a function where a member begins, layers in a
    Sequential.
    """
    bracket, words = _opening(edited.data, writing.start)
    if begins and bracket != b"(":
        if empty:
            yield _proposal(writing, NETWORK)
        yield _proposal(writing, FUNCTION)
    if words.endswith(b"Sequential") and writing.before in (b"(", b":", b""):
        yield _proposal(writing, CONVOLUTION)


def _opening(data: bytes, offset: int) -> tuple[bytes, bytes]:
    """Return the innermost bracket that is open at an offset, and the text before it; empty if
    none.
    """
    head = data[max(0, offset - _REACH) : offset]
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        byte = head[at : at + 1]
        if byte in (b")", b"}", b"]"):
            depth += 1
        elif byte in (b"(", b"{", b"["):
            if depth == 0:
                return byte, head[:at].rstrip()
            depth -= 1
    return b"", b""


def _proposal(writing: Writing, template: Template) -> Completion:
    return writing.proposal(
        template.label,
        "snippet",
        3,
        template.snippet,
        plain=template.plain,
        detail=template.description,
    )
