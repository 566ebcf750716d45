"""The options of a command's blocks as values: those that are read here, those without effect, and
those that are refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.options import ACTIONS, READERS, TOP, block, command_block
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.vocabulary import FALSE, TRUE, TRUTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.options import Block, Option
    from netsharp_lsp.cntk.configuration.scope import Found, Scope
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.networks.node import Where

    Value = TypeVar("Value")

_ANY = "action precision traceLevel deviceId SimpleNetworkBuilder NDLNetworkBuilder"
_ANY += " BrainScriptNetworkBuilder ExperimentalNetworkBuilder modelPath reader"
_PASSES = "minibatchSize epochSize"
#: Options that are read here, by the table in which they stand.
_READ = {
    "top level": (
        "command precision modelPath outputNodeNames makeMode parallelTrain stderr truncated"
        " timestamping doneFile forceConstantRandomSeed"
    ),
    "train": f"{_ANY} makeMode SGD cvReader",
    "test": f"{_ANY} {_PASSES} evalNodeNames numMBsToShowResult firstMBsToShowResult",
    "write": f"{_ANY} {_PASSES} outputNodeNames outputPath format",
    "cv": (
        f"{_ANY} {_PASSES} evalNodeNames numMBsToShowResult firstMBsToShowResult"
        " crossValidationInterval sleepTimeBetweenRuns"
    ),
    "edit": (
        "action precision traceLevel deviceId SimpleNetworkBuilder NDLNetworkBuilder"
        " BrainScriptNetworkBuilder ExperimentalNetworkBuilder makeMode outputModelPath editPath"
        " ndlMacros"
    ),
    "dumpNodes": (
        "action precision traceLevel deviceId modelPath nodeName nodeNameRegex outputFile"
        " printValues printMetadata"
    ),
    "plot": ("action precision traceLevel deviceId modelPath outputDotFile outputFile renderCmd"),
    "bnstat": f"{_ANY} newModelPath itersPerNode minibatchSize evalNodeNames",
    "SVD": (
        "action precision traceLevel deviceId modelPath outputmodelPath KeepRatio AlignedSize"
        " NodeNameRegex SVDConfig"
    ),
    "writeWordAndClass": (
        "action precision traceLevel deviceId inputFile outputVocabFile outputMappingFile vocabSize"
        " nbrClass outputWord2Cls outputCls2Index cutoff unk beginSequence endSequence makeMode"
    ),
    "createLabelMap": "action precision traceLevel deviceId section minibatchSize",
    "SimpleNetworkBuilder": "randomSeedOffset",
    "NDLNetworkBuilder": "randomSeedOffset",
    "SGD": (
        "maxEpochs epochSize minibatchSize learningRatesPerSample learningRatesPerMB momentumPerMB"
        " momentumPerSample momentumAsTimeConstant minLearningRatePerSample numMBsToShowResult"
        " firstMBsToShowResult keepCheckPointFiles trainCriterionNodeName modelPath AutoAdjust"
        " ParallelTrain useNAG gradUpdateType useAdagrad clippingThresholdPerSample"
        " gradientClippingWithTruncation L1RegWeight L2RegWeight gaussianNoiseInjectStd"
        " normWithAveMultiplier rms_wgt_inc rms_wgt_dec rms_wgt_max rms_wgt_min rms_gamma"
        " varianceTimeConstant fsAdagradTargetAvDenom numSubminibatches maxSamplesInRAM"
        " evalCriterionNodeName dropoutRate batchNormalizationTimeConstant"
        " batchNormalizationBlendTimeConstant disableRegInBatchNormalization truncated"
    ),
    "AutoAdjust": (
        "autoAdjustLR reduceLearnRateIfImproveLessThan continueReduce learnRateAdjustInterval"
        " loadBestModel learnRateDecreaseFactor increaseLearnRateIfImproveMoreThan"
        " learnRateIncreaseFactor UseCVSetControlLRIfCVExists UseEvalCriterionControlLR"
        " numPrevLearnRates numBestSearchEpoch numSamples4Search numMiniBatch4LRSearch"
        " autoAdjustMinibatch minibatchSizeTuningFrequency minibatchSizeTuningMax"
        " minibatchSearchCriterionErrorMargin"
    ),
    "CNTKTextFormatReader": (
        "readerType precision file input randomize skipSequenceIds maxErrors chunkSizeInBytes"
        " frameMode randomizationWindow truncated truncationLength"
    ),
    "UCIFastReader": "readerType precision file randomize customDelimiter customDecimalPoint",
    "ImageReader": "readerType precision file randomize grayscale numCPUThreads",
    "image section": (
        "cropType cropRatio jitterType hflip aspectRatioRadius width height channels interpolations"
        " scaleMode padValue meanFile intensityFile intensityStdDev brightnessRadius contrastRadius"
        " saturationRadius seed mbFormat multiViewCrop labelDim"
    ),
    "CompositeDataReader": (
        "readerType precision deserializers frameMode randomize randomizationWindow truncated"
        " truncationLength"
    ),
    "deserializer": (
        "type module precision input file skipSequenceIds maxErrors chunkSizeInBytes grayscale"
        " multiViewCrop"
    ),
    "deserialized stream": "transforms dim format alias labelDim",
    "transform": (
        "type module cropType cropRatio jitterType hflip aspectRatioRadius width height channels"
        " interpolations scaleMode padValue meanFile intensityFile intensityStdDev brightnessRadius"
        " contrastRadius saturationRadius seed precision"
    ),
    "LMSequenceReader": (
        "readerType precision file randomize wordclass cacheBlockSize unk beginSequence endSequence"
        " nbruttsineachrecurrentiter"
    ),
    "word section": (
        "dim labelDim labelMappingFile labelType mode noise_number unk beginSequence endSequence"
    ),
    "LUSequenceReader": (
        "readerType precision file randomize wordContext wordmap equalLength dataMultiPass"
        " ignoresentencebegintag inputLabel outputLabel ioNodeNames unk beginSequence endSequence"
        " nbruttsineachrecurrentiter"
    ),
    "tag section": (
        "dim labelDim token labelMappingFile labelType mode useWordMap isProposal unk beginSequence"
        " endSequence"
    ),
    "column section": "file dim start labelDim labelType labelMappingFile",
    "stream": "dim format alias",
    "format": (
        "type labelMappingFile transpose prologue epilogue sequenceSeparator sequencePrologue"
        " sequenceEpilogue elementSeparator sampleSeparator precisionFormat"
    ),
}
#: Options that change no number and nothing that is written: memory, time, devices, extent of logs.
_IDLE = {
    "top level": (
        "traceLevel deviceId numCPUThreads progressTracing forceDeterministicAlgorithms"
        " shareNodeValueMatrices hyperCompressMemory traceGPUMemoryAllocations lockGPU"
        " synchronizeCUDAKernelExecutions optimizeGradientAccumulation profilerEnabled"
        " profilerBufferSize profilerSyncGpu excludedDevices frameMode randomSeedOffset"
    ),
    "test": "maxSamplesInRAM numSubminibatches distributedMBReading",
    "cv": "maxSamplesInRAM numSubminibatches distributedMBReading",
    "bnstat": "enableDistributedMBReading",
    "SGD": (
        "traceLevel maxTempMemSizeInSamplesForCNN numMBsToCUDAProfile"
        " perfTraceLevel packThresholdSizeInKB executionEngine sigFigs"
    ),
    "CNTKTextFormatReader": (
        "verbosity traceLevel prefetch keepDataInMemory minibatchMode cacheIndex"
        " nbruttsineachrecurrentiter sampleBasedRandomizationWindow"
    ),
    "UCIFastReader": "verbosity traceLevel prefetch",
    "ImageReader": ("verbosity traceLevel prefetch minibatchMode nbruttsineachrecurrentiter"),
    "CompositeDataReader": (
        "verbosity traceLevel prefetch minibatchMode nbruttsineachrecurrentiter checkData"
        " multiThreadedDeserialization sampleBasedRandomizationWindow"
    ),
    "deserializer": "verbosity traceLevel keepDataInMemory randomize frameMode cacheIndex",
    "LMSequenceReader": "verbosity traceLevel prefetch minibatchMode",
    "LUSequenceReader": "verbosity traceLevel prefetch minibatchMode",
}
#: In tables whose options build the network: those that are not read there.
_UNBUILT = {
    "SimpleNetworkBuilder": (),
    "NDLNetworkBuilder": ("dumpFileName",),
}
#: Words that mean what an option's default means, where the table says them otherwise.
_NEUTRAL = {
    "adaptationregtype": ("none", ""),
    "executionengine": ("synchronous",),
    "deviceid": ("auto", "cpu", "-1"),
}
#: Options that have an effect where a truth is given.
_WHERE = {"nbruttsineachrecurrentiter": "truncated"}
#: Options that are accepted anywhere and do not change the results.
_EVERYWHERE = "deviceid"
#: Words for a number without bound.
_INFINITE = ("1#inf", "inf", "infinity", "+inf")
_LARGEST_SINGLE = 3.4028234e38
_SHARING = "ParallelTrain"
_SAME = {
    "trainRNN": "train",
    "eval": "test",
    "dumpNode": "dumpNodes",
    "dumpnode": "dumpNodes",
}


class Options:
    """The options of a block by name; look-up climbs through enclosing blocks as CNTK's does."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def text(self, name: str, otherwise: str = "") -> str:
        """Return a text; Refused where a variable in it has no value."""
        found = self.found(name)
        return otherwise if found is None else _plain(found.text)

    def required(self, name: str, of: str) -> str:
        """Return a text that is required."""
        found = self.found(name)
        if found is None:
            where = where_of(self.scope.text)
            raise Refused(RunRefusal(f"'{of}' has no '{name}', which is required.", where))
        return _plain(found.text)

    def path(self, name: str) -> str:
        """Return a path, empty where there is none; Refused for a program in its place."""
        found = self.found(name)
        path = "" if found is None else _plain(found.text).replace("\\", "/")
        if found is not None and (path.startswith("|") or path.endswith("|")):
            reason = (
                f"'{name}={path}' names a program in place of a file, and programs are not started "
                "for data. Write its output to a file, and name that file."
            )
            raise Refused(RunRefusal(reason, where_of(found.text)))
        return path

    def required_path(self, name: str, of: str) -> str:
        """Return a path that is required."""
        self.required(name, of)
        return self.path(name)

    def whole(self, name: str, otherwise: int) -> int:
        """Return an integer."""
        found = self.found(name)
        return otherwise if found is None else _number(found, _whole, "a whole number")

    def real(self, name: str, otherwise: float) -> float:
        """Return a finite number."""
        found = self.found(name)
        return otherwise if found is None else _number(found, _finite, "a number")

    def unbounded(self, name: str) -> float:
        """Return a number that may be infinite, and is infinite where none is given."""
        found = self.found(name)
        if found is None or _plain(found.text).lower() in _INFINITE:
            return math.inf
        return _number(found, _finite, "a number")

    def truth(self, name: str, otherwise: bool) -> bool:
        """Return a truth value."""
        found = self.found(name)
        if found is None:
            return otherwise
        text = _plain(found.text)
        if text not in TRUTHS:
            raise _expected(found, "true or false")
        return text in TRUE

    def reals(self, name: str) -> list[float]:
        """Return a list of numbers, one for each epoch."""
        return self._list(name, _single, "numbers of seven digits")

    def unbounded_reals(self, name: str) -> list[float]:
        """Return a list of numbers that may be infinite."""
        return self._list(name, _perhaps_infinite, "numbers")

    def wholes(self, name: str) -> list[int]:
        """Return a list of integers."""
        return self._list(name, _whole, "whole numbers")

    def names(self, name: str) -> list[str]:
        """Return a list of names."""
        found = self.found(name)
        listed = [] if found is None else elements(found.text) or []
        return [text for text in map(_plain, listed) if text]

    def found(self, name: str) -> Found | None:
        """Return the value of an option, None where none is given."""
        found = self.scope.look_up(name.encode())
        return None if found is None or found.text.text in (b"default",) else found

    def _list(self, name: str, read: Callable[[str], Value], what: str) -> list[Value]:
        found = self.found(name)
        if found is None:
            return []
        listed = elements(found.text)
        if not listed:
            raise _expected(found, f"{what} with ':' between them")
        try:
            return [read(_plain(one)) for one in listed]
        except ValueError:
            raise _expected(found, f"{what} with ':' between them") from None


