"""A folder of CNTK experiments to measure on, made from a seed: no two configurations alike.

    python bench/cntk_folder.py FOLDER [--configurations N]

Of every twelve configurations five hold a network of BrainScript (dense, convolutional, recurrent,
by formulas, or shared), one reads NDL, one is a SimpleNetworkBuilder, and five test, write or
edit what others have trained.  What they say is sound, but for the data that nobody has.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable

SEED = 5
CONFIGURATIONS = 300
SUBJECTS = ("Digits", "Speech", "Flights", "Reviews", "Faces", "Traffic", "Sensors", "Titles")
ACTIVATIONS = ("ReLU", "Sigmoid", "Tanh")


def write_folder(folder: str, configurations: int = CONFIGURATIONS, seed: int = SEED) -> int:
    """Write the experiments below a folder; how many configurations have a builder."""
    chance = random.Random(seed)
    for name, text in SHARED.items():
        _write(os.path.join(folder, name), text)
    built = 0
    for number in range(configurations):
        make = KINDS[number % len(KINDS)]
        subject = chance.choice(SUBJECTS)
        _write(
            os.path.join(folder, subject, f"{make.__name__}_{number:03}.cntk"),
            make(chance, f"{subject}{number:03}"),
        )
        built += make not in (testing, writing, editing)
    return built


def dense(chance: random.Random, name: str) -> str:
    """Dense layers from the library."""
    inputs, outputs = chance.randrange(8, 900), chance.randrange(2, 60)
    sizes = [chance.randrange(16, 2048) for _ in range(chance.randrange(1, 6))]
    layers = " :\n            ".join(
        f"DenseLayer {{{size}, activation = {chance.choice(ACTIVATIONS)}, "
        f'init = "gaussian", initValueScale = {chance.uniform(0.5, 2):.2f}}}'
        for size in sizes
    )
    network = f"""\
        model = Sequential (
            {layers} :
            LinearLayer {{{outputs}}}
        )
        features = Input {{{inputs}}}
        labels = Input {{{outputs}}}
        z = model (features)
"""
    return _experiment(chance, name, network + CRITERIA, (inputs, outputs))


def convolutional(chance: random.Random, name: str) -> str:
    """Convolutions and pools in turn, with drop-out and two dense layers."""
    side, channels, outputs = chance.choice((28, 32, 48, 64)), chance.choice((1, 3)), 10
    maps = [chance.randrange(8, 96) for _ in range(chance.randrange(2, 5))]
    fields = [chance.choice((3, 5)) if place < 2 else 3 for place in range(len(maps))]
    blocks = " :\n            ".join(
        f"block {{{count}, {field}}} : MaxPoolingLayer {{(2:2), stride = (2:2)}}"
        for count, field in zip(maps, fields, strict=True)
    )
    network = f"""\
        block {{count, field}} = Sequential (
            ConvolutionalLayer {{count, (field:field), pad = true, bias = false}} :
            BatchNormalizationLayer {{spatialRank = 2, normalizationTimeConstant = 4096}} : ReLU
        )
        model = Sequential (
            {blocks} :
            DenseLayer {{{chance.randrange(64, 512)}, activation = ReLU}} : Dropout :
            LinearLayer {{{outputs}}}
        )
        features = Input {{({side}:{side}:{channels})}}
        labels = Input {{{outputs}}}
        z = model (features / {chance.choice((255, 256))})
"""
    return _experiment(chance, name, network + CRITERIA, (side * side * channels, outputs))


def recurrent(chance: random.Random, name: str) -> str:
    """An embedding, layers with memory in both directions or one, and a projection."""
    words, outputs = chance.randrange(500, 20_000), chance.randrange(5, 200)
    cells = [chance.randrange(50, 500) for _ in range(chance.randrange(1, 4))]
    layers = " :\n            ".join(
        f"RecurrentLSTMLayer {{{size}, goBackwards = {chance.choice(('true', 'false'))}}}"
        for size in cells
    )
    network = f"""\
        model = Sequential (
            EmbeddingLayer {{{chance.randrange(32, 300)}}} :
            {layers} :
            DenseLayer {{{outputs}, activation = Pass}}
        )
        features = SparseInput {{{words}}}
        labels = SparseInput {{{outputs}}}
        z = model (features)
