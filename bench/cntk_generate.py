"""Long texts of CNTK's languages, each by its number of lines and a seed; no two are alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count, islice
from random import Random

#: Nodes after which a chain begins again at the features: real networks are not nested deeper.
CHAIN = 40


def _brainscript(random: Random) -> Iterator[str]:
    yield "features = Input {40}   # what is read"
    yield 'labels = Input {10, tag = "label"}'
    yield "Affine (x, n) = {"
    yield '    W = ParameterTensor {(n:Inferred), init = "glorotUniform"}'
    yield "    b = ParameterTensor {n}"
    yield "    y = W * x + b"
    yield "}.y"
    previous = "features"
    for number in count(1):
        name = f"h{number}"
        source = "features" if number % CHAIN == 0 else previous
        width = random.choice((10, 20, 40, 80))
        form = random.randrange(5)
        if form == 0:
            yield f"{name} = Sigmoid (Affine ({source}, {width}))"
        elif form == 1:
            yield f"{name} = Affine ({source}, {width})  // layer {number}"
        elif form == 2:
            yield f"{name} = if {random.randrange(9)} < 5 then Tanh ({source}) else ReLU ({source})"
        elif form == 3:
            yield f"{name} = Splice (({source} : Dropout ({source})))"
        else:
            yield f"# block {number}"
            yield f"{name} = {{"
            yield f"    t = DenseLayer {{{width}, activation = ReLU}} ({source})"
            yield f"    r = t .* Sigmoid (t) - {random.random():.3f}"
            yield "}.r"
        previous = name


def _ndl(random: Random) -> Iterator[str]:
    yield "Affine(x, rows, cols) = ["
    yield "    W = Parameter(rows, cols, init=uniform, initValueScale=0.5)"
    yield "    b = Parameter(rows, 1, init=fixedValue, value=0)"
    yield "    t = Times(W, x)"
    yield "    y = Plus(t, b)"
    yield "]"
    yield "features = Input(40, tag=feature)   # what is read"
    previous, size = "features", 40
    for number in count(1):
        name = f"h{number}"
        source, rows = ("features", 40) if number % CHAIN == 0 else (previous, size)
        width = random.choice((10, 20, 40, 80))
        form = random.randrange(4)
        if form == 0:
            yield f"{name} = Affine({source}, {width}, {rows})"
            size = width
        elif form == 1:
            yield f"W{number} = Parameter({width}, {rows})"
            yield f"{name} = Times(W{number}, {source})  # layer {number}"
            size = width
        else:
            function = random.choice(("Sigmoid", "Tanh", "ReLU", "Dropout"))
            yield f"{name} = {function}({source})"
            size = rows
        previous = name


def _mel(random: Random) -> Iterator[str]:
    yield 'm1 = LoadModel("model.dnn", format=cntk)'
    yield "SetDefaultModel(m1)"
    for number in count(1):
        form = random.randrange(5)
        if form == 0:
            yield f"CopyNode(m1.h{number}, m1.copy{number})   # {number}"
        elif form == 1:
            yield f"W{number} = Parameter({random.randrange(1, 90)}, 10, init=uniform)"
        elif form == 2:
            yield f"SetProperty(m1.copy{number}, output, true)"
        elif form == 3:
            yield f"SetInput(m1.h{number}, {random.randrange(3)}, m1.h{number + 1})"
        else:
            yield f'SaveModel(m1, "model.{number}.dnn")'


def _configuration(random: Random) -> Iterator[str]:
    for number in count(1):
        yield f"# experiment {number}"
        yield f"Dim{number} = {random.randrange(2, 900)}"
        yield f"Train{number} = {{"
        yield '    action = "train"'
        yield f'    modelPath = "$Root$/models/{number}.dnn"'
        yield "    SGD = {"
        yield f"        maxEpochs = {random.randrange(1, 50)} ; epochSize = 0"
        yield f"        minibatchSize = 64*{random.randrange(1, 9)}:256"
        yield f"        learningRatesPerMB = {random.random():.3f}*4:{random.random():.4f}"
        yield "        momentumPerMB = 0.9   # as ever"
        yield "    }"
        yield "    reader = {"
        yield f'        readerType = "CNTKTextFormatReader" ; file = "$Root$/data/{number}.txt"'
        yield "        input = {"
        yield f'            features = {{ dim = $Dim{number}$ ; format = "dense" }}'
        yield '            labels = { dim = 10 ; format = "sparse" }'
        yield "        }"
        yield "    }"
        yield "}"


def _nested(opening: str, lines: Iterator[str]) -> Iterator[str]:
    """A configuration whose one command builds a long network."""
    yield "command = Train"
    yield "Train = {"
    yield '    action = "train"'
    yield f"    {opening}"
    yield from (f"        {line}" for line in lines)


#: What makes the lines of each language, by its suffix.
MAKERS: dict[str, Callable[[Random], Iterator[str]]] = {
    "cntk": _configuration,
    "bs": _brainscript,
    "ndl": _ndl,
    "mel": _mel,
}
#: The same of configurations with a long network inside, by the suffix of its language.
INSIDE: dict[str, Callable[[Random], Iterator[str]]] = {
    "bs": lambda random: _nested("BrainScriptNetworkBuilder = {", _brainscript(random)),
    "ndl": lambda random: _nested("NDLNetworkBuilder = { run = net }\n}\nnet = [", _ndl(random)),
}
_CLOSERS = {"{": "}", "[": "]"}
#: Two misspellings for each block of a language: the text that each replaces, and the replacement.
_SLIPS = {
    "cntk": ((rb"\bmaxEpochs\b", b"maxEpochz"), (rb"\breaderType\b", b"readerTypo")),
    "bs": ((rb"= Sigmoid\b", b"= Sigmoyd"), (rb"\b(Tanh|Dropout) \(", rb"\1x (")),
    "ndl": ((rb"= Sigmoid\b", b"= Sigmoyd"), (rb"= (Times|Tanh)\(h", rb"= \1(q")),
    "mel": ((rb"\bCopyNode\b", b"CopyNodd"), (rb"\bSetInput\b", b"SetInputt")),
}


def text(suffix: str, lines: int, seed: int) -> bytes:
    """A text of a language with so many lines; what is open at the end is closed."""
    return _closed(suffix, MAKERS[suffix](Random(seed)), lines)


def inside(suffix: str, lines: int, seed: int) -> bytes:
    """A configuration of so many lines with a network of a language inside."""
    return _closed(suffix, INSIDE[suffix](Random(seed)), lines)


def flawed(suffix: str, network: bytes) -> bytes:
    """A text of a language with about two findings in each of its blocks."""
    for pattern, slip in _SLIPS[suffix]:
        network = re.sub(pattern, slip, network)
    return network


def _closed(suffix: str, lines: Iterator[str], count: int) -> bytes:
    head = ['Root = ".."'] if suffix == "cntk" else []
    joined = "\n".join([*head, *islice(lines, count)])
    opened: list[str] = []
    for mark in re.findall(r"[{}\[\]]", re.sub(r"#.*", "", joined)):
        if mark in _CLOSERS:
            opened.append(_CLOSERS[mark])
        elif opened:
            opened.pop()
    closing = "".join(reversed(opened))
    tail = ".r" if suffix == "bs" and closing else ""
    return f"{joined}\n{closing}{tail}\n".encode()
