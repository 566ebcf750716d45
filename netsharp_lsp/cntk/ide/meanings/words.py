"""Words that stand as values, and what they mean: tags, starts of parameters, properties of nodes;
and the names that the program itself looks for.  Tables; knows no text that is edited.
"""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options import ACTIONS, READERS
from netsharp_lsp.cntk.library.documentation import meanings
from netsharp_lsp.cntk.mel.functions import OLD_PROPERTIES, PROPERTIES
from netsharp_lsp.cntk.networks.node import OLD_TAGS
from netsharp_lsp.cntk.vocabulary import NDL_STARTS

#: Meanings of arguments of NDL that the library of BrainScript calls otherwise.
_OF_NDL = {
    "channels": "channels of the image",
    "classLogProbabilities": "the logarithms of the classes' probabilities",
    "computeGradient": "whether it is learned",
    "condition": "where it is not 0 the second input is taken",
    "defaultHiddenActivity": "the value before the first step",
    "delayTime": "how many steps it looks away",
    "diagonal": "the diagonal as a column",
    "else": "taken where the condition is 0",
    "engine": "what computes it: 'cntk' or 'cudnn'",
    "factor": "the number to multiply by",
    "height": "rows of the image",
    "index": "which columns are taken",
    "kernelHeight": "rows of the kernel",
    "kernelShape": "the dimensions of the kernel",
    "kernelWidth": "columns of the kernel",
    "layout": "the node whose sequences hold",
    "left": "the first operand",
    "mapCount": "how many maps it makes",
    "mask": "the input of the pooling that is undone",
    "needGradient": "whether it is learned",
    "needsGradient": "whether it is learned",
    "numImages": "how many images a sample has",
    "numNegativeSamples": "how many wrong samples are drawn",
    "out": "the prediction",
    "outputChannels": "how many maps it makes",
    "probabilities": "the prediction",
    "right": "the second operand",
    "startRow": "the first row, from 0",
    "table": "the matrix whose columns are taken",
    "then": "taken where the condition is not 0",
    "weight": "the parameters, or the weight of each sample",
    "zeroPadding": "whether the image gets a border of zeros",
}
#: The groups that a tag puts a node into.
TAGS = {
    "feature": "The node is fed by the reader.",
    "label": "The node is fed by the reader, as the truth.",
    "criterion": "The node is what training makes small.",
    "evaluation": "The node is reported beside the criterion.",
    "output": "The node is an output, written where nothing else is asked for.",
}
INITS = {
    "uniform": "Numbers drawn evenly from -0.05 to 0.05, times `initValueScale`.",
    "gaussian": "Numbers drawn from a bell curve that narrows with the inputs.",
    "xavier": "Numbers drawn evenly, scaled by the inputs.",
    "glorotUniform": "Numbers drawn evenly, scaled by inputs and outputs.",
    "glorotNormal": "Numbers drawn from a bell curve, scaled by inputs and outputs.",
    "heUniform": "Numbers drawn evenly, scaled for rectified units.",
    "heNormal": "Numbers drawn from a bell curve, scaled for rectified units.",
    "normal": "Numbers drawn from a bell curve as wide as `initValueScale`.",
    "uniform1": "Numbers drawn evenly between plus and minus `initValueScale`.",
    "TruncNormal": "As normal, without what lies farther out than twice that width.",
    "bilinear": "A kernel that enlarges an image smoothly.",
    "fixedValue": "Every number is `value`.",
    "fromFile": "The numbers of the file `initFromFilePath`.",
    "fromLiteral": "The numbers of the text `initFromLiteral`.",
    "zero": "Every number is 0.",
}
LAYOUTS = {
    "CHW": "Channels first: [W x H x C] in CNTK, whose first axis is the fastest. cuDNN needs it.",
    "HWC": "Channels last: [C x W x H] in CNTK, whose first axis is the fastest. The old layout.",
    "cudnn": "The same as CHW.",
    "legacy": "The same as HWC.",
}
#: What classes make that BrainScript knows by `new`.
CLASSES = {
    "ComputationNetwork": "A network of the members of a record.",
    "ComputationNetworkFromFile": "A network that is read from a model.",
    "ComputationNetworkWithEdits": "A network made of another by functions that replace nodes.",
    "CloneFunctionConfigLambda": "A function made of a part of a network.",
    "ComputationNode": "A native node: its `operation`, its `inputs` and what the kind asks for.",
    "TensorShape": "The sizes of dimensions.",
    "BoolVector": "Truth values in a row.",
    "IntVector": "Whole numbers in a row.",
    "SizeVector": "Sizes in a row.",
    "StringFunction": "A text made of another: `what` says how.",
    "NumericFunction": "A number made of values: `what` says how.",
    "CompareFunction": "What a value is: `what` says what is asked.",
    "PrintAction": "Writes a value to the log.",
    "FailAction": "Stops the program with a message.",
    "Debug": "Writes a value to the log and gives it on.",
    "SGDOptimizer": "How parameters are trained.",
    "TrainAction": "Trains a network.",
    "DataReaderPlugin": "A reader of data.",
}
#: The words of MEL's optional arguments.
OF_MEL = {
    "format": {"cntk": "A model as CNTK writes it.", "cntk_legacy_no_tensorlib": "An old model."},
    "copyflag": {"all": "Nodes with their inputs.", "value": "The values of parameters alone."},
    "includedata": {"true": "With the numbers.", "false": "What the nodes are alone."},
}
OF_MEL["copy"] = OF_MEL["copyflag"]
#: The words that an argument may be, by its name in lower case.
ARGUMENTS = {
    "tag": TAGS,
    "init": INITS,
    "imagelayout": LAYOUTS,
    "poolkind": {"max": "The largest of each window.", "average": "The mean of each window."},
    "engine": {"cntk": "CNTK's own code.", "cudnn": "The library of NVIDIA."},
}
#: Names that the program looks for in a network, by what they are in lower case.
SPECIAL = {
    "featurenodes": "The inputs that the reader feeds.",
    "labelnodes": "The inputs that the reader feeds with the truth.",
    "criterionnodes": "What training makes small; of several the first counts.",
    "criterianodes": "What training makes small; of several the first counts.",
    "evaluationnodes": "What is reported beside the criterion.",
    "evalnodes": "What is reported beside the criterion.",
    "outputnodes": "What `write` writes where `outputNodeNames` says nothing.",
}
#: What a node of BrainScript can be asked for behind a dot.
MEMBERS = {
    "dim": "How many numbers the node has for a sample.",
    "name": "The node's name, a text.",
    "operation": "The kind of the node, a text.",
    "inputs": "The nodes that it is computed from, an array.",
}


