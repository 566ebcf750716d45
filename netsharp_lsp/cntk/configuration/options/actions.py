"""The options of commands, by action, and of what they write; and those of the top level."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options import builders, training
from netsharp_lsp.cntk.configuration.options.table import Block, Option, Span

_DEVICE = (
    Option("precision", "choice", "float", "Numbers are this wide.", values=("float", "double")),
    Option(
        "deviceId",
        "integer",
        "auto",
        "auto, cpu, -1 for the CPU, or a GPU's number.",
        values=("auto", "cpu"),
    ),
    Option("traceLevel", "integer", "0", "How much is written to the log: 0 is least."),
    Option("action", "names", "train", "What the command does, one after the other."),
)
_MODEL = Option("modelPath", "input", None, "The model that is read.", required=True)
_READER = Option("reader", "block", None, "Where data come from.", inside="reader", required=True)
_MAKE = Option("makeMode", "truth", "true", "Go on from what a former run left.")
_SIZE = Option("minibatchSize", "integer", None, "", each=True)
_SPLIT = Option("distributedMBReading", "truth", "false", "Each worker reads its part only.")


def _action(name: str, says: str, *options: Option) -> Block:
    return Block(name, says, (*_DEVICE, *options))


_TRAIN = (
    *builders.ROWS,
    _MODEL._replace(kind="output", says="The model that is trained."),
    _MAKE,
    _READER,
    Option("cvReader", "block", None, "Data that judge every epoch.", inside="reader"),
    Option("SGD", "block", None, "How parameters are trained.", inside="SGD", required=True),
    Option("optimizer", "block", None, "The same as SGD.", inside="SGD", instead="SGD"),
)
_EVALUATED = (
    *builders.ROWS,
    _MODEL,
    _READER,
    _SIZE._replace(default="40960", says="Samples that are worked through at once."),
    Option("epochSize", "integer", "0", "Samples that are looked at; 0 is all."),
    Option("evalNodeNames", "nodes", "", "The nodes that are shown."),
    Option("numMBsToShowResult", "integer", "100", "Minibatches between two log lines."),
    Option("firstMBsToShowResult", "integer", "0", "Of so many first ones each is shown."),
    _SPLIT,
    *training.MEMORY,
    *training.TRACING,
)
_WRITE = (
    *builders.ROWS,
    _MODEL,
    _READER,
    Option("outputNodeNames", "nodes", "", "The nodes whose values are written."),
    Option("outputPath", "output", None, "Beginning of the names of text files."),
    Option("writer", "block", None, "A library that writes.", inside="writer"),
    Option("format", "block", "{}", "How text files look.", inside="format"),
    _SIZE._replace(default="2048", says="Samples that are worked through at once."),
    Option("epochSize", "integer", "0", "Samples that are written; 0 is all."),
    Option("nodeUnitTest", "truth", "false", "Write what tests of nodes need."),
    *training.TRACING,
)
_DUMP = (
    _MODEL,
    Option("nodeName", "nodes", "all", "The node that is shown."),
    Option("nodeNameRegex", "text", "", "Shows the nodes whose names match."),
    Option("outputFile", "output", "modelPath.NODE.txt", "Where to."),
    Option("printValues", "truth", "true", "Show the numbers of parameters."),
    Option("printMetadata", "truth", "true", "Show what the nodes are."),
)

ACTIONS = {
    "train": _action("train", "Trains a network.", *_TRAIN),
    "trainRNN": _action("trainRNN", "Trains a network; the same as train.", *_TRAIN),
    "adapt": _action(
        "adapt",
        "Trains a model on, keeping near to it.",
        *_TRAIN,
        Option("origModelFileName", "input", "", "The model that is kept near to."),
        Option("refNodeName", "nodes", "", "The node that is compared."),
    ),
    "test": _action("test", "Evaluates a model on data.", *_EVALUATED),
    "eval": _action("eval", "Evaluates a model on data; the same as test.", *_EVALUATED),
    "cv": _action(
        "cv",
        "Evaluates the models of several epochs.",
        *_EVALUATED,
        Option(
            "crossValidationInterval",
            "integer",
            None,
            "First, step and last epoch.",
            each=True,
            required=True,
        ),
        Option("sleepTimeBetweenRuns", "integer", "0", "Seconds between two models."),
    ),
    "write": _action("write", "Writes the values of nodes.", *_WRITE),
    "edit": _action(
        "edit",
        "Makes a model of others.",
        *builders.ROWS,
        _MAKE,
        Option("outputModelPath", "output", None, "The model that is made."),
        Option("editPath", "input", None, "A script of the model editing language."),
        Option("ndlMacros", "input", "", "A file of macros for the script."),
    ),
    "bnstat": _action(
        "bnstat",
        "Finds the statistics of batch normalisation anew.",
        *builders.ROWS,
        _MODEL._replace(required=False),
        _READER,
        Option("newModelPath", "output", "modelPath.PBN", "The model that is written."),
        Option("itersPerNode", "integer", "30", "Minibatches for each node."),
        _SIZE._replace(default="40960", says="Samples of a minibatch."),
        Option("evalNodeNames", "nodes", "", "The nodes that are shown."),
        Option("enableDistributedMBReading", "truth", "false", "Each worker reads its part."),
        *training.TRACING,
    ),
    "dumpNodes": _action("dumpNodes", "Shows the nodes of a model.", *_DUMP),
    "dumpNode": _action("dumpNode", "Shows the nodes of a model.", *_DUMP),
    "dumpnode": _action("dumpnode", "Shows the nodes of a model.", *_DUMP),
    "plot": _action(
        "plot",
        "Draws a model.",
        _MODEL,
        Option("outputDotFile", "output", "modelPath.dot", "The drawing as a graph."),
        Option("outputFile", "output", "", "The drawing as a picture."),
        Option("renderCmd", "text", "", "The program that draws, with <IN> and <OUT>."),
    ),
    "SVD": _action(
        "SVD",
        "Splits parameters in two smaller ones.",
        _MODEL,
        Option("outputmodelPath", "output", None, "The model that is made.", required=True),
        Option("KeepRatio", "number", "0.4", "Share that is kept.", span=Span(0, 1)),
        Option("AlignedSize", "integer", "8", "Sizes are multiples of this."),
        Option("NodeNameRegex", "text", "", "Which parameters are split."),
        Option("SVDConfig", "input", "", "A file with patterns and shares."),
    ),
    "writeWordAndClass": _action(
        "writeWordAndClass",
        "Counts words and puts them into classes.",
        Option("inputFile", "input", None, "The sentences.", required=True),
        Option("outputVocabFile", "output", None, "The words by frequency.", required=True),
        Option("outputMappingFile", "output", "", "The words alone."),
        Option("vocabSize", "integer", None, "How many words are kept.", required=True),
        Option("nbrClass", "integer", "0", "How many classes are made."),
        Option("outputWord2Cls", "output", None, "The class of each word."),
        Option("outputCls2Index", "output", None, "The first word of each class."),
        Option("cutoff", "integer", "1", "Rarer words are left out."),
        Option("unk", "text", "<unk>", "What stands for an unknown word."),
        Option("beginSequence", "text", "", "The word that begins a sentence."),
        Option("endSequence", "text", "", "The word that ends a sentence."),
        _MAKE,
    ),
    "createLabelMap": _action(
        "createLabelMap",
        "Writes the labels that data have.",
        Option("section", "names", None, "The command whose reader is used.", required=True),
        _SIZE._replace(default="2048", says="Samples of a minibatch."),
    ),
    "convertdbn": _action(
        "convertdbn",
        "Reads a model of another program.",
        _MODEL._replace(kind="output", says="The model that is written."),
        Option("dbnModelPath", "input", None, "The model that is read.", required=True),
    ),
    "exportdbn": _action(
        "exportdbn",
        "Writes a model for another program.",
        _MODEL,
        Option("dbnModelPath", "output", None, "The model that is written.", required=True),
    ),
    "devtest": _action("devtest", "Tests the program itself."),
}
#: Actions that train, those that evaluate, and older spellings.
TRAINING = ("train", "trainRNN", "adapt")
EVALUATING = ("test", "eval", "cv", "write", "bnstat")
OLD_ACTIONS = {"dumpNode": "dumpNodes", "dumpnode": "dumpNodes"}

FORMAT = Block(
    "format",
    "How the text files of the action write look.",
    (
        Option(
            "type",
            "choice",
            "real",
            "What is written of a value.",
            values=("real", "category", "sparse"),
            here=True,
        ),
        Option("labelMappingFile", "input", "", "The names of classes."),
        Option("transpose", "truth", "true", "A sample on a line."),
        Option("prologue", "text", "", "What comes first."),
        Option("epilogue", "text", "", "What comes last."),
        Option("sequenceSeparator", "text", "", "What stands between sequences."),
        Option("sequencePrologue", "text", "", "What comes before a sequence."),
        Option("sequenceEpilogue", "text", r"\n", "What comes behind a sequence."),
        Option("elementSeparator", "text", "a blank", "What stands between numbers."),
        Option("sampleSeparator", "text", r"\n", "What stands between samples."),
        Option("precisionFormat", "text", "", "Digits, as C's printf takes them."),
    ),
)
WRITER = Block(
    "writer",
    "A library that writes the values of nodes.",
    (
        Option("writerType", "text", "BinaryReader", "Which library writes."),
        Option("outputNodeNames", "nodes", "", "The nodes whose values are written."),
        Option("file", "output", None, "The file that is written."),
        Option("wfile", "output", None, "The binary file that is written."),
        Option("wsize", "integer", "256", "Its first size in MB."),
        Option("wrecords", "integer", "0", "How many samples there are."),
        Option("windowSize", "integer", None, "Samples that are held."),
        Option("precision", "choice", "float", "The width.", values=("float", "double")),
        Option("verbosity", "integer", "2", "How much is told in the log."),
        Option("unittest", "truth", "false", "Write what tests need."),
        Option("overflowValue", "number", "50", "Larger values are cut."),
        Option("maxNumOverflowWarning", "integer", "10", "So many of them are told."),
        Option("unk", "text", "<unk>", "What stands for an unknown word."),
    ),
    any_name="written",
)
WRITTEN = Block(
    "written",
    "What is written of one node.",
    (
        Option("dim", "integer", None, "Numbers of a sample."),
        Option("file", "output", None, "The file, or the list of files."),
        Option("scpFile", "input", None, "The list of files that are written."),
        Option("type", "text", "Real", "What the numbers are."),
        Option("Kind", "text", None, "The kind of feature."),
        Option("Kaldicmd", "text", None, "The program that writes."),
        Option("wx", "text", None, "Where to, as Kaldi writes it."),
        Option("token", "input", None, "The labels, one per line."),
        Option("labelMappingFile", "input", None, "The labels, one per line."),
        Option("sectionType", "text", None, "What the section holds."),
        Option("elementSize", "integer", None, "Bytes of a number."),
        Option("wrecords", "integer", None, "How many samples there are."),
        Option("windowSize", "integer", None, "Samples that are held."),
        Option("labelType", "text", None, "What the labels are."),
        Option("labelDim", "integer", None, "How many labels there are."),
        Option("compute", "names", None, "Statistics that are computed."),
        Option("mode", "text", None, "What a label holds."),
        Option("nbest", "integer", None, "How many best labels are written."),
    ),
    any_name="written",
)

TOP = Block(
    "top level",
    "What holds for the whole run.",
    (
        Option("command", "names", "train", "The blocks that are run, in order."),
        _DEVICE[0]._replace(cased=True),
        *_DEVICE[1:3],
        Option("stderr", "output", "", "The log file."),
        Option("doneFile", "output", "", "A file that is written at the end."),
        Option("modelPath", "output", None, "The model, for all commands."),
        Option("outputNodeNames", "nodes", "", "The nodes whose values are written."),
        _MAKE,
        Option("parallelTrain", "truth", "true with MPI", "Share training with other workers."),
        Option("numCPUThreads", "integer", "0", "Threads on the CPU; 0 is all."),
        Option("progressTracing", "truth", "false", "Tell a scheduler how far it is."),
        Option("timestamping", "truth", "false", "Put the time before lines of the log."),
        Option("forceDeterministicAlgorithms", "truth", "false", "The same digits in every run."),
        Option("forceConstantRandomSeed", "truth", "false", "Every parameter has seed 1."),
        Option("shareNodeValueMatrices", "truth", "false", "Nodes share memory."),
        Option("hyperCompressMemory", "truth", "false", "Give memory back early."),
        Option("traceGPUMemoryAllocations", "integer", "0", "Log the GPU's memory."),
        Option("synchronizeCUDAKernelExecutions", "truth", "false", "Wait for each GPU call."),
        Option("randomSeedOffset", "integer", "0", "Is added to seeds."),
        Option("lockGPU", "truth", "true", "Keep the GPU for this run."),
        Option("excludedDevices", "integer", "", "GPUs that are not taken.", each=True),
        Option("frameMode", "truth", "false", "Every sample is a sequence of its own."),
        Option("truncated", "truth", "false", "Cut sequences into pieces."),
    ),
)
BLOCKS = (TOP, *ACTIONS.values(), FORMAT, WRITER, WRITTEN)