def refused(visits: list[Visit], root: Scope) -> Iterator[RunRefusal]:
    """Yield refusals for options in a command's blocks that are not supported."""
    yield from _refused_in(TOP, root)
    for visit in visits:
        # One process trains in any case; of a reader that is not supported only the name is
        # reported.
        if any(_is_shared(one) or _is_left_whole(one.table) for one in _outwards(visit)):
            continue
        if any(_is_unknown(one) for one in _outwards(visit)):
            continue  # the block around it is refused
        for table in _tables(visit):
            yield from () if _is_left_whole(table) else _refused_in(table, visit.scope)
        adjusting = block("AutoAdjust") if visit.table.name == "SGD" else None
        if adjusting is not None:  # its options may stand in the block around
            yield from _refused_in(adjusting, visit.scope)


def idle(visits: list[Visit], root: Scope) -> dict[str, None]:
    """Return the names of options that differ from their defaults and have no effect here."""
    visited = (one for one in visits if not any(map(_is_shared, _outwards(one))))
    blocks = [(TOP, root), *((table, one.scope) for one in visited for table in _tables(one))]
    # A block may read options of the blocks around it.
    read = set(_read_places(blocks))
    found: dict[str, None] = {}
    for table, scope in blocks:
        names = _words(_IDLE, table)
        for key, option in table.keys:
            name = option.name.lower()
            if name not in names | {_EVERYWHERE}:
                continue
            value = scope.look_up(key, climb=not option.here)
            if value is None or (name != _EVERYWHERE and where_of(value.text) in read):
                continue
            heard = name in _WHERE and Options(scope).truth(_WHERE[name], False)
            if not heard and not _is_neutral(option, value.text):
                found[option.name] = None
    return found


