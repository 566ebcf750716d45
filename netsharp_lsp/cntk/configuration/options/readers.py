"""The options of readers, by the type of reader, and of the blocks in them."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options.table import Block, Option, Span

_COUNT = Span(1)


def _file(says: str = "The file with the data.", required: bool = True) -> Option:
    return Option("file", "input", None, says, required=required)


#: What every reader takes, wherever it stands.
COMMON = (
    Option(
        "readerType",
        "text",
        "CNTKTextFormatReader",
        "Which reader reads the data: the name of its library.",
    ),
    Option("precision", "choice", "float", "Numbers are this wide.", values=("float", "double")),
    Option("verbosity", "integer", "0", "How much the reader tells in the log."),
    Option("traceLevel", "integer", "0", "How much is written to the log."),
    Option(
        "nbruttsineachrecurrentiter",
        "integer",
        "1",
        "Sequences that are read side by side, one value per epoch.",
        each=True,
    ),
    Option("prefetch", "truth", "true", "Read the next minibatch while this one is used."),
    Option("minibatchMode", "text", "partial", "Deliver a last minibatch that is not full."),
)
#: A reader that has one of these is made of others, whatever else it says.
SEVERAL = Option("readers", "names", None, "Blocks of readers that together bring all streams.")
COMPOSED = Option(
    "deserializers",
    "blocks",
    None,
    "Deserializers that together bring all streams.",
    inside="deserializer",
)
_TRUNCATED = Option("truncated", "truth", "false", "Cut sequences into pieces of one length.")
_FRAMES = Option("frameMode", "truth", "false", "Every sample is a sequence of its own.")
_LENGTH = Option("truncationLength", "integer", "0", "Samples of a piece where truncated is true.")
_CHECK = Option("checkData", "truth", "true", "Look whether deserializers agree on sequences.")

TEXT = Block(
    "CNTKTextFormatReader",
    "Reads CNTK's text format: |name value value ...",
    (
        *COMMON,
        _file(),
        Option("input", "block", None, "The streams.", inside="streams", required=True, here=True),
        Option(
            "randomize",
            "truth",
            "true",
            "Shuffle the data anew in every pass.",
            values=("none",),
        ),
        Option("randomizationWindow", "integer", "all", "Samples within which is shuffled."),
        Option("skipSequenceIds", "truth", "false", "Every line is a sequence of its own."),
        Option("maxErrors", "integer", "0", "Errors of the data that are passed over."),
        Option("traceLevel", "integer", "1", "How much is told about the data."),
        Option("chunkSizeInBytes", "integer", "33554432", "Bytes that are read at a time."),
        Option("keepDataInMemory", "truth", "false", "Read the data once and keep them."),
        _FRAMES,
        _TRUNCATED,
    ),
)
STREAMS = Block("streams", "The streams by the names of the inputs.", (), any_name="stream")
STREAM = Block(
    "stream",
    "One stream of a text file; its name is that of the network's input.",
    (
        Option(
            "dim",
            "integer",
            None,
            "Numbers of a sample.",
            span=_COUNT,
            required=True,
            here=True,
        ),
        Option(
            "format",
            "choice",
            None,
            "Whether the file lists every number, or index:value pairs.",
            values=("dense", "sparse"),
            required=True,
            here=True,
        ),
        Option("alias", "text", None, "The stream's name in the file.", here=True),
    ),
)

IMAGE = Block(
    "ImageReader",
    "Reads images that a map file lists with their labels.",
    (
        *COMMON,
        _file("The map file: a path and a label per line."),
        Option(
            "randomize",
            "choice",
            "auto",
            "Shuffle the images.",
            values=("auto", "none"),
        ),
        Option("numCPUThreads", "integer", "0", "Threads that decode images; 0 is all."),
        Option("grayscale", "truth", "channels == 1", "Read images without colours."),
    ),
    any_name="image section",
)
_CROP = (
    Option(
        "cropType",
        "choice",
        "center",
        "Which part of an image is cut out.",
        values=("center", "random", "multiview10"),
        old=("",),
    ),
    Option("cropRatio", "number", "1.0", "Side of the part, relative: from:to.", each=True),
    Option(
        "jitterType",
        "choice",
        "none",
        "How the ratio is drawn.",
        values=("none", "uniRatio", "uniLength", "uniArea"),
        old=("",),
    ),
    Option("hflip", "truth", "true if random", "Mirror images at random.", here=True),
    Option("aspectRatioRadius", "number", "0", "Change of the aspect ratio.", each=True),
)
_SCALE = (
    Option("width", "integer", None, "Columns of the result.", span=_COUNT, required=True),
    Option("height", "integer", None, "Rows of the result.", span=_COUNT, required=True),
    Option("channels", "integer", None, "Channels: 3 or 1.", span=_COUNT, required=True),
    Option(
        "interpolations",
        "choice",
        "linear",
        "How an image is scaled.",
        values=("nearest", "linear", "cubic", "lanczos"),
        each=True,
    ),
    Option(
        "scaleMode",
        "choice",
        "fill",
        "What happens to the aspect ratio.",
        values=("fill", "crop", "pad"),
    ),
    Option("padValue", "integer", "-1", "Value beside the image; -1 repeats its border."),
)
_MEAN = (Option("meanFile", "input", "", "The mean image that is subtracted."),)
_INTENSITY = (
    Option("intensityFile", "input", "", "Eigenvalues and vectors of colours."),
    Option("intensityStdDev", "number", "0", "Change along them.", each=True),
)
_COLOR = (
    Option("brightnessRadius", "number", "0", "Change of brightness.", each=True),
    Option("contrastRadius", "number", "0", "Change of contrast.", each=True),
    Option("saturationRadius", "number", "0", "Change of saturation.", each=True),
)
_SEED = (Option("seed", "integer", "0", "Seed of random changes."),)
IMAGE_SECTION = Block(
    "image section",
    "The images (with width) or their labels (with labelDim) of an ImageReader.",
    (
        *_CROP,
        *(option._replace(required=False) for option in _SCALE),
        *_MEAN,
        *_INTENSITY,
        *_COLOR,
        *_SEED,
        Option(
            "mbFormat",
            "choice",
            "nchw",
            "The order of an image's numbers.",
            values=("nchw", "nhwc"),
            old=("legacy",),
        ),
        Option("multiViewCrop", "truth", "false", "Ten views of each image."),
        Option("labelDim", "integer", None, "How many classes there are.", span=_COUNT),
    ),
)

COMPOSITE = Block(
    "CompositeDataReader",
    "Reads streams from several deserializers.",
    (
        *COMMON,
        COMPOSED,
        _FRAMES,
        _TRUNCATED,
        _LENGTH,
        Option("randomize", "truth", "false", "Shuffle the data anew in every pass."),
        Option("randomizationWindow", "integer", "all", "Samples within which is shuffled."),
        _CHECK,
        Option(
            "multiThreadedDeserialization",
            "truth",
            "true for images",
            "Read sequences in several threads.",
        ),
        Option("useLegacyRandomization", "truth", "false", "Shuffle as older programs did."),
    ),
)
MODULES = {
    "ImageReader": ("ImageDeserializer",),
    "CNTKTextFormatReader": ("CNTKTextFormatDeserializer",),
    "HTKDeserializers": ("HTKFeatureDeserializer", "HTKMLFDeserializer"),
}
_KIND = (
    Option(
        "type",
        "choice",
        None,
        "What is read.",
        values=tuple(kind for kinds in MODULES.values() for kind in kinds),
        required=True,
        cased=True,
    ),
    Option(
        "module",
        "text",
        None,
        "The library of the deserializer.",
        required=True,
    ),
    Option("precision", "choice", "float", "Numbers are this wide.", values=("float", "double")),
    Option("verbosity", "integer", "0", "How much is told in the log."),
)
DESERIALIZER = Block(
    "deserializer",
    "One deserializer: what it reads and the streams that it brings.",
    (
        *_KIND,
        Option(
            "input",
            "block",
            None,
            "The streams by name.",
            inside="deserialized streams",
            required=True,
        ),
        *(option for option in TEXT if option.name in ("file", "randomize", "skipSequenceIds")),
        *(option for option in TEXT if option.name in ("maxErrors", "traceLevel", "frameMode")),
        *(option for option in TEXT if option.name in ("chunkSizeInBytes", "keepDataInMemory")),
        *(option for option in IMAGE if option.name == "grayscale"),
        Option("multiViewCrop", "truth", "false", "Ten views of each image."),
    ),
)
DESERIALIZED = Block(
    "deserialized streams", "The streams by name.", (), any_name="deserialized stream"
)
_HTK_FEATURES = (
    Option("dim", "integer", None, "Numbers of a frame in the file.", span=_COUNT),
    Option("scpFile", "input", None, "The list of feature files."),
    Option("prefixPathInSCP", "text", "", "What is put before each listed path."),
    Option("type", "choice", "real", "What the numbers are.", values=("real", "category")),
    Option(
        "contextWindow",
        "integer",
        "1",
        "Frames together: an odd number, or left:right.",
        each=True,
    ),
    Option("expandToUtterance", "truth", "false", "One vector for a whole utterance."),
)
_HTK_LABELS = (
    Option("mlfFile", "input", None, "The file of labels.", here=True),
    Option("mlfFileList", "input", None, "A list of files of labels.", here=True),
    Option("labelMappingFile", "input", "", "The names of labels, one per line."),
    Option("labelDim", "integer", None, "How many classes there are.", span=_COUNT),
    Option(
        "labelType",
        "choice",
        "category",
        "What the labels are.",
        values=("category",),
    ),
)
DESERIALIZED_STREAM = Block(
    "deserialized stream",
    "A stream that a deserializer brings.",
    (
        Option("transforms", "blocks", None, "What is done to it, in order.", inside="transform"),
        Option(
            "format", "choice", None, "How it is stored.", values=("dense", "sparse"), here=True
        ),
        Option("alias", "text", None, "The stream's name in the file.", here=True),
        Option("precision", "choice", "float", "The width.", values=("float", "double")),
        *(option._replace(here=option.name == "type") for option in _HTK_FEATURES),
        *_HTK_LABELS,
    ),
)
TRANSFORMS = ("Crop", "Scale", "Color", "Intensity", "Mean", "Transpose", "Cast")
TRANSFORM = Block(
    "transform",
    "One change of images.",
    (
        Option(
            "type",
            "choice",
            None,
            "Which change.",
            values=TRANSFORMS,
            required=True,
            cased=True,
        ),
        Option("module", "text", "the deserializer's", "The library of the change."),
        *_CROP,
        *(option._replace(required=False) for option in _SCALE),
        *_MEAN,
        *_INTENSITY,
        *_COLOR,
        *_SEED,
        Option("precision", "choice", "float", "The width.", values=("float", "double")),
    ),
)

_SPEECH = (
    *COMMON,
    Option(
        "readMethod",
        "text",
        "blockRandomize",
        "How files are gone through: blockRandomize or rollingWindow.",
    ),
    Option(
        "randomize",
        "integer",
        "auto",
        "Frames within which is shuffled.",
        values=("auto", "none"),
    ),
    Option("frameMode", "truth", "true", "Every frame is a sequence of its own."),
    _TRUNCATED,
    Option("useMersenneTwisterRand", "truth", "false", "Shuffle with another generator."),
    Option("pageFilePath", "output", None, "A folder for pages of data."),
)
HTK = Block(
    "HTKMLFReader",
    "Reads features and labels of speech in HTK's formats.",
    (
        *_SPEECH,
        Option("maxUtteranceLength", "integer", "10000", "Longer utterances are left out."),
        Option("unigram", "input", None, "Counts of words for sequence training."),
        Option("statelist", "input", None, "The names of states."),
        _LENGTH,
        _CHECK,
    ),
    any_name="speech section",
)
SPEECH_SECTION = Block(
    "speech section",
    "Features (with scpFile), labels (with mlfFile), lattices or models of a speech reader.",
    (
        *_HTK_FEATURES,
        *_HTK_LABELS,
        Option(
            "targetDim",
            "integer",
            None,
            "How many targets labelToTargetMappingFile gives.",
        ),
        Option("labelToTargetMappingFile", "input", "", "Targets that labels stand for."),
        Option("phoneFile", "input", None, "The models of phones."),
        Option("transpFile", "input", None, "Their transition probabilities."),
        Option("denlatTocFile", "input", None, "The list of denominator lattices."),
        Option("numlatTocFile", "input", None, "The list of numerator lattices."),
        Option("prefixPathInToc", "text", "", "What is put before listed paths."),
    ),
)
KALDI = Block(
    "Kaldi2Reader",
    "Reads features and labels of speech in Kaldi's formats.",
    (
        *_SPEECH,
        Option("maxUtteranceLength", "integer", "10000", "Longer utterances are left out."),
        Option("seqTrainCriterion", "text", "", "The criterion of sequence training."),
        Option("alignments", "text", None, "Alignments of sequence training."),
        Option("denlats", "text", None, "Denominator lattices."),
        Option("targets_delay", "integer", None, "Frames by which labels come later."),
        Option(
            "derivatives", "block", None, "Where derivatives come from.", inside="kaldi section"
        ),
    ),
    any_name="kaldi section",
)
KALDI_SECTION = Block(
    "kaldi section",
    "Features (with rx), labels or models of a Kaldi reader.",
    (
        *(option for option in SPEECH_SECTION if option.name != "type"),
        Option("type", "text", "real", "What the section holds."),
        Option("rx", "text", None, "Where features come from, as Kaldi writes it."),
        Option("featureTransform", "text", "", "The transformation, or NO_FEATURE_TRANSFORM."),
        *(
            Option(name, "text", None, "A setting of sequence training.")
            for name in (
                *("silPhoneList", "kaldiModel", "acousticScale", "oldAcousticScale", "lmScale"),
                *("oneSilenceClass", "alignments", "denlats"),
            )
        ),
    ),
)

_SEQUENCES = (
    Option("unk", "text", "<unk>", "What stands for an unknown word."),
    Option("beginSequence", "text", "", "The word that begins a sequence."),
    Option("endSequence", "text", "", "The word that ends a sequence."),
)
WORDS = Block(
    "LMSequenceReader",
    "Reads sentences word by word, with the next word as label.",
    (
        *COMMON,
        _file(required=False),
        Option("randomize", "text", "auto", "Without effect: sentences are always shuffled."),
        Option("wordclass", "input", "", "Word classes: index, count, word, class."),
        Option("cacheBlockSize", "integer", None, "Words that are read at a time."),
        *_SEQUENCES,
    ),
    any_name="word section",
)
WORD_SECTION = Block(
    "word section",
    "The features or one of the two label sections of a reader of sentences.",
    (
        Option("dim", "integer", None, "Numbers of a sample."),
        Option("labelDim", "integer", "0", "How many words there are."),
        Option("labelMappingFile", "input", "", "The words, one per line."),
        Option(
            "labelType",
            "choice",
            "category",
            "What the labels are.",
            values=("category", "nextWord", "none"),
        ),
        Option(
            "mode",
            "choice",
            "class",
            "What a label holds.",
            values=("class", "softmax", "nce"),
        ),
        Option("noise_number", "integer", "0", "Words drawn as noise."),
        *_SEQUENCES,
    ),
)
TAGS = Block(
    "LUSequenceReader",
    "Reads sequences of tokens with their tags, in columns.",
    (
        *COMMON,
        _file(),
        Option("randomize", "text", "none", "Shuffle the sentences: auto or none."),
        Option("wordContext", "integer", "0", "Offsets of words that are read.", each=True),
        Option("wordmap", "input", "", "Words and what is read in their stead."),
        Option("equalLength", "truth", "true", "Take sentences of one length together."),
        Option("dataMultiPass", "truth", "false", "Go through the data again and again."),
        Option("ignoresentencebegintag", "truth", "false", "Do not look for its begin."),
        Option("inputLabel", "names", "", "The section of the input."),
        Option("outputLabel", "names", "", "The section of the output."),
        Option("ioNodeNames", "names", "", "Several parts, each with sections of its own."),
        *_SEQUENCES,
    ),
    any_name="tag section",
)
TAG_SECTION = Block(
    "tag section",
    "The features or a label section of a reader of tagged tokens.",
    (
        Option("dim", "integer", None, "Numbers of a sample."),
        Option("labelDim", "integer", "0", "How many labels there are."),
        Option("token", "input", "", "The labels, one per line."),
        Option("labelMappingFile", "input", "", "The labels, one per line."),
        Option(
            "labelType", "choice", "category", "What the labels are.", values=("category", "none")
        ),
        Option("mode", "choice", "plain", "What a label holds.", values=("plain", "class")),
        Option("useWordMap", "truth", "false", "Read through the word map."),
        Option("isProposal", "truth", "false", "The section proposes labels."),
        *_SEQUENCES,
    ),
)

COLUMNS = Block(
    "UCIFastReader",
    "Reads columns of numbers, a sample per line.",
    (
        *COMMON,
        _file(required=False),
        Option(
            "randomize",
            "integer",
            "auto",
            "Samples within which is shuffled.",
            values=("auto", "none"),
        ),
        Option("customDelimiter", "text", "", "What stands between numbers."),
        Option("customDecimalPoint", "text", "", "What stands before decimals."),
        Option("allowMapCreation", "truth", "false", "Write the label mapping if it is missing."),
        Option("oneLinePerFile", "truth", "false", "Each file is one sample."),
    ),
    any_name="column section",
)
COLUMN_SECTION = Block(
    "column section",
    "The features or labels of a reader of columns.",
    (
        _file(required=False),
        Option("dim", "integer", None, "Columns that it has."),
        Option("start", "integer", "0", "Its first column, from 0."),
        Option("labelDim", "integer", "0", "How many classes there are."),
        Option(
            "labelType",
            "choice",
            "category",
            "What the labels are.",
            values=("category", "regression", "none"),
        ),
        Option("labelMappingFile", "input", "", "The names of classes, one per line."),
    ),
)
SPARSE = Block(
    "LibSVMBinaryReader",
    "Reads sparse samples from a binary file.",
    (
        *COMMON,
        _file(),
        Option("randomize", "text", "auto", "Shuffle minibatches: auto or none."),
        Option("minibatch", "integer", "0", "Samples of a stored minibatch."),
    ),
    any_name="sparse section",
)
SPARSE_SECTION = Block(
    "sparse section",
    "One stream of a binary file.",
    (Option("rename", "text", None, "The stream's name in the file.", here=True),),
)
PAIRS = Block(
    "DSSMReader",
    "Reads queries and documents.",
    (*COMMON, Option("randomize", "text", "auto", "Shuffle."), _file(required=False)),
    any_name="column section",
)
PRODUCTS = Block(
    "SparsePCReader",
    "Reads sparse pairs for convolution over products.",
    (
        *COMMON,
        _file(),
        Option("microbatchSize", "integer", "1", "Samples that belong together."),
        Option("maxReadData", "integer", "0", "Samples that are read at most."),
        Option("gradientCheck", "truth", "false", "Repeat the data for a check."),
        Option("returnDense", "truth", "false", "Bring dense samples."),
        Option("sparsenessFactor", "integer", "50", "One in so many is not zero."),
        Option("verificationCode", "integer", "0", "What ends each sample."),
    ),
    any_name="column section",
)
BINARY = Block(
    "BinaryReader",
    "Reads what its writer wrote.",
    (
        *COMMON,
        _file(required=False),
        Option("dim", "integer", "20", "Numbers of a sample."),
        Option("windowSize", "integer", "0", "Samples that are held."),
        Option("onelineperfile", "truth", "false", "Each file is one sample."),
    ),
    any_name="column section",
)

#: The table of each type of reader, by the name of its library in lower case.
READERS = {
    block.name.lower(): block
    for block in (
        *(TEXT, IMAGE, COMPOSITE, HTK, KALDI, WORDS, TAGS, COLUMNS, SPARSE, PAIRS, PRODUCTS),
        BINARY,
    )
}
#: The table of a reader that names others, and of one that is not CNTK's own.
JOINED = Block("readers", "Several readers together.", (*COMMON, SEVERAL))
FOREIGN = Block("reader of another library", "A reader of another library.", COMMON)
READERS["htkdeserializers"] = Block("HTKDeserializers", HTK.says, HTK.options, HTK.any_name)
READERS["kaldireader"] = Block("KaldiReader", KALDI.says, KALDI.options, KALDI.any_name)
DEFAULT_READER = "CNTKTextFormatReader"
BLOCKS = (
    *READERS.values(),
    *(STREAMS, STREAM, IMAGE_SECTION, DESERIALIZER, DESERIALIZED, DESERIALIZED_STREAM, TRANSFORM),
    *(SPEECH_SECTION, KALDI_SECTION, WORD_SECTION, TAG_SECTION, COLUMN_SECTION, SPARSE_SECTION),
)