"""
    return _experiment(chance, name, network + CRITERIA, (words, outputs))


def formulas(chance: random.Random, name: str) -> str:
    """Layers written out with parameters and operators, some made by an array."""
    inputs, outputs = chance.randrange(10, 700), chance.randrange(2, 40)
    hidden, depth = chance.randrange(20, 900), chance.randrange(2, 7)
    network = f"""\
        inDim = {inputs} ; outDim = {outputs} ; hiddenDim = {hidden}
        affine (x, rows, cols) = [
            W = ParameterTensor {{(rows:cols), initValueScale = {chance.uniform(0.5, 2):.2f}}}
            b = ParameterTensor {{(rows), init = 'fixedValue', value = 0}}
            out = W * x + b
        ].out
        features = Input {{inDim}}
        labels = Input {{outDim}}
        normal = PerDimMeanVarNormalization (features, Mean (features), InvStdDev (features))
        h[i:0..{depth}] = if i == 0
            then {chance.choice(ACTIVATIONS)} (affine (normal, hiddenDim, inDim))
            else {chance.choice(ACTIVATIONS)} (affine (h[i-1], hiddenDim, hiddenDim))
        z = affine (h[{depth}], outDim, hiddenDim)
"""
    return _experiment(chance, name, network + CRITERIA, (inputs, outputs))


def by_ndl(chance: random.Random, name: str) -> str:
    """A network of NDL in a section, with macros of a shared file."""
    inputs, outputs, hidden = (chance.randrange(*span) for span in ((8, 400), (2, 50), (10, 600)))
    depth = chance.randrange(1, 5)
    lines = [f"features = Input({inputs})", f"labels = Input({outputs})"]
    size, source = inputs, "features"
    for layer in range(1, depth + 1):
        lines.append(f"L{layer} = {chance.choice(('SBFF', 'RBFF'))}({source}, {hidden}, {size})")
        size, source = hidden, f"L{layer}"
    lines += [
        f"z = BFF({source}, {outputs}, {size})",
        "ce = CrossEntropyWithSoftmax(labels, z.FF.P)",
        "err = ErrorPrediction(labels, z.FF.P)",
        "FeatureNodes = (features) ; LabelNodes = (labels) ; CriterionNodes = (ce)",
        "EvalNodes = (err) ; OutputNodes = (z.FF.P)",
    ]
    body = "\n    ".join(lines)
    builder = '    NDLNetworkBuilder = [ ndlMacros = "../shared/macros.ndl" ; run = network ]\n'
    return f"{_head(name)}{_train(chance, builder, (inputs, outputs))}network = [\n    {body}\n]\n"


def simple(chance: random.Random, name: str) -> str:
    """The builder of layers by their sizes."""
    inputs, outputs = chance.randrange(4, 800), chance.randrange(2, 30)
    hidden = f"{chance.randrange(10, 700)}*{chance.randrange(1, 5)}"
    builder = f"""\
    SimpleNetworkBuilder = [
        layerSizes = {inputs}:{hidden}:{outputs}
        layerTypes = "{chance.choice(("Sigmoid", "Tanh", "RectifiedLinear"))}"
        trainingCriterion = "CrossEntropyWithSoftmax" ; evalCriterion = "ErrorPrediction"
        initValueScale = {chance.uniform(0.5, 2):.2f} ; uniformInit = true ; needPrior = true
    ]
"""
    return _head(name) + _train(chance, builder, (inputs, outputs))


def testing(chance: random.Random, name: str) -> str:
    """Tests of models on several sets."""
    sets = chance.sample(("clean", "noisy", "far", "night", "held_out"), chance.randrange(2, 5))
    commands = ":".join(f"Test{number}" for number in range(len(sets)))
    blocks = "".join(
        f'Test{number} = {{\n    action = "test"\n'
        f"    minibatchSize = {chance.randrange(64, 4096)}\n"
        f"    reader = {{\n{_reader(f'$DataDir$/{one}.txt', (20, 5), '        ')}    }}\n}}\n"
        for number, one in enumerate(sets)
    )
    return _head(name).replace("command = Train", f"command = {commands}") + blocks


def writing(chance: random.Random, name: str) -> str:
    """Outputs of a model in a format of one's own."""
    return f"""\
{_head(name).replace("command = Train", "command = Write")}Write = {{
    action = "write"
    outputNodeNames = z
    outputPath = "$OutDir$/{name}"
    format = {{ type = "real" ; precisionFormat = ".{chance.randrange(2, 9)}" }}
    reader = {{
{_reader("$DataDir$/dev.txt", (20, 5), "        ")}    }}
}}
"""


def editing(chance: random.Random, name: str) -> str:
    """An edit of a trained model, and a look at what came out."""
    return f"""\
{_head(name).replace("command = Train", "command = Edit:Dump")}Edit = [
    action = edit
    currModel = "$ModelDir$/{name}.dnn" ; newModel = "$ModelDir$/{name}.{chance.randrange(9)}.dnn"
    editPath = "../shared/widen.mel"
]
Dump = [
    action = dumpNodes ; modelPath = "$ModelDir$/{name}.dnn" ; nodeNameRegex = ".*"
    printValues = false ; printMetadata = true ; outputFile = "$OutDir$/{name}.txt"
]
"""


