"""Streams and names of nodes against the network that a command works on, whatever builds it."""

from __future__ import annotations

import pytest

from tests.cntk.rules.experiments import DIGITS, changed, codes, reported

NDL = """\
    NDLNetworkBuilder = { run = Net }
"""
SECTION = """
Net = [
    features = Input(16, tag=feature)
    labels = Input(3, tag=label)
    W = Parameter(3, 16)
    z = Times(W, features, tag=output)
    ce = CrossEntropyWithSoftmax(labels, z, tag=criterion)
    err = ErrorPrediction(labels, z, tag=eval)
]
"""
SIMPLE = """\
    SimpleNetworkBuilder = {
        layerSizes = 16:8:3
        trainingCriterion = CrossEntropyWithSoftmax
        evalCriterion = ClassificationError
    }
"""
START, END = DIGITS.index("    BrainScriptNetworkBuilder"), DIGITS.index("    SGD = {")


def built_by(builder: str, tail: str = "") -> str:
    """The complete experiment with another builder, and without the names of nodes."""
    text = DIGITS[:START] + builder + DIGITS[END:] + tail
    text = changed("    outputNodeNames = z:h\n", "", text)
    return changed("    evalNodeNames = err\n", "", text)


BUILDERS = {"brainscript": DIGITS, "ndl": built_by(NDL, SECTION), "simple": built_by(SIMPLE)}
ABOUT = ("CK106", "CK107", "CK108", "CK114", "CK115")


def about(text: str) -> list[tuple[str, str, str]]:
    return [(it.code, it.severity, it.marked) for it in reported(text) if it.code in ABOUT]


@pytest.mark.parametrize("text", BUILDERS.values(), ids=BUILDERS)
def test_streams_that_fit(text: str) -> None:
    assert about(text) == []


@pytest.mark.parametrize("text", BUILDERS.values(), ids=BUILDERS)
def test_a_stream_of_another_size(text: str) -> None:
    wrong = changed("features = { dim = 16", "features = { dim = 17", text)
    assert about(wrong) == [("CK108", "error", "17")]
    (one,) = (it for it in reported(wrong) if it.code == "CK108")
    assert "17 numbers" in one.message
    assert "has 16" in one.message


@pytest.mark.parametrize("text", BUILDERS.values(), ids=BUILDERS)
def test_an_input_without_a_stream(text: str) -> None:
    missing = changed("labels = { dim = 3 ; format = sparse ; alias = y }", "", text)
    assert about(missing) == [("CK106", "error", "reader")]
    misspelling = changed("labels = { dim", "label = { dim", text)
    assert about(misspelling) == [("CK106", "error", "reader")]
    (one,) = (it for it in reported(misspelling) if it.code == "CK106")
    assert "Did you mean 'label'?" in one.message


@pytest.mark.parametrize("text", BUILDERS.values(), ids=BUILDERS)
def test_a_stream_that_no_input_takes(text: str) -> None:
    more = changed(
        "input = {\n", "input = {\n            extra = { dim = 1 ; format = dense }\n", text
    )
    assert about(more) == [("CK107", "info", "extra")]


def test_writing_asks_for_what_the_outputs_need_only() -> None:
    text = changed("    outputNodeNames = z:h\n", "")
    head, write, tail = text.partition("Write = {")
    tail = tail.replace("            labels = { dim = 3 ; format = sparse ; alias = y }\n", "")
    assert about(head + write + tail) == []


def test_upper_and_lower_case_of_streams_matter() -> None:
    assert about(changed("features = { dim", "Features = { dim")) == [
        ("CK106", "error", "reader"),
    ]


NAMES = [
    ("evalNodeNames = err", "evalNodeNames = ERR", []),
    ("evalNodeNames = err", "evalNodeNames = errs", [("CK114", "warning", "errs")]),
    ("evalNodeNames = err", "evalNodeNames = ce:er", [("CK114", "warning", "er")]),
    ("evalNodeNames = err", "evalNodeNames = $Names$", []),
    ("outputNodeNames = z:h", "outputNodeNames = z:h1", [("CK114", "warning", "h1")]),
    ("outputNodeNames = z:h", "outputNodeNames = z*:h", []),
    (
        "maxEpochs = 4",
        "maxEpochs = 4 ; trainCriterionNodeName = cee",
        [("CK115", "error", "cee")],
    ),
    ("maxEpochs = 4", "maxEpochs = 4 ; evalCriterionNodeName = err", []),
    (
        "maxEpochs = 4",
        "maxEpochs = 4 ; traceNodeNamesReal = zz",
        [("CK114", "warning", "zz")],
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), NAMES)
def test_names_of_nodes(before: str, after: str, expected: list[tuple[str, str, str]]) -> None:
    assert about(changed(before, after)) == expected


@pytest.mark.parametrize("fault", ["ClassificationError (nope, labels, z)", "Foo (z)"])
def test_a_name_whose_declaration_has_a_fault_is_not_missed(fault: str) -> None:
    text = changed("err = ClassificationError (labels, z)", f"err = {fault}")
    assert about(text) == []
    other = changed("evalNodeNames = err", "evalNodeNames = nowhere", text)
    assert about(other) == [("CK114", "warning", "nowhere")]