def _read_places(blocks: Iterable[tuple[Block, Scope]]) -> Iterator[Where]:
    """Yield the places of the values that blocks read."""
    for table, scope in blocks:
        names = _words(_READ, table)
        for key, option in table.keys:
            if option.name.lower() in names:
                value = scope.look_up(key, climb=not option.here)
                if value is not None:
                    yield where_of(value.text)


def _tables(visit: Visit) -> list[Block]:
    """Return the tables of a block; for a command of several actions one for each of them."""
    actions = visit.command.actions if visit.outer is None else ()
    return [command_block((one,)) for one in actions] if len(actions) > 1 else [visit.table]


def _outwards(visit: Visit | None) -> Iterator[Visit]:
    """Yield a block and those around it."""
    while visit is not None:
        yield visit
        visit = visit.outer


def _is_shared(visit: Visit) -> bool:
    """Return whether a block sets how several workers train together."""
    return visit.table.name == _SHARING


def _is_unknown(visit: Visit) -> bool:
    """Return whether the block is itself an unsupported option of the block around it."""
    if visit.outer is None or visit.outer.table.find(visit.name) is None:
        return False
    known = _words(_READ, visit.outer.table) | _words(_IDLE, visit.outer.table)
    return bool(known) and visit.name.lower() not in known