def residual(chance: random.Random, name: str) -> str:
    """A network that configurations share in a file, with sizes of its own."""
    inputs, outputs = chance.randrange(20, 300), chance.randrange(2, 30)
    network = f"""\
        inputDim = {inputs} ; labelDim = {outputs} ; width = {chance.randrange(30, 400)}
        steps = {chance.randrange(2, 8)}
        include "../shared/residual.bs"
"""
    return _experiment(chance, name, network, (inputs, outputs))


def _experiment(chance: random.Random, name: str, network: str, sizes: tuple[int, int]) -> str:
    builder = f"    BrainScriptNetworkBuilder = {{\n{network}    }}\n"
    return _head(name) + _train(chance, builder, sizes)


def _head(name: str) -> str:
    return f"""\
# {name}: made by a seed, to be measured and not to be run.
command = Train
RootDir = ".."
DataDir = "$RootDir$/data" ; OutDir = "$RootDir$/out" ; ModelDir = "$OutDir$/models"
modelPath = "$ModelDir$/{name}.dnn"
deviceId = -1 ; precision = "float" ; traceLevel = 1

"""


def _train(chance: random.Random, builder: str, sizes: tuple[int, int]) -> str:
    rate = chance.uniform(0.001, 0.1)
    return f"""\
Train = {{
    action = "train"
{builder}    SGD = {{
        epochSize = 0
        minibatchSize = {chance.choice((32, 64, 128, 256, 1024))}
        learningRatesPerSample = {rate:.4f}*{chance.randrange(1, 20)}:{rate / 10:.5f}
        momentumAsTimeConstant = {chance.randrange(100, 4096)}  # samples
        maxEpochs = {chance.randrange(2, 60)}
        dropoutRate = {chance.choice((0, 0.25, 0.5))}
    }}
    reader = {{
{_reader("$DataDir$/train.txt", sizes, "        ")}    }}
}}
"""


def _reader(path: str, sizes: tuple[int, int], indent: str) -> str:
    lines = (
        'readerType = "CNTKTextFormatReader"',
        f'file = "{path}"',
        "input = {",
        f'    features = {{ dim = {sizes[0]} ; format = "dense" }}',
        f'    labels = {{ dim = {sizes[1]} ; format = "dense" }}',
        "}",
    )
    return "".join(f"{indent}{line}\n" for line in lines)


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)


CRITERIA = """\
        ce = CrossEntropyWithSoftmax (labels, z)
        err = ClassificationError (labels, z)
        featureNodes = (features) ; labelNodes = (labels)
        criterionNodes = (ce) ; evaluationNodes = (err) ; outputNodes = (z)
"""
SHARED = {
    "shared/macros.ndl": """\
FF(X1, W1, B1) = [ T = Times(W1, X1) ; P = Plus(T, B1) ]
BFF(x, rows, cols) = [
    B = Parameter(rows, 1, init=fixedvalue, value=0)
    W = Parameter(rows, cols)
    FF = FF(x, W, B)
]
SBFF(x, rows, cols) = [ BFF = BFF(x, rows, cols) ; S = Sigmoid(BFF.FF.P) ]
RBFF(x, rows, cols) = [ BFF = BFF(x, rows, cols) ; S = RectifiedLinear(BFF.FF.P) ]
""",
    "shared/residual.bs": """\
# Steps that add to what they read.
step (x) = [
    inner = DenseLayer {width, activation = ReLU} (x)
    out = x + LinearLayer {width} (inner)
].out
features = Input {inputDim}
labels = Input {labelDim}
first = LinearLayer {width} (features)
h[i:0..steps] = if i == 0 then first else step (h[i-1])
z = LinearLayer {labelDim} (h[steps])
ce = CrossEntropyWithSoftmax (labels, z)
err = ClassificationError (labels, z)
featureNodes = (features) ; labelNodes = (labels)
criterionNodes = (ce) ; evaluationNodes = (err) ; outputNodes = (z)
""",
    "shared/widen.mel": """\
m1 = LoadModel("$currModel$", format=cntk)
SetDefaultModel(m1)
SetProperty(W0, learningRateMultiplier, 0)
SaveModel(m1, "$newModel$", format=cntk)
""",
}
#: In turns, so that every twelve configurations have all of them.
KINDS: tuple[Callable[[random.Random, str], str], ...] = (
    dense,
    testing,
    convolutional,
    by_ndl,
    writing,
    recurrent,
    testing,
    simple,
    formulas,
    editing,
    residual,
    writing,
)


def main() -> int:
    """Write a folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder")
    parser.add_argument("--configurations", type=int, default=CONFIGURATIONS)
    args = parser.parse_args()
    built = write_folder(args.folder, args.configurations)
    print(f"{args.configurations} configurations, {built} with a builder, in {args.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
