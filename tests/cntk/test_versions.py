"""Releases: the one that a run is for, what is reported of words that it does not know, and the
tables of the words of each release.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from netsharp_lsp.cntk.brainscript.analysis.program import library_of
from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.configuration.options import BLOCKS
from netsharp_lsp.cntk.configuration.options.reading import TableError, Tables
from netsharp_lsp.cntk.library import documentation, own_library
from netsharp_lsp.cntk.library.versions import COUNTS, FUNCTIONS, OF_ALL, PARAMETERS, STARTS
from netsharp_lsp.cntk.networks.node_types import NODE_TYPES
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.cntk.versions import FIRST, LAST, VERSIONS, Releases, rank
from netsharp_lsp.cntk.vocabulary import STARTS as KNOWN_STARTS
from netsharp_lsp.workspace import Premises, Run
from tests.cntk.texts import Memory

NETWORK = """\
command = Train
modelPath = "m/a.dnn"
Train = {{
    action = train
    BrainScriptNetworkBuilder = {{
        image = ImageInput (12, 10, 3)
        labels = Input (2)
        h = {layer}
        z = LinearLayer {{2}} (h)
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = image
        labelNodes = labels
        criterionNodes = ce
    }}
    SGD = {{ maxEpochs = 1 ; learningRatesPerMB = 0.1 ; {sgd} }}
    reader = {{
        readerType = ImageReader
        file = "map.txt"
        image = {{ width = 12 ; height = 10 ; channels = 3 ; {reader} }}
        labels = {{ labelDim = 2 }}
    }}
}}
"""


def experiment(
    layer: str = "Tanh (image)", version: str = "", sgd: str = "", reader: str = ""
) -> Experiment:
    text = NETWORK.format(layer=layer, sgd=sgd, reader=reader).encode()
    files = Memory({"a.cntk": text, "map.txt": b""})
    return Experiment(Run(("configFile=a.cntk",)), files, given=Premises(version=version))


def reported(run: Experiment) -> list[str]:
    """Warnings and errors: code, severity, text at the place."""
    found = []
    for file, listed in diagnostics_by_file(run).items():
        data = run.files.read(file) or b""
        found += [
            f"{one.code} {one.severity} {data[one.start : one.end].decode()}"
            for one in listed
            if one.severity in ("error", "warning")
        ]
    return found


def message(run: Experiment, code: str) -> str:
    found = diagnostics_by_file(run).values()
    return "\n".join(one.message for listed in found for one in listed if one.code == code)


#: What is written in the place of the layer, and the lowest release that knows it.
LAYERS = (
    ("Tanh (image)", "2016-11"),
    ("LinearLayer {4, init='normal'} (image)", "2.0"),
    (
        "ParameterTensor {4, init='TruncNormal'} + Tanh (Times (ParameterTensor {(4:0)}, image))",
        "2.0",
    ),
    ("Pooling (image, 'max', (3:3), ceilOutDim=true)", "2.0"),
    ("Cosh (image)", "2.1"),
    ("Asin (Sinh (image))", "2.2"),
    ("ConvolutionalLayer {4, (3:3), dilation=2} (image)", "2.2"),
    ("Atanh (image)", "2.3"),
    ("BatchNormalizationLayer {disableRegularization=true} (image)", "2.3"),
    ("StopGradient (image)", "2.4"),
    ("StraightThrough (image)", "2.6"),
    ("Cast (image, precision='float')", "2.7"),
    ("Tanh (image, precision='float')", "2.7"),
)


@pytest.mark.parametrize(("layer", "version"), LAYERS, ids=[row[0][:30] for row in LAYERS])
def test_the_lowest_release_that_knows_every_word_is_meant(layer: str, version: str) -> None:
    run = experiment(layer)
    assert run.version.name == version
    assert reported(run) == []


@pytest.mark.parametrize(("layer", "version"), LAYERS, ids=[row[0][:30] for row in LAYERS])
def test_a_set_release_knows_its_words_and_no_later_ones(layer: str, version: str) -> None:
    assert reported(experiment(layer, version)) == []
    assert reported(experiment(layer, LAST)) == []
    for earlier in VERSIONS[: rank(version)]:
        codes = {one.split()[0] for one in reported(experiment(layer, earlier))}
        assert codes == {"CK121"}


def test_what_is_reported_of_a_word_that_the_release_does_not_know() -> None:
    run = experiment("LinearLayer {4, init='normal'} (image)", "2016-11")
    assert message(run, "CK121") == (
        "CNTK knows init='normal' from 2.0 on, and the settings say that 2016-11 runs this: it "
        "stops there."
    )


def test_a_name_of_the_users_own_is_no_word() -> None:
    run = experiment("{ Cosh (x) = Tanh (x) ; r = Cosh (image) }.r", "2016-11")
    assert run.version.words == ()
    assert reported(run) == []


def test_in_a_function_that_may_not_be_called_it_is_a_warning() -> None:
    run = experiment("{ f (x) = Cosh (x) ; r = Tanh (image) }.r", "2.0")
    assert reported(run) == ["CK121 warning Cosh"]


#: Options and values, and the releases that know them.
OPTIONS = (
    ("", "cropType = RandomSide", "2.0", LAST, "error"),
    ("", "cropType = random", FIRST, FIRST, "error"),
    ("", "areaRatio = 0.08:1", "2.0", LAST, "warning"),
    ("", "cropRatio = 0.8", FIRST, FIRST, "warning"),
    ("gradUpdateType = adam", "", "2.7", LAST, "error"),
    ("tensorBoardLogDir = board", "", "2.0", LAST, "warning"),
)


@pytest.mark.parametrize(
    ("sgd", "reader", "since", "until", "severity"), OPTIONS, ids=[str(row[:2]) for row in OPTIONS]
)
def test_options_and_their_values(
    sgd: str, reader: str, since: str, until: str, severity: str
) -> None:
    assert experiment(sgd=sgd, reader=reader).version.name == since
    assert reported(experiment(sgd=sgd, reader=reader)) == []
    for version in VERSIONS:
        found = reported(experiment(version=version, sgd=sgd, reader=reader))
        if Releases(since, until).by(version):
            assert found == []
        else:
            assert [one.split()[:2] for one in found] == [["CK121", severity]]


def test_words_of_which_no_release_knows_all() -> None:
    run = experiment("Cosh (image)", reader="cropType = random")
    assert reported(run) == ["CK122 error random"]
    assert "there is no release that knows both" in message(run, "CK122")
    assert "'Cosh' from 2.1 on" in message(run, "CK122")
    weights = "W = ParameterTensor {(3:3:3:4), init='normal'}"
    layer = f"{{ {weights} ; r = Convolution (W, image, (3:3), mapDims=4, transpose=false) }}.r"
    assert reported(experiment(layer)) == ["CK122 warning transpose"]


STATISTICS = "W = ParameterTensor {(0:1), initValue=0}"


def test_a_function_whose_arguments_changed() -> None:
    old = f"{{ {STATISTICS} ; r = BatchNormalization (image, W, W, W, W, true) }}.r"
    new = f"{{ {STATISTICS} ; r = BatchNormalization (image, W, W, W, W, spatial=true) }}.r"
    assert (experiment(old).version.name, reported(experiment(old))) == (FIRST, [])
    assert (experiment(new).version.name, reported(experiment(new))) == ("2.0", [])
    assert {one.split()[0] for one in reported(experiment(new, FIRST))} == {"CK121"}
    assert reported(experiment(old, "2.3")) == ["CK121 warning BatchNormalization"]
    assert reported(experiment(old, reader="sideRatio = 0.5")) == [
        "CK122 warning BatchNormalization"
    ]


def test_later_releases_count_samples_in_batch_normalization() -> None:
    layer = "BatchNormalizationLayer {spatialRank=2} (image)"
    inputs = {}
    for version in ("2016-11", "2.0"):
        (built,) = experiment(layer, version).networks
        assert built.network is not None
        (node,) = (one for one in built.network.nodes.values() if one.operation.startswith("Batch"))
        inputs[version] = len(node.inputs), node.truth("useCntkEngine")
        assert node.shape == (12, 10, 3)
    assert inputs == {"2016-11": (5, True), "2.0": (6, False)}


def test_later_releases_take_a_softmax_along_an_axis_by_logarithms() -> None:
    layer = "{ r = Softmax (image, axis=3) }.r"
    operations = {}
    for version in ("2016-11", "2.0"):
        (built,) = experiment(layer, version).networks
        assert built.network is not None
        nodes = built.network.nodes
        assert nodes["h"].shape == (12, 10, 3)
        operations[version] = {node.operation for node in nodes.values()}
    assert operations["2016-11"] - operations["2.0"] == {"Softmax", "Reciprocal", "ElementTimes"}
    assert operations["2.0"] - operations["2016-11"] == {"Exp", "Minus"}


def test_a_misspelling_is_never_fixed_with_a_word_of_another_release() -> None:
    for version in VERSIONS:
        for case in MISSPELLINGS:
            run = experiment(case.layer, version, case.sgd, case.reader)
            assert_proposed(run, case, case.known.by(version), "as set in the settings.")


class Misspelling(NamedTuple):
    """A misspelling of a word of some releases: its text, its code, the word, the releases that
    know it.
    """

    code: str
    word: str
    known: Releases
    layer: str = "Tanh (image)"
    sgd: str = ""
    reader: str = ""


MISSPELLINGS = (
    Misspelling("BS030", "normal", Releases("2.0"), "{ W = Parameter (4, 3, init='norml') }.W"),
    Misspelling("BS020", "Cosh", Releases("2.1"), "Coshh (image)"),
    Misspelling("BS020", "BS.Constants.Range", Releases("2.1"), "Range (7)"),
    Misspelling("BS021", "Range", Releases("2.1"), "BS.Constants.Rang (7)"),
    Misspelling(
        "BS023", "dilation", Releases("2.2"), "ConvolutionalLayer {4, (3:3), dilaton=2} (image)"
    ),
    Misspelling("CK050", "randomSide", Releases("2.0"), reader="cropType = randomSid"),
    Misspelling("CK050", "adam", Releases("2.7"), sgd="gradUpdateType = adm"),
    Misspelling("CK040", "tensorBoardLogDir", Releases("2.0"), sgd="tensorBoardLogDr = a"),
    Misspelling("CK040", "perfTraceLevel", Releases(until=FIRST), sgd="perfTraceLevl = 1"),
    Misspelling("CK040", "aspectRatioRadius", Releases(until=FIRST), reader="aspectRatioRadus = 1"),
)


def assert_proposed(run: Experiment, case: Misspelling, known: bool, because: str) -> None:
    """The word is proposed where the release knows it, else reported with the releases that do."""
    (one,) = (
        one for found in diagnostics_by_file(run).values() for one in found if one.code == case.code
    )
    if known:
        assert f"did you mean '{case.word}'?" in one.message.lower().replace(
            case.word.lower(), case.word
        )
        assert one.fix is not None
        assert case.word in one.fix.edits[0].text
    else:
        assert f"CNTK knows '{case.word}' {case.known}; this is for " in one.message
        assert one.message.endswith(because)
        assert "id you mean" not in one.message
        assert one.fix is None


@pytest.mark.parametrize("case", MISSPELLINGS, ids=[case.word for case in MISSPELLINGS])
def test_a_misspelling_is_fixed_with_words_of_the_release_that_the_others_report(
    case: Misspelling,
) -> None:
    alone = experiment(case.layer, sgd=case.sgd, reader=case.reader)
    assert alone.version.name == FIRST
    assert_proposed(alone, case, case.known.by(FIRST), "as no word requires a later one.")
    text = NETWORK.format(layer=case.layer, sgd=case.sgd, reader=case.reader)
    files = Memory({"a.cntk": f"precision = float16\n{text}".encode()})
    beside = Experiment(Run(("configFile=a.cntk",)), files)
    assert beside.version.name == "2.7"
    because = "the lowest that knows precision=float16."
    assert_proposed(beside, case, case.known.by("2.7"), because)


def test_types_of_readers_that_the_release_does_not_know_are_not_proposed() -> None:
    def text(reader: str) -> str:
        return message(_read_by(reader), "CK101") + message(_read_by(reader), "CK102")

    assert "Did you mean" not in text("readerType = CNTKBinaryReadr")
    assert "CNTK knows 'CNTKBinaryReader' from 2.0 on" in text("readerType = CNTKBinaryReadr")
    module = "deserializers = ({ type = ImageDeserializer ; module = CNTKBinaryReadr })"
    assert "Did you mean" not in text(module)
    module = "deserializers = ({ type = HTKMLFDeserializer ; module = ImageReader })"
    assert "ImageReader has only ImageDeserializer: CNTK" in text(module)


def _read_by(reader: str) -> Experiment:
    text = NETWORK.format(layer="Tanh (image)", sgd="", reader="").partition("    reader = {")[0]
    files = Memory({"a.cntk": f"{text}    reader = {{ {reader} }}\n}}\n".encode()})
    return Experiment(Run(("configFile=a.cntk",)), files)


def test_a_file_of_a_network_alone_has_its_release() -> None:
    files = Memory({"a.bs": b"x = Input (3)\ny = Sinh (x)\n"})
    run = SingleFile("a.bs", "brainscript", files, given=Premises(version="2.0"))
    assert [one.split()[0] for one in reported(run) if "Sinh" in one] == ["CK121"]


#: Shapes of functions that later releases brought.
SHAPES = (
    ("ConvolutionTransposeLayer {4, (3:3), 3, stride=2} (image)", (25, 21, 4)),
    (
        "ConvolutionTransposeLayer {4, (3:3), 3, stride=2, outputShape=(24:20:4)} (image)",
        (24, 20, 4),
    ),
    ("BilinearUpsamplingLayer {3, 4, 2} (image)", (26, 22, 3)),
    ("ConvolutionalLayer {4, (3:3), dilation=2} (image)", (8, 6, 4)),
    ("ConvolutionalLayer {4, (3:3), dilation=2, pad=true} (image)", (12, 10, 4)),
    ("MaxPoolingLayer {(2:3), stride=3, ceilOutDim=true} (image)", (5, 4, 3)),
    ("MaxPoolingLayer {(2:3), stride=3} (image)", (4, 3, 3)),
    (
        "MaxUnpoolingLayer {(2:2), stride=2} (MaxPoolingLayer {(2:2), stride=2} (image), image)",
        (12, 10, 3),
    ),
    ("RowStack (image : image, axis=3)", (12, 10, 6)),
    ("BS.Constants.Range (7)", (7, 1)),
    ("ROIPooling (image, Input (4:7), (3:2), spatialScale=1)", (3, 2, 3, 7)),
)


@pytest.mark.parametrize(("layer", "shape"), SHAPES, ids=[row[0][:40] for row in SHAPES])
def test_shapes(layer: str, shape: tuple[int, ...]) -> None:
    run = experiment(f"{{ r = {layer} }}.r")
    (built,) = run.networks
    assert built.network is not None
    assert [one.message for one in built.faults] == []
    assert built.network.nodes["h"].shape == shape


def test_tables_name_what_there_is() -> None:
    first, later = library_of(own_library()), library_of(own_library(later=True))
    assert [name for name in FUNCTIONS if first.find(name) is None] == []
    for function, name in PARAMETERS:
        found = [one.find(function) for one in (first, later)]
        names = {it.name for one in found if one is not None for it in one.parameters or ()}
        assert name in names, (function, name)
    for function in COUNTS:
        assert first.find(function) is not None
    assert set(STARTS) <= set(KNOWN_STARTS)
    every = (*FUNCTIONS.values(), *PARAMETERS.values(), *STARTS.values(), *OF_ALL.values())
    assert all({one.since, one.until} <= set(VERSIONS) for one in every)
    for name, known in FUNCTIONS.items():
        row = NODE_TYPES.get(name.rpartition(".")[2])
        assert row is None or row.since == known.since, name
    functions = {name.rpartition(".")[2] for name in FUNCTIONS}
    assert {name for name, row in NODE_TYPES.items() if row.since} <= functions


def test_options_name_values_that_there_are() -> None:
    for one in BLOCKS.values():
        for option in one:
            assert option.kind != "choice" or {word for word, _ in option.words} <= {
                value.lower() for value in option.values
            }
    with pytest.raises(TableError, match=r"x\.md:5: '3\.0' is not a release\."):
        Tables.of([("x.md", "## a\n\nSays.\n\n| n | truth, since 3.0 | | Does. |\n")])


def test_pages_of_functions_say_since_when() -> None:
    found = documentation.of("Cosh")
    assert found is not None
    assert "CNTK knows it from 2.1 on." in found.markdown
    layer = documentation.of("ConvolutionalLayer")
    assert layer is not None
    assert "CNTK knows" not in layer.markdown
    assert "- `dilation` (from 2.2 on): " in layer.markdown
    node = documentation.of_node("Cosh")
    assert node is not None
    assert "CNTK knows it from 2.1 on." in node.markdown
