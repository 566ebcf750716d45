"""The options of the blocks that build a network, but for those that are the network itself."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options.table import Block, Option, Span

_TRAINED = (
    *("crossEntropyWithSoftmax", "squareError", "logistic", "noiseContrastiveEstimation"),
    *("classCrossEntropyWithSoftmax", "sequenceWithSoftmax"),
)

_DEVICE = Option(
    "deviceId", "integer", "auto", "Where the network is computed.", values=("auto", "cpu")
)

SIMPLE = Block(
    "SimpleNetworkBuilder",
    "A network of layers in a row, with no text of its own.",
    (
        Option("layerSizes", "integer", "100", "Sizes of the layers, input first.", each=True),
        Option(
            "layerTypes",
            "choice",
            "Sigmoid",
            "The layers' activations, one for all or one each.",
            values=("Sigmoid", "Tanh", "RectifiedLinear", "None"),
            old=("none", ""),
            each=True,
            cased=True,
        ),
        Option(
            "trainingCriterion",
            "choice",
            None,
            "What training makes small.",
            values=_TRAINED,
            required=True,
        ),
        Option(
            "evalCriterion",
            "choice",
            None,
            "What is shown beside it.",
            values=("classificationError", *_TRAINED),
            old=("errorPrediction",),
            required=True,
        ),
        Option("outputLayerSize", "integer", "-1", "Size of the last layer, if another."),
        Option("initValueScale", "number", "1.0", "Factor of the first parameters."),
        Option("uniformInit", "truth", "true", "Uniform first parameters, else Gaussian."),
        Option("applyMeanVarNorm", "truth", "false", "Normalise the input."),
        Option("needPrior", "truth", "false", "Divide the output by the labels' frequency."),
        Option("addDropoutNodes", "truth", "false", "Put a Dropout behind each layer."),
        Option(
            "rnnType",
            "choice",
            "SIMPLENET",
            "The kind of network.",
            values=(
                *("SIMPLENET", "SIMPLERNN", "LSTM", "CLASSLM", "LBLM", "NPLM", "CLASSLSTM"),
                *("NCELSTM", "CLSTM", "CRF"),
            ),
            each=True,
            cased=True,
        ),
        Option("recurrentLayer", "integer", "", "Numbers of the recurrent layers.", each=True),
        Option("directConnect", "integer", "", "Layers joined to the output.", each=True),
        Option("lookupTableOrder", "integer", "0", "Words whose embeddings are joined."),
        Option("lookupTableOrderSizes", "integer", "", "The same for each stream.", each=True),
        Option("maOrder", "integer", "0", "Order of the moving average."),
        Option("streamSizes", "integer", "", "Sizes of the input's streams.", each=True),
        Option("auxfeatdim", "integer", "20", "Size of further features."),
        Option("labelEmbeddingSize", "integer", "10", "Size of a label's embedding."),
        Option("constForgetGateValue", "truth", "false", "Keep the forget gate open."),
        Option("constInputGateValue", "truth", "false", "Keep the input gate open."),
        Option("constOutputGateValue", "truth", "false", "Keep the output gate open."),
        Option("forgetGateInitVal", "number", "-1", "First bias of the forget gate."),
        Option("inputGateInitVal", "number", "-1", "First bias of the input gate."),
        Option("outputGateInitVal", "number", "-1", "First bias of the output gate."),
        Option("sparseinput", "truth", "false", "The input is sparse."),
        Option("defaultHiddenActivity", "number", "0.1", "State before the first step."),
        Option("word2cls", "input", "", "The class of each word."),
        Option("cls2index", "input", "", "The first word of each class."),
        Option("vocabSize", "integer", "-1", "How many words there are."),
        Option("nbrClass", "integer", "-1", "How many classes of words there are."),
        Option("noise_number", "integer", "-1", "Words drawn as noise."),
        Option("randomSeedOffset", "integer", "0", "Is added to seeds.", span=Span(0)),
        _DEVICE,
    ),
)
NDL = Block(
    "NDLNetworkBuilder",
    "A network in the network description language.",
    (
        Option("networkDescription", "input", "", "The file of the network."),
        Option("run", "names", None, "The section that is the network."),
        Option("load", "names", None, "Sections with macros."),
        Option("ndlMacros", "input", "", "Files of macros, joined by +."),
        Option(
            "randomSeedOffset",
            "integer",
            "0",
            "Is added to the seeds of parameters.",
            span=Span(0),
        ),
        Option("dumpFileName", "output", "", "Where the network is written to."),
        _DEVICE,
    ),
)
#: In the order in which CNTK looks for them: the first that is there builds the network.
ROWS = (
    Option("createNetwork", "text", None, "A function of BrainScript; never in this language."),
    Option(
        "SimpleNetworkBuilder",
        "block",
        None,
        "A network of layers in a row.",
        inside="SimpleNetworkBuilder",
    ),
    Option(
        "NDLNetworkBuilder",
        "block",
        None,
        "A network in the network description language.",
        inside="NDLNetworkBuilder",
    ),
    Option("BrainScriptNetworkBuilder", "text", None, "A network in BrainScript."),
    Option(
        "ExperimentalNetworkBuilder",
        "text",
        None,
        "A network in BrainScript.",
        instead="BrainScriptNetworkBuilder",
    ),
)
BUILDERS = tuple(option.name for option in ROWS)
BLOCKS = (SIMPLE, NDL)
