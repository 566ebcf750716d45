"""A complete experiment and what the checker says of one: for the rules on options and commands."""

from __future__ import annotations

from typing import NamedTuple

from netsharp_lsp.cntk.checking.check import findings
from netsharp_lsp.cntk.rules import RULES
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Run
from tests.cntk.texts import Memory

#: Complete: it trains, tests and writes, and nothing is to be said of it.
DIGITS = """\
command = Train:Test:Write
precision = float
modelPath = "out/digits"
traceLevel = 1

Train = {
    action = train
    BrainScriptNetworkBuilder = {
        features = Input {16}
        labels = Input {3}
        h = Sigmoid (LinearLayer {8} (features))
        z = LinearLayer {3} (h)
        ce = CrossEntropyWithSoftmax (labels, z)
        err = ClassificationError (labels, z)
        featureNodes = (features)
        labelNodes = (labels)
        criterionNodes = (ce)
        evaluationNodes = (err)
        outputNodes = (z)
    }
    SGD = {
        epochSize = 1000
        minibatchSize = 32:64
        learningRatesPerMB = 0.5*2:0.1
        momentumAsTimeConstant = 0:1024
        maxEpochs = 4
        dropoutRate = 0.0*2:0.5
        gradUpdateType = fsAdagrad
        useNAG = false
        L2RegWeight = 0.0001
        AutoAdjust = {
            autoAdjustLR = adjustAfterEpoch
            reduceLearnRateIfImproveLessThan = 0.001
            loadBestModel = true
        }
    }
    reader = {
        readerType = CNTKTextFormatReader
        file = "train.txt"
        randomize = true
        maxErrors = 10
        input = {
            features = { dim = 16 ; format = dense ; alias = x }
            labels = { dim = 3 ; format = sparse ; alias = y }
        }
    }
}
Test = {
    action = test
    evalNodeNames = err
    minibatchSize = 1024
    reader = {
        file = "test.txt"
        input = {
            features = { dim = 16 ; format = dense ; alias = x }
            labels = { dim = 3 ; format = sparse ; alias = y }
        }
    }
}
Write = {
    action = write
    outputNodeNames = z:h
    outputPath = "out/values"
    format = { type = real ; transpose = true }
    reader = {
        file = "test.txt"
        input = {
            features = { dim = 16 ; format = dense ; alias = x }
            labels = { dim = 3 ; format = sparse ; alias = y }
        }
    }
}
"""
#: A block that reuses a part of the model "out/digits", after the command's own lines.
ADAPTS = """\
    BrainScriptNetworkBuilder = {
        old = BS.Network.Load ("out/digits")
        lower = BS.Network.CloneFunction (old.features, old.h, parameters = "constant")
        features = Input {16}
        labels = Input {CLASSES}
        z = LinearLayer {CLASSES} (lower (features))
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features)
        labelNodes = (labels)
        criterionNodes = (ce)
        outputNodes = (z)
    }
    SGD = { maxEpochs = 1 ; learningRatesPerMB = 0.1 }
    reader = {
        readerType = CNTKTextFormatReader
        file = "train.txt"
        input = {
            features = { dim = 16 ; format = dense ; alias = x }
            labels = { dim = CLASSES ; format = sparse ; alias = y }
        }
    }
}
"""
FILES = {"train.txt": "|x 1 |y 0:1\n", "test.txt": "|x 1 |y 0:1\n"}


def adapting(classes: int) -> str:
    """The end of a block that reuses a part of "out/digits" for a number of classes."""
    return ADAPTS.replace("CLASSES", str(classes))


class Reported(NamedTuple):
    """A finding: its code, its severity, the text at its place, and its sentence."""

    code: str
    severity: str
    marked: str
    message: str


def reported(
    text: str, *more: str, files: dict[str, str] | None = None, declared: bool = False
) -> list[Reported]:
    """The findings of a text as `a.cntk` in a run with further items, in the order of places."""
    held = {"a.cntk": text, **FILES, **(files or {})}
    memory = Memory({name: content.encode() for name, content in held.items()})
    experiment = Experiment(Run(("configFile=a.cntk", *more), declared=declared), memory)
    found = sorted(findings(experiment), key=lambda one: one.place)
    return [
        Reported(
            one.code,
            one.severity or RULES.severities[one.code],
            held.get(one.place.source, "").encode()[one.place.start : one.place.end].decode(),
            one.message,
        )
        for one in found
        if one.place.source in held
    ]


def codes(found: list[Reported]) -> list[str]:
    """The codes alone."""
    return [one.code for one in found]


def changed(before: str, after: str, text: str = DIGITS) -> str:
    """A text in which one part is another one."""
    assert text.count(before) >= 1, before
    return text.replace(before, after, 1)
