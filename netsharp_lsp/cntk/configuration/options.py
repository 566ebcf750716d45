"""Which keys each action reads, and which those of its blocks that may stand further out.

Names only, spelt as CNTK documents them; defaults and kinds of values are not here.
"""

from __future__ import annotations

#: What every action looks at.
COMMON = ("precision", "deviceId", "traceLevel")
READING = (
    *("randomize", "randomizationWindow", "verbosity", "traceLevel", "precision", "frameMode"),
    *("nbruttsineachrecurrentiter", "truncated", "skipSequenceIds", "maxErrors"),
    *("chunkSizeInBytes", "keepDataInMemory", "minibatchMode"),
)
#: The keys of training that are not blocks.
SGD = (
    *("maxEpochs", "epochSize", "minibatchSize", "learningRatesPerSample", "learningRatesPerMB"),
    *("momentumPerMB", "momentumAsTimeConstant", "momentumPerSample", "useNAG"),
    *("minLearningRatePerSample", "dropoutRate", "batchNormalizationTimeConstant"),
    *("batchNormalizationBlendTimeConstant", "disableRegInBatchNormalization", "L1RegWeight"),
    *("L2RegWeight", "clippingThresholdPerSample", "gradientClippingWithTruncation"),
    *("gradUpdateType", "gaussianNoiseInjectStd", "varianceTimeConstant"),
    *("fsAdagradTargetAvDenom", "rms_wgt_inc", "rms_wgt_dec", "rms_wgt_max", "rms_wgt_min"),
    *("rms_gamma", "normWithAveMultiplier", "adaptationRegType", "adaptationRegWeight"),
    *("numMBsToShowResult", "firstMBsToShowResult", "numMBsToCUDAProfile", "traceLevel"),
    *("perfTraceLevel", "numSubminibatches", "maxSamplesInRAM", "truncated"),
    *("maxTempMemSizeInSamplesForCNN", "keepCheckPointFiles", "trainCriterionNodeName"),
    *("evalCriterionNodeName", "traceNodeNamesReal", "traceNodeNamesCategory"),
    *("traceNodeNamesSparse", "UseAllDataForPreComputedNode", "gradientcheck", "sigFigs"),
    *("hSmoothingWeight", "frameDropThresh", "doReferenceAlign", "modelPath"),
    *("executionEngine", "AutoAdjust", "ParallelTrain"),
)
#: In the order in which CNTK looks for them: the first that is there builds the network.
BUILDERS = (
    *("createNetwork", "SimpleNetworkBuilder", "NDLNetworkBuilder", "BrainScriptNetworkBuilder"),
    "ExperimentalNetworkBuilder",
)
_TRAIN = (*COMMON, *BUILDERS, "modelPath", "makeMode", "reader", "cvReader", "SGD")
_TEST = (
    *(*COMMON, *BUILDERS, "modelPath", "reader", "minibatchSize", "epochSize", "evalNodeNames"),
    *("numMBsToShowResult", "firstMBsToShowResult", "distributedMBReading", "maxSamplesInRAM"),
    "numSubminibatches",
)
_WRITE = (
    *(*COMMON, *BUILDERS, "modelPath", "reader", "outputNodeNames", "writer", "outputPath"),
    *("minibatchSize", "epochSize", "format", "nodeUnitTest"),
)
_DUMP = (
    *(*COMMON, "modelPath", "nodeName", "nodeNameRegex", "outputFile"),
    *("printValues", "printMetadata"),
)
_WORDS = (
    *(*COMMON, "inputFile", "outputVocabFile", "outputMappingFile", "vocabSize", "nbrClass"),
    *("outputWord2Cls", "outputCls2Index", "cutoff", "unk", "beginSequence", "endSequence"),
)
_EDIT = ("editPath", "ndlMacros", "outputModelPath", "makeMode")
_NORMS = ("modelPath", "newModelPath", "itersPerNode", "minibatchSize", "evalNodeNames")
_PLOT = ("modelPath", "outputDotFile", "outputFile", "renderCmd")
_SVD = ("modelPath", "outputmodelPath", "KeepRatio", "AlignedSize", "NodeNameRegex", "SVDConfig")
ACTIONS: dict[str, tuple[str, ...]] = {
    "train": _TRAIN,
    "trainRNN": _TRAIN,
    "adapt": (*_TRAIN, "origModelFileName", "refNodeName"),
    "test": _TEST,
    "eval": _TEST,
    "cv": (*_TEST, "crossValidationInterval", "sleepTimeBetweenRuns"),
    "write": _WRITE,
    "edit": (*COMMON, *BUILDERS, *_EDIT),
    "bnstat": (*COMMON, *BUILDERS, *_NORMS, "reader"),
    "dumpNodes": _DUMP,
    "dumpNode": _DUMP,
    "dumpnode": _DUMP,
    "plot": (*COMMON, *_PLOT),
    "SVD": (*COMMON, *_SVD),
    "writeWordAndClass": _WORDS,
    "createLabelMap": (*COMMON, "reader", "minibatchSize"),
    "devtest": COMMON,
}
#: Keys that a block reads from the blocks around it, too.
INSIDE: dict[str, tuple[str, ...]] = {"sgd": SGD, "reader": READING, "cvreader": READING}
#: Keys of a reader that name files, in whatever block of it they stand.
DATA_FILES = frozenset(
    (
        *(b"file", b"scpfile", b"mlffile", b"mlffilelist", b"labelmappingfile", b"meanfile"),
        *(b"intensityfile", b"wordclass", b"unigram", b"inputfile", b"labeltotargetmappingfile"),
    )
)
DEFAULT_READER = "CNTKTextFormatReader"