def parameter_meaning(name: str) -> str:
    """What a parameter means by its name; empty where nothing is known."""
    return meanings().get(name) or _OF_NDL.get(name, "")


def argument_words(name: str, language: str) -> dict[str, str]:
    """The words that an argument may be, with what they mean; none where it may be anything."""
    if language == "mel":
        return OF_MEL.get(name.lower(), {})
    words = ARGUMENTS.get(name.lower(), {})
    if words is INITS and language != "brainscript":
        return {word: INITS[word] for word in NDL_STARTS}
    return words


def option_word(option: str, word: str) -> str:
    """What a word means as the value of an option; empty where it says enough by itself."""
    lowered = word.lower()
    if option.lower() == "action":
        table = next((one for name, one in ACTIONS.items() if name.lower() == lowered), None)
        return table.says if table is not None else ""
    if option.lower() == "readertype":
        reader = READERS.get(lowered)
        return reader.says if reader is not None else ""
    return ""


def property_meaning(name: str) -> str:
    """What a property of MEL's `SetProperty` means, by its name or an older one."""
    old = {one.lower(): new for one, new in OLD_PROPERTIES}
    wanted = old.get(name.lower(), name).lower()
    return next((one.documentation for one in PROPERTIES if one.name.lower() == wanted), "")


def tag_meaning(word: str) -> tuple[str, str] | None:
    """A tag, be it an older one, by its name today and what it means."""
    today = OLD_TAGS.get(word.lower(), word.lower())
    return (today, TAGS[today]) if today in TAGS else None
