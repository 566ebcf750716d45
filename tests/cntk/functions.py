"""Which functions the library of BrainScript has, and which NDL has, by name alone.

The corpus uses each of them somewhere; nothing else is known of them here.
"""

from __future__ import annotations

#: Functions of the library by the record that holds them; the first are at the top.
LIBRARY = {
    "": """
        LinearLayer DenseLayer EmbeddingLayer ConvolutionalLayer _PoolingLayer
        MaxPoolingLayer AveragePoolingLayer RecurrentLSTMLayer RecurrentLSTMLayerStack
        DelayLayer BatchNormalizationLayer LayerNormalizationLayer StabilizerLayer
        FeatureMVNLayer LogPriorLayer Identity Sequential Parallel MergeBinary
        LayerStack _AreElementsTheSame Parameter ParameterTensor ConstantFromString
        DynamicAxis Input SparseInput ImageInput SparseImageInput EnvironmentInput
        ConstantTensor Constant _PFValue PastValue FutureValue Shift RowSlice RowRepeat
        RowStack Slice Reshape NewReshape ReshapeDimension FlattenDimensions
        SplitDimension Transpose ReconcileDynamicAxis CastAs TimeReverse PackedIndex
        GatherPacked ScatterPacked Where Trace Convolution Pooling MaxUnpooling
        MaxPooling AveragePooling ROIPooling BatchNormalization OptimizedRNNStack
        RNNStack ClassBasedCrossEntropyWithSoftmax CrossEntropy CosDistance
        CosDistanceWithNegativeSamples GMMLogLikelihood LambdaRank NDCG1Eval Logistic
        WeightedLogistic SquareError MatrixL1Reg MatrixL2Reg Clip ColumnElementTimes
        Cosine DiagTimes InvStdDev KhatriRaoProduct LogPlus LogSoftmax Mean Negate
        PerDimMeanVarDeNormalization PerDimMeanVarNormalization Reciprocal Scale Sin
        Softmax Hardmax Sqrt SumColumnElements SumElements Tanh TransposeTimes _AsNodes
        Print Fail Format Replace Substr Chr Length Repeat _ForceResizeArray _AsArray
        _ConcatArrays Sign Min Max Fac IsSameObject IsArray IsDouble IsBool Mod IntDiv
        BFF SBFF MeanVarNorm LogPrior Embedding
    """,
    "CNTK2": """
        DynamicAxis Input _Parameter Reshape Slice Splice TransposeDimensions Times Abs
        Ceil Clip ElementDivide ElementTimes Exp Floor Log Minus Plus Round Sqrt Square
        Tanh ReduceSum ReduceLogSum ReduceMean ReduceMin ReduceMax FutureValue PastValue
        ReLU Sigmoid Softmax Dropout CrossEntropyWithSoftmax ClassificationError
        CrossEntropyWithSoftmax_new ClassificationError_new Less Equal Greater
        GreaterEqual NotEqual LessEqual Pass GetRandomSample GetInclusionFrequency
    """,
    "BS.Constants": """
        OnesTensor ZeroesLike ZeroesLike1 OnesLike IsNone
    """,
    "BS.Boolean": """
        And Or Xor Not Toggle If
    """,
    "BS.Sequences": """
        BroadcastSequenceAs PastValueWindow FoldL FoldR _Fold Map Gather Scatter First
        Last
    """,
    "BS.Loop": """
        Iteration Count IsFirst IsLast IsFirstN IsLastN _IsWithin Previous Next
        PreviousOrDefault NextOrDefault
    """,
    "BS.Parameters": """
        WeightParam DiagWeightParam BiasParam ScalarParam StabilizeElements Stabilize
    """,
    "BS.RNNs": """
        LSTMBlock LSTMP PreviousHC NextHC PreviousHCWithTrainedInitialState
        NextHCWithTrainedInitialState NoAuxInputHook RecurrentLSTMP RecurrentLSTMPStack
        RecurrentBidirectionalLSTMPStack GRU RecurrentGRU RecurrentGRUStack
        RecurrentBidirectionalGRUStack
    """,
    "BS.Seq2Seq": """
        CreateAugmentWithFixedWindowAttentionHook GetTopNTensor
        GreedySequenceDecoderFrom BeamSearchSequenceDecoderFrom
    """,
    "BS.Network": """
        Load CloneFunction Edit
    """,
    "BS.Network.Editing": """
        ReplaceLinksToNode ReplaceLinksToNamedNode
    """,
}

#: Functions of the library as they are called: `ReLU`, `BS.Loop.Previous`.
BRAINSCRIPT = tuple(
    f"{record}.{name}" if record else name
    for record, names in LIBRARY.items()
    for name in names.split()
)

_NAMES = """
    Abs AveragePooling BatchNormalization ClassBasedCrossEntropyWithSoftmax
    ClassificationError Clip ColumnElementTimes Constant Convolution CosDistance
    CosDistanceWithNegativeSamples Cosine Crop CrossEntropy CrossEntropyWithSoftmax
    DiagTimes Diagonal Dropout DummyCriterion ElementTimes Equal Exp Floor FutureValue
    Greater GreaterEqual Hardmax If ImageInput ImageParameter InputValue InvStdDev
    KhatriRaoProduct LearnableParameter Less LessEqual Log LogPlus LogSoftmax Logistic
    LookupTable MatrixL1Reg MatrixL2Reg MaxPooling MaxUnpooling Mean Minus Negate NotEqual
    PastValue PerDimMeanVarDeNormalization PerDimMeanVarNormalization Plus Pooling
    ROIPooling Reciprocal ReconcileDynamicAxis RectifiedLinear Reshape RowElementTimes
    RowRepeat RowSlice RowStack Scale SequenceWithSoftmax Sigmoid Sin Softmax
    SparseImageInput SparseInputValue Sqrt SquareError SumColumnElements SumElements Tanh
    Times Transpose TransposeTimes
    """
NDL = tuple(_NAMES.split())

_SHORT = """
    Input SparseInput Image SparseImage Parameter Const Delay Convolve CBCEWithSM
    ErrorPrediction CosDist CosWithNegSamples Cos CEWithSM ColumnwiseCrossProduct L1Reg
    L2Reg PerDimMVDeNorm PerDimMVNorm ReLU SEWithSM SE
    """
#: What an NDL function may also be called.
NDL_SHORT = tuple(_SHORT.split())
