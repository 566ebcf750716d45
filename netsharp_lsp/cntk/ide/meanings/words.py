"""Words used as values, with descriptions: tags, starts of parameters, properties of nodes; and the
names that CNTK itself looks for. Tables; knows no edited text.
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
    "condition": "where it is not 0 the second input is selected",
    "defaultHiddenActivity": "the value before the first step",
    "delayTime": "the distance in steps",
    "diagonal": "the diagonal as a column",
    "else": "selected where the condition is 0",
    "engine": "the implementation: 'cntk' or 'cudnn'",
    "factor": "the number to multiply by",
    "height": "rows of the image",
    "index": "which columns are selected",
    "kernelHeight": "rows of the kernel",
    "kernelShape": "the dimensions of the kernel",
    "kernelWidth": "columns of the kernel",
    "layout": "the node whose sequences are used",
    "left": "the first operand",
    "mapCount": "the number of output maps",
    "mask": "the input of the pooling that is inverted",
    "needGradient": "whether it is learned",
    "needsGradient": "whether it is learned",
    "numImages": "the number of images in a sample",
    "numNegativeSamples": "the number of negative samples",
    "out": "the prediction",
    "outputChannels": "the number of output maps",
    "probabilities": "the prediction",
    "right": "the second operand",
    "startRow": "the first row, from 0",
    "table": "the matrix whose columns are selected",
    "then": "selected where the condition is not 0",
    "weight": "the parameters, or the weight of each sample",
    "zeroPadding": "whether the image is padded with zeros",
}
#: The groups that a tag puts a node into.
TAGS = {
    "feature": "The node is fed by the reader.",
    "label": "The node is fed by the reader, as the labels.",
    "criterion": "The node is what training minimises.",
    "evaluation": "The node is reported in addition to the criterion.",
    "output": "The node is an output, written where nothing else is asked for.",
}
INITS = {
    "uniform": "Numbers drawn uniformly from -0.05 to 0.05, times `initValueScale`.",
    "gaussian": "Numbers drawn from a normal distribution whose deviation falls with the number "
    "of inputs.",
    "xavier": "Numbers drawn uniformly, scaled by the number of inputs.",
    "glorotUniform": "Numbers drawn uniformly, scaled by the numbers of inputs and outputs.",
    "glorotNormal": "Numbers drawn from a normal distribution, scaled by the numbers of inputs "
    "and outputs.",
    "heUniform": "Numbers drawn uniformly, scaled for rectified units.",
    "heNormal": "Numbers drawn from a normal distribution, scaled for rectified units.",
    "normal": "Numbers drawn from a normal distribution with the deviation `initValueScale`.",
    "uniform1": "Numbers drawn uniformly between plus and minus `initValueScale`.",
    "TruncNormal": "As normal, without numbers beyond two deviations.",
    "bilinear": "A kernel that enlarges an image by bilinear interpolation.",
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
#: The results of classes that BrainScript creates with `new`.
CLASSES = {
    "ComputationNetwork": "A network of the members of a record.",
    "ComputationNetworkFromFile": "A network loaded from a model.",
    "ComputationNetworkWithEdits": "A network derived from another by functions that replace "
    "nodes.",
    "CloneFunctionConfigLambda": "A function derived from a part of a network.",
    "ComputationNode": "A native node: its `operation`, its `inputs` and the options of its kind.",
    "TensorShape": "The sizes of dimensions.",
    "BoolVector": "A list of truth values.",
    "IntVector": "A list of integers.",
    "SizeVector": "A list of sizes.",
    "StringFunction": "A text derived from another: `what` names the operation.",
    "NumericFunction": "A number derived from values: `what` names the operation.",
    "CompareFunction": "A test of a value: `what` names it.",
    "PrintAction": "Writes a value to the log.",
    "FailAction": "Stops CNTK with a message.",
    "Debug": "Writes a value to the log and returns it.",
    "SGDOptimizer": "The training of parameters.",
    "TrainAction": "Trains a network.",
    "DataReaderPlugin": "A reader of data.",
}
#: The words of MEL's optional arguments.
OF_MEL = {
    "format": {"cntk": "A model as CNTK writes it.", "cntk_legacy_no_tensorlib": "An old model."},
    "copyflag": {"all": "Nodes with their inputs.", "value": "Only the values of parameters."},
    "includedata": {"true": "With the numbers.", "false": "Only the nodes' attributes."},
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
#: Names that CNTK looks for in a network, by name in lower case.
SPECIAL = {
    "featurenodes": "The inputs that the reader feeds.",
    "labelnodes": "The inputs that the reader feeds with labels.",
    "criterionnodes": "The criterion that training minimises; of several the first is used.",
    "criterianodes": "The criterion that training minimises; of several the first is used.",
    "evaluationnodes": "Nodes that are reported in addition to the criterion.",
    "evalnodes": "Nodes that are reported in addition to the criterion.",
    "outputnodes": "Nodes that `write` writes without `outputNodeNames`.",
}
#: The members of a node of BrainScript.
MEMBERS = {
    "dim": "The number of elements of the node for one sample.",
    "name": "The node's name, a text.",
    "operation": "The kind of the node, a text.",
    "inputs": "The nodes that it is computed from, an array.",
}


def parameter_meaning(name: str) -> str:
    """Return the meaning of a parameter by its name; empty where it is unknown."""
    return meanings().get(name) or _OF_NDL.get(name, "")


def argument_words(name: str, language: str) -> dict[str, str]:
    """Return the words that an argument may be, with their meanings; empty where it may be
    anything.
    """
    if language == "mel":
        return OF_MEL.get(name.lower(), {})
    words = ARGUMENTS.get(name.lower(), {})
    if words is INITS and language != "brainscript":
        return {word: INITS[word] for word in NDL_STARTS}
    return words


def option_word(option: str, word: str) -> str:
    """Return the meaning of a word as the value of an option; empty where the word is clear by
    itself.
    """
    lowered = word.lower()
    if option.lower() == "action":
        table = next((one for name, one in ACTIONS.items() if name.lower() == lowered), None)
        return table.description if table is not None else ""
    if option.lower() == "readertype":
        reader = READERS.get(lowered)
        return reader.description if reader is not None else ""
    return ""


def property_meaning(name: str) -> str:
    """Return the meaning of a property of MEL's `SetProperty`, by its name or an older one."""
    old = {one.lower(): new for one, new in OLD_PROPERTIES}
    wanted = old.get(name.lower(), name).lower()
    return next((one.documentation for one in PROPERTIES if one.name.lower() == wanted), "")


def tag_meaning(word: str) -> tuple[str, str] | None:
    """Return the current name of a tag, which may be an older one, with its meaning."""
    today = OLD_TAGS.get(word.lower(), word.lower())
    return (today, TAGS[today]) if today in TAGS else None
