"""The options of training: the block SGD and the blocks in it."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options.table import Block, Option, Span

_POSITIVE = Span(0)
_SHARE = Span(0, 1, below=True)
_DATE = "one value per epoch, the last one for all that follow"

#: What a run says of its progress; several actions have these.
REPORTING = (
    Option("traceLevel", "integer", "0", "How much is written to the log: 0 is least."),
    Option("numMBsToShowResult", "integer", "10", "Minibatches from one log line to the next."),
    Option("firstMBsToShowResult", "integer", "0", "Of so many first minibatches each is shown."),
)
TRACING = (
    Option("traceNodeNamesReal", "nodes", "", "Nodes whose values are logged as numbers."),
    Option("traceNodeNamesCategory", "nodes", "", "Nodes whose values are logged as classes."),
    Option("traceNodeNamesSparse", "nodes", "", "Nodes whose non-zero values are logged."),
)
MEMORY = (
    Option("maxSamplesInRAM", "integer", None, "Samples that a part of a minibatch may have."),
    Option("numSubminibatches", "integer", "1", "Parts in which a minibatch is worked through."),
)

SGD = Block(
    "SGD",
    "How parameters are trained by stochastic gradient descent.",
    (
        Option("maxEpochs", "integer", None, "How many epochs are trained in all.", required=True),
        Option("epochSize", "integer", "0", "Samples of an epoch; 0 is the whole data set."),
        Option(
            "minibatchSize", "integer", "256", f"Samples between two updates: {_DATE}.", each=True
        ),
        Option(
            "learningRatesPerSample",
            "number",
            None,
            f"Learning rate for each single sample: {_DATE}.",
            each=True,
        ),
        Option(
            "learningRatesPerMB",
            "number",
            None,
            f"Learning rate that is divided by minibatchSize: {_DATE}.",
            each=True,
        ),
        Option(
            "momentumPerMB",
            "number",
            "0.9",
            f"Share of the former step that a minibatch keeps: {_DATE}.",
            span=_SHARE,
            each=True,
        ),
        Option(
            "momentumPerSample",
            "number",
            None,
            f"Share of the former step that a sample keeps: {_DATE}.",
            span=_SHARE,
            each=True,
        ),
        Option(
            "momentumAsTimeConstant",
            "number",
            None,
            f"Samples over which a step fades; 0 is no momentum: {_DATE}.",
            span=_POSITIVE,
            each=True,
        ),
        Option("useNAG", "truth", "false", "Take Nesterov's form of momentum."),
        Option(
            "minLearningRatePerSample",
            "number",
            "1e-9",
            "Training ends when the learning rate falls below this.",
        ),
        Option(
            "dropoutRate",
            "number",
            "0",
            f"Share of values that Dropout nodes drop: {_DATE}.",
            span=_SHARE,
            each=True,
        ),
        Option(
            "batchNormalizationTimeConstant",
            "number",
            "0",
            f"Samples over which running statistics fade: {_DATE}.",
            each=True,
        ),
        Option(
            "batchNormalizationBlendTimeConstant",
            "number",
            "0",
            f"Weight of running statistics against a minibatch's own, in samples: {_DATE}.",
            each=True,
        ),
        Option(
            "disableRegInBatchNormalization",
            "truth",
            "false",
            "Leave scale and bias of batch normalisation out of L1 and L2 regularisation.",
        ),
        Option("L1RegWeight", "number", "0", "Weight of the sum of absolute parameters."),
        Option("L2RegWeight", "number", "0", "Weight of the sum of squared parameters."),
        Option(
            "clippingThresholdPerSample",
            "number",
            "infinity",
            "Bound of the gradient, times the samples of a minibatch.",
        ),
        Option(
            "gradientClippingWithTruncation",
            "truth",
            "true",
            "Cut each element of a gradient at the bound, instead of scaling all by their norm.",
        ),
        Option(
            "gradUpdateType",
            "choice",
            "none",
            "The rule by which a gradient changes a parameter.",
            values=("none", "adagrad", "rmsProp", "fsAdagrad"),
            old=("normal", "simple", ""),
        ),
        Option(
            "gaussianNoiseInjectStd",
            "number",
            "0",
            "Standard deviation of noise that is added to gradients.",
        ),
        Option("varianceTimeConstant", "number", "720000", "Samples of fsAdagrad's average."),
        Option("fsAdagradTargetAvDenom", "number", "1", "Denominator that fsAdagrad aims at."),
        Option("rms_wgt_inc", "number", "1.2", "Factor of rmsProp where signs agree."),
        Option("rms_wgt_dec", "number", "0.75", "Factor of rmsProp where signs differ."),
        Option("rms_wgt_max", "number", "10", "Largest step of rmsProp."),
        Option("rms_wgt_min", "number", "0.1", "Smallest step of rmsProp."),
        Option("rms_gamma", "number", "0.99", "How slowly rmsProp's mean square fades."),
        Option(
            "normWithAveMultiplier",
            "truth",
            "true",
            "Divide an adaptive rule's rate by the mean of its multipliers.",
        ),
        Option(
            "adaptationRegType",
            "choice",
            "none",
            "How the action adapt keeps near to its model.",
            values=("none", "kl"),
            old=("klReg", ""),
        ),
        Option(
            "adaptationRegWeight",
            "number",
            "0",
            "Weight of keeping near to the former model.",
            span=Span(0, 1),
        ),
        *REPORTING,
        Option("numMBsToCUDAProfile", "integer", "0", "Minibatches that a profiler sees."),
        Option("perfTraceLevel", "integer", "0", "How much is logged about times."),
        *MEMORY,
        Option("truncated", "truth", "false", "Cut sequences for back-propagation in time."),
        Option(
            "maxTempMemSizeInSamplesForCNN",
            "integer",
            "0",
            "Bound of a convolution's temporary memory, in samples; 0 is none.",
        ),
        Option("keepCheckPointFiles", "truth", "false", "Keep the state of every epoch."),
        Option("trainCriterionNodeName", "nodes", "", "The criterion that is trained."),
        Option("evalCriterionNodeName", "nodes", "", "The node that judges epochs."),
        *TRACING,
        Option(
            "UseAllDataForPreComputedNode",
            "truth",
            "true",
            "Take means and deviations over the whole data instead of one epoch.",
        ),
        Option(
            "gradientcheck",
            "truth",
            "false",
            "Compare gradients with differences; needs precision=double.",
        ),
        Option("sigFigs", "number", "6", "Digits that gradientcheck compares."),
        Option("hSmoothingWeight", "number", "0.95", "Smoothing in sequence training."),
        Option("frameDropThresh", "number", "1e-10", "When sequence training drops frames."),
        Option("doReferenceAlign", "truth", "false", "Align anew in sequence training."),
        Option("seqGammarUsesMBR", "truth", "false", "Sequence training by minimal risk."),
        Option("seqGammarAMF", "number", "14", "Acoustic factor of sequence training."),
        Option("seqGammarLMF", "number", "14", "Language factor of sequence training."),
        Option("seqGammarBMMIFactor", "number", "0", "Boosting in sequence training."),
        Option("seqGammarWordPen", "number", "0", "Word penalty of sequence training."),
        Option("modelPath", "output", None, "The model that is trained.", required=True),
        Option(
            "executionEngine",
            "choice",
            "synchronous",
            "How nodes are computed.",
            values=("synchronous",),
        ),
        Option("unitTest", "truth", "false", "Train for a test of the program itself."),
        Option(
            "useAdagrad",
            "truth",
            "false",
            "Take the rule of AdaGrad.",
            instead="gradUpdateType=adagrad",
        ),
        Option("AutoAdjust", "block", "{}", "How the learning rate is found.", inside="AutoAdjust"),
        Option(
            "ParallelTrain",
            "block",
            "{}",
            "How workers share training.",
            inside="ParallelTrain",
        ),
    ),
)

AUTO_ADJUST = Block(
    "AutoAdjust",
    "How learning rate and minibatch size are found while training goes on.",
    (
        Option(
            "autoAdjustLR",
            "choice",
            "none",
            "When the learning rate is sought.",
            values=("none", "searchBeforeEpoch", "adjustAfterEpoch"),
            old=("beforeEpoch", "before", "afterEpoch", "after", "false"),
        ),
        Option(
            "reduceLearnRateIfImproveLessThan",
            "number",
            "0",
            "Relative gain up to which the rate is reduced.",
        ),
        Option("continueReduce", "truth", "false", "Once reduced, reduce in every interval."),
        Option("learnRateAdjustInterval", "integer", "1", "Epochs between two adjustments."),
        Option(
            "learnRateDecreaseFactor",
            "number",
            "0.618",
            "Factor by which the rate is reduced.",
            span=Span(None, 1),
        ),
        Option(
            "increaseLearnRateIfImproveMoreThan",
            "number",
            "infinity",
            "Relative gain from which the rate is increased.",
        ),
        Option(
            "learnRateIncreaseFactor",
            "number",
            "1.382",
            "Factor by which the rate is increased.",
            span=Span(1),
        ),
        Option("loadBestModel", "truth", "true", "Go back to the best model after a bad epoch."),
        Option("UseCVSetControlLRIfCVExists", "truth", "true", "Judge by the data of cvReader."),
        Option("UseEvalCriterionControlLR", "truth", "false", "Judge by the evaluation node."),
        Option("numPrevLearnRates", "integer", "5", "Former rates that a search begins from."),
        Option("numBestSearchEpoch", "integer", "1", "Epochs with a search of both sides."),
        Option(
            "numSamples4Search",
            "integer",
            "500 minibatches",
            "Samples of a trial, one value per epoch.",
            each=True,
        ),
        Option(
            "numMiniBatch4LRSearch",
            "integer",
            "500",
            "Minibatches of a trial, one value per epoch.",
            each=True,
            instead="numSamples4Search",
        ),
        Option("autoAdjustMinibatch", "truth", "false", "Seek the minibatch size, too."),
        Option("minibatchSizeTuningFrequency", "integer", "1", "Epochs from search to search."),
        Option("minibatchSizeTuningMax", "integer", "1048576", "Largest size that is tried."),
        Option(
            "minibatchSearchCriterionErrorMargin",
            "integer",
            "1",
            "Percent by which a larger size may be worse.",
        ),
    ),
)

PARALLEL_TRAIN = Block(
    "ParallelTrain",
    "How several workers share training; no worker but one takes no notice of it.",
    (
        Option(
            "parallelizationMethod",
            "choice",
            "none",
            "What the workers exchange.",
            values=(
                "none",
                "DataParallelSGD",
                "ModelAveragingSGD",
                "BlockMomentumSGD",
                "dataParallelASGD",
            ),
            old=("",),
        ),
        Option(
            "parallelizationStartEpoch",
            "integer",
            "1",
            "The first epoch that is shared.",
            span=Span(1),
        ),
        Option("distributedMBReading", "truth", "false", "Each worker reads its part only."),
        Option("syncPerfStats", "integer", "0", "How often times are compared; 0 is never."),
        Option(
            "DataParallelSGD", "block", "{}", "Exchange of gradients.", inside="DataParallelSGD"
        ),
        Option(
            "ModelAveragingSGD",
            "block",
            "{}",
            "Averages of models.",
            inside="ModelAveragingSGD",
        ),
        Option(
            "BlockMomentumSGD", "block", "{}", "Momentum over blocks.", inside="BlockMomentumSGD"
        ),
        Option(
            "DataParallelASGD",
            "block",
            "{}",
            "Asynchronous exchange of gradients.",
            inside="DataParallelASGD",
        ),
    ),
)

_BLOCKS = (
    Option("blockSize", "integer", None, "Samples of all workers from one average to the next."),
    Option("blockSizePerWorker", "integer", None, "Samples of a worker between two averages."),
)
_PERIOD = Option(
    "syncPeriod",
    "integer",
    None,
    "Samples of a worker between two averages.",
    instead="blockSizePerWorker",
)

PARALLEL_BLOCKS = (
    Block(
        "DataParallelSGD",
        "Exchange of gradients after every minibatch.",
        (
            Option("gradientBits", "integer", None, "Bits of an exchanged value.", each=True),
            Option(
                "useZeroThresholdFor1BitQuantization",
                "truth",
                "true",
                "Cut at zero instead of the mean where one bit is exchanged.",
            ),
            Option(
                "useBufferedAsyncGradientAggregation",
                "truth",
                "false",
                "Exchange the former gradient while the next is computed.",
            ),
        ),
    ),
    Block(
        "ModelAveragingSGD",
        "Averages of the workers' models after every block.",
        (
            *_BLOCKS,
            _PERIOD,
            Option(
                "syncFrequencyInFrames",
                "integer",
                None,
                "Samples between two averages.",
                instead="blockSizePerWorker",
            ),
        ),
    ),
    Block(
        "BlockMomentumSGD",
        "Averages of models with a momentum from block to block.",
        (
            *_BLOCKS,
            _PERIOD,
            Option("blockMomentumAsTimeConstant", "number", None, "Samples over which it fades."),
            Option("blockMomentumPerSync", "number", None, "Share that a block keeps."),
            Option("resetSGDMomentum", "truth", "true", "Begin each block without momentum."),
            Option("useNesterovMomentum", "truth", "true", "Take Nesterov's form."),
            Option("blockLearningRate", "number", "1", "Weight of a block's change."),
        ),
    ),
    Block(
        "DataParallelASGD",
        "Asynchronous exchange through a common store.",
        (
            Option("syncPeriod", "integer", "256", "Samples between two exchanges.", each=True),
            Option("UsePipeline", "truth", "false", "Exchange while the next is computed."),
            Option("SimModelAverage", "truth", "false", "Average models instead."),
            Option(
                "AdjustLearningRateAtBeginning",
                "block",
                "{}",
                "Smaller rates in the beginning.",
                inside="AdjustLearningRateAtBeginning",
            ),
        ),
    ),
    Block(
        "AdjustLearningRateAtBeginning",
        "How the rate grows to its value.",
        (
            Option(
                "adjustType",
                "choice",
                "none",
                "The shape of the growth.",
                values=("none", "linearly", "staircase"),
                old=("",),
            ),
            Option("adjustCoefficient", "number", "0.1", "The part that is left at first."),
            Option("adjustPerMinibatches", "integer", "256", "Minibatches of a step."),
        ),
    ),
)

BLOCKS = (SGD, AUTO_ADJUST, PARALLEL_TRAIN, *PARALLEL_BLOCKS)