def _is_left_whole(table: Block) -> bool:
    """Return whether an action or a reader is refused as a whole."""
    name = _SAME.get(table.name, table.name)
    return name not in _READ and (name in ACTIONS or name.lower() in READERS)


def _words(options: dict[str, str], table: Block) -> frozenset[str]:
    """Return the options of one kind that a block has, in lower case."""
    return frozenset(options.get(_SAME.get(table.name, table.name), "").lower().split())


def _refused_in(table: Block, scope: Scope) -> Iterator[RunRefusal]:
    name = _SAME.get(table.name, table.name)
    known = _words(_READ, table) | _words(_IDLE, table)
    for key, option in table.keys:
        if option.name.lower() in known or option.name not in _UNBUILT.get(name, (option.name,)):
            continue
        found = scope.look_up(key, climb=not option.here)
        if found is not None and not _is_neutral(option, found.text):
            value = _plain(found.text)
            shown = f"={value}" if len(value) <= 40 and option.kind != "block" else ""
            yield RunRefusal(
                f"'{option.name}{shown}' of {table.name} is not supported yet. Remove it.",
                where_of(found.text),
            )


def _is_neutral(option: Option, text: Traced) -> bool:
    """Return whether a value is equivalent to the default."""
    words = [one.strip().partition("*")[0].strip() for one in _plain(text).split(":")]
    neutral = _NEUTRAL.get(option.name.lower(), (option.default or "",))
    return all(any(_equal(word, one) for one in neutral) for word in words) or not any(words)


def _equal(word: str, default: str) -> bool:
    if word.lower() == default.lower():
        return True
    if word in TRUTHS and default in TRUTHS and word and default:
        return (word in FALSE) == (default in FALSE)
    try:
        return float(word) == float(default)
    except ValueError:
        return False


def _plain(text: Traced) -> str:
    for use in text.uses:
        if use.problem is not None:
            raise Refused(
                RunRefusal(
                    f"the variable '{use.name}' has no value. Give one with --set {use.name}=...",
                    where_of(text),
                )
            )
    return text.text.decode("utf-8", "replace")


def _number(found: Found, read: Callable[[str], Value], what: str) -> Value:
    try:
        return read(_plain(found.text))
    except ValueError:
        raise _expected(found, what) from None


def _finite(text: str) -> float:
    """Return a number; ValueError for anything else, and for an infinite one."""
    found = float(text)
    if not math.isfinite(found) or "_" in text:
        raise ValueError(text)
    return found


def _single(text: str) -> float:
    """Return a number in the range of float32."""
    found = _finite(text)
    if abs(found) > _LARGEST_SINGLE:
        raise ValueError(text)
    return found


def _whole(text: str) -> int:
    if "_" in text:
        raise ValueError(text)
    return int(text)


def _expected(found: Found, what: str) -> Refused:
    key = found.entry.key.decode("utf-8", "replace")
    reason = f"'{key}' is '{_plain(found.text)}', and {what} is expected."
    return Refused(RunRefusal(reason, where_of(found.text)))


def _perhaps_infinite(word: str) -> float:
    return math.inf if word.strip().lower() in _INFINITE else _finite(word)