def test_of_a_macro_the_node_is_meant_that_others_read() -> None:
    section = SECTION.replace(
        "W = Parameter(3, 16)", "Product(x) = [ W = Parameter(3, 16) ; T = Times(W, x) ]"
    )
    section = section.replace("Times(W, features, tag=output)", "Product(features)")
    text = built_by(NDL, section)
    text = changed("action = write", "action = write ; outputNodeNames = z", text)
    (one,) = (it for it in reported(text) if it.code == "CK114")
    assert "Did you mean 'z.T'?" in one.message


def test_the_node_that_is_shown() -> None:
    show = 'command = Train:Show\nShow = { action = dumpNodes ; nodeName = "zz" }\n'
    text = changed("command = Train:Test:Write\n", show)
    assert about(text) == [("CK114", "warning", "zz")]
    assert about(text.replace('"zz"', '"Z"')) == []


def test_nothing_is_reported_of_a_network_that_is_not_known() -> None:
    load = '    BrainScriptNetworkBuilder = (BS.Network.Load ("m"))\n'
    assert about(DIGITS[:START] + load + DIGITS[END:]) == []
    assert about(changed('modelPath = "out/digits"', 'modelPath = "$Dir$/digits"')) == []


IMAGES = """\
command = T
modelPath = m
T = {
    action = train
    BrainScriptNetworkBuilder = {
        features = ImageInput {8, 8, 3}
        labels = Input {10}
        z = LinearLayer {10} (features)
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features)
        labelNodes = (labels)
        criterionNodes = (ce)
    }
    SGD = { maxEpochs = 1 ; learningRatesPerMB = 1 }
    reader = { READER }
}
"""
IMAGE = """readerType = ImageReader ; file = "train.txt"
        features = { width = 8 ; height = 8 ; channels = 3 }
        labels = { labelDim = 10 }"""
COMPOSED = """deserializers = ( {
            type = ImageDeserializer ; module = ImageReader ; file = "train.txt"
            input = {
                features = { transforms = (
                    { type = Crop ; cropRatio = 0.8 } :
                    { type = Scale ; width = 8 ; height = 8 ; channels = 3 } ) }
                labels = { labelDim = 10 }
            } } )"""
SPEECH = """readerType = HTKMLFReader
        features = { dim = 64 ; scpFile = "train.txt" ; contextWindow = 1:1 }
        labels = { mlfFile = "train.txt" ; labelDim = 10 }"""
COLUMNS = """readerType = UCIFastReader ; file = "train.txt"
        features = { dim = 192 ; start = 1 }
        labels = { dim = 1 ; start = 0 ; labelDim = 10 ; labelMappingFile = "l" }"""
READERS = [
    (IMAGE, "labelDim = 10", "labelDim = 11"),
    (IMAGE, "width = 8", "width = 9"),
    (COMPOSED, "labelDim = 10", "labelDim = 11"),
    (COMPOSED, "width = 8", "width = 9"),
    (SPEECH, "dim = 64", "dim = 65"),
    (SPEECH, "contextWindow = 1:1", "contextWindow = 5"),
    (COLUMNS, "dim = 192", "dim = 191"),
    (COLUMNS, "labelDim = 10", "labelDim = 9"),
]


@pytest.mark.parametrize(("reader", "before", "after"), READERS)
def test_readers_of_every_kind(reader: str, before: str, after: str) -> None:
    assert about(IMAGES.replace("READER", reader)) == []
    wrong = IMAGES.replace("READER", changed(before, after, reader))
    assert [code for code, _, _ in about(wrong)] == ["CK108"]


PARTS = [
    (IMAGE, "        labels = { labelDim = 10 }", "", "CK111", "reader"),
    (IMAGE, "channels = 3", "channels = 3 ; cropType = middle", "CK050", "middle"),
    (COMPOSED, "type = Crop", "type = crop", "CK050", "crop"),
    (COMPOSED, "module = ImageReader", "module = ImageReaders", "CK101", "ImageReaders"),
    (COMPOSED, "module = ImageReader ;", "", "CK070", "deserializers"),
    (
        COMPOSED,
        "type = ImageDeserializer",
        "type = HTKMLFDeserializer",
        "CK102",
        "HTKMLFDeserializer",
    ),
    (SPEECH, "contextWindow = 1:1", "contextWindow = 2", "CK112", "2"),
    (SPEECH, "HTKMLFReader", "HTKMLFReader ; truncated = true", "CK109", "true"),
    (SPEECH, "HTKMLFReader", "HTKMLFReader ; randomize = none", "CK113", "none"),
    (SPEECH, "HTKMLFReader", "HTKMFLReader", "CK101", "HTKMFLReader"),
]


@pytest.mark.parametrize(("reader", "before", "after", "code", "marked"), PARTS)
def test_what_readers_are_made_of(
    reader: str, before: str, after: str, code: str, marked: str
) -> None:
    found = reported(IMAGES.replace("READER", changed(before, after, reader)))
    assert (code, marked) in [(one.code, one.marked) for one in found]


def test_several_readers() -> None:
    parts = "one = { readerType = UCIFastReader ; features = { dim = 192 } }\n"
    more = "two = { readerType = UCIFastReader ; labels = { dim = 1 ; labelDim = 10 } }"
    text = IMAGES.replace("READER", f"readers = one:two\n{parts}{more}")
    assert about(text) == []
    misspelling = text.replace("one:two", "one:tow")
    assert "CK104" in codes(reported(misspelling))


def test_two_streams_of_one_alias() -> None:
    found = reported(changed("alias = y", "alias = x"))
    assert [(one.code, one.marked) for one in found] == [("CK103", "x")]
