"""Networks of model files written back as BrainScript: evaluated again, checked, formatted, run."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.matrices import matrix, matrix_text
from netsharp_engine.cntk.stored.model_file import written_model
from netsharp_engine.cntk.stored.opening import open_model
from netsharp_engine.cntk.stored.values import StoredModel, StoredNode
from netsharp_engine.exporting.refusal import ExportError
from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings, evaluate_file
from netsharp_lsp.cntk.formatting import format_text
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.networks.node import PARAMETER, elements
from netsharp_lsp.cntk.networks.node_types import MODEL_TYPES
from netsharp_lsp.cntk.networks.stored import network_in
from netsharp_lsp.cntk.training.written_back import network_text_of
from netsharp_lsp.cntk.writing.network import Unwritten, network_text
from netsharp_lsp.cntk.writing.proof import objection
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.text.matrices import matrix_of
from tests.cli.command_line import netsharp as command
from tests.cntk.brainscript.building import outcome
from tests.cntk.brainscript.test_node_types import PRELUDE, SHAPES
from tests.cntk.training.random_models import Grown, first
from tests.conftest import SEED

MODELS = Path(__file__).parents[3] / "shared" / "peer" / "models"
VERSIONS = range(5, 28)
#: Types that no file of the first format holds.
NOT_STORED = frozenset(("StraightThrough", "Cast", "EditDistanceError", "ForwardBackward"))
NOT_STORED |= {"LatticeSequenceWithSoftmax"}
needs_models = pytest.mark.skipif(not MODELS.exists(), reason="../shared is absent")

#: A network that trains in a moment, with records within records as layers make them.
NETWORK = """
command = train
precision = "float"
modelPath = "small.dnn"
train = {
    action = "train"
    BrainScriptNetworkBuilder = {
        features = Input {3}
        labels = Input {2}
        hidden = DenseLayer {4, activation=Tanh} (features)
        z = LinearLayer {2} (BatchNormalizationLayer {} (hidden))
        ce = CrossEntropyWithSoftmax (labels, z)
        errs = ClassificationError (labels, z)
        featureNodes = (features)
        labelNodes = (labels)
        criterionNodes = (ce)
        evaluationNodes = (errs)
        outputNodes = (z)
    }
    SGD = { epochSize = 0 ; minibatchSize = 4 ; maxEpochs = 2 ; learningRatesPerSample = 0.1 }
    reader = {
        readerType = "CNTKTextFormatReader"
        file = "rows.ctf"
        randomize = false
        input = {
            features = { dim = 3 ; format = "dense" }
            labels = { dim = 2 ; format = "dense" }
        }
    }
}
"""


def rows() -> str:
    """Twelve samples of two classes, by whether the first number is the largest."""
    drawn = np.random.default_rng(SEED).normal(size=(12, 3))
    return "".join(
        f"|features {a:.4f} {b:.4f} {c:.4f} |labels {'1 0' if a > max(b, c) else '0 1'}\n"
        for a, b, c in drawn
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that was trained here, its data and its text written back."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "small.cntk").write_text(NETWORK)
    (folder / "rows.ctf").write_text(rows())
    assert command("run", "small.cntk", cwd=folder).code == 0
    answer = command("export", "small.dnn", "--to", "brainscript", "back.bs", cwd=folder)
    assert (answer.code, answer.err) == (0, "")
    return folder


def test_it_says_what_it_wrote(trained: Path) -> None:
    answer = command("export", "small.dnn", "--to", "brainscript", "again.bs", cwd=trained)
    assert answer.out.splitlines() == [
        "again.bs: 18 nodes, with 8 files of numbers in again.parameters",
        "  evaluated again: the same network, and the same numbers",
        "  1 batch normalization counts its samples from 0 again when training begins.",
    ]
    assert len(list((trained / "again.parameters").iterdir())) == 8


def test_nothing_is_found_in_it_and_nothing_is_formatted(trained: Path) -> None:
    checked = command("check", "back.bs", cwd=trained)
    assert (checked.code, checked.out) == (0, "1 file checked, nothing found.\n")
    assert command("fmt", "--check", "back.bs", cwd=trained).code == 0
    differs = command("diff", "small.dnn", "back.bs", cwd=trained)
    assert not [line for line in differs.out.splitlines() if line.startswith(("-", "+"))]


def test_training_begins_with_what_it_says(trained: Path) -> None:
    """The model before the first epoch has every number of the one that was written back."""
    begin, end = NETWORK.index("        features = Input"), NETWORK.index("    SGD")
    text = NETWORK[:begin] + '        include "back.bs"\n    }\n' + NETWORK[end:]
    (trained / "on.cntk").write_text(text.replace("small.dnn", "on.dnn"))
    answer = command("run", "on.cntk", cwd=trained)
    assert answer.code == 0, answer.err
    before = open_model((trained / "small.dnn").read_bytes())
    after = open_model((trained / "on.dnn.0").read_bytes())
    assert after.groups == before.groups
    for one in before.nodes:
        other = after.found(one.name)
        assert other is not None, one.name
        assert (other.operation, other.inputs) == (one.operation, one.inputs)
        # A normalisation's count of samples is not a parameter.
        if one.operation == PARAMETER:
            assert one.values is not None
            assert other.values is not None
            assert other.values.tobytes() == one.values.tobytes(), one.name
    assert (trained / "on.dnn").exists()


def test_a_folder_elsewhere_is_named_as_it_is_found_from_here(trained: Path) -> None:
    (trained / "sub").mkdir()
    to = ("--to", "brainscript")
    assert command("export", "small.dnn", *to, "sub/a.bs", cwd=trained).code == 0
    assert "'sub/a.parameters/" in (trained / "sub" / "a.bs").read_text()
    assert command("export", "../small.dnn", *to, "../b.bs", cwd=trained / "sub").code == 0
    assert f"'{trained.as_posix()}/b.parameters/" in (trained / "b.bs").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("small.dnn", "no/x.bs"), "the folder no does not exist"),
        (("small.dnn", "small.dnn"), "is the model itself"),
        (("small.dnn", "taken.bs"), "taken.parameters: is not a folder"),
        (("small.dnn", "x.bs", "--output", "z"), "--output says nothing of a network's text"),
        (
            ("small.dnn", "x.bs", "--verify", "rows.ctf"),
            "--verify says nothing of a network's text",
        ),
        (("small.dnn", "x.bs", "--logits", "int16"), "--logits says nothing of a network's text"),
        (("rows.ctf", "x.bs"), "rows.ctf"),
        (("none.dnn", "x.bs"), "none.dnn"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(
    trained: Path, arguments: tuple[str, ...], message: str
) -> None:
    (trained / "taken.parameters").write_text("")
    before = sorted(trained.rglob("*"))
    model, *rest = arguments
    answer = command("export", model, "--to", "brainscript", *rest, cwd=trained)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert sorted(trained.rglob("*")) == before


@needs_models
@pytest.mark.costly
@pytest.mark.parametrize("name", ["cifar10.ResNet.cmf", "slu.forward.backward.cmf"])
def test_models_that_cntk_wrote(name: str, tmp_path: Path) -> None:
    """Every node keeps its name, and nothing is found in the text."""
    answer = command("export", str(MODELS / name), "--to", "brainscript", "m.bs", cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert " is called " not in answer.out
    checked = command("check", "m.bs", cwd=tmp_path)
    assert (checked.code, checked.out) == (0, "1 file checked, nothing found.\n")
    assert command("fmt", "--check", "m.bs", cwd=tmp_path).code == 0


@needs_models
@pytest.mark.costly
@pytest.mark.parametrize("name", ["mnist_conv.cmf", "solar.dnn", "solar.dnn.ckp"])
def test_models_of_the_second_format_are_refused(name: str, tmp_path: Path) -> None:
    answer = command("export", str(MODELS / name), "--to", "brainscript", "m.bs", cwd=tmp_path)
    assert answer.code == 2
    assert "second format" in answer.err or "checkpoint" in answer.err
    assert not list(tmp_path.iterdir())


def written_back(data: bytes, folder: Path) -> bytes:
    """The text of a model, proven when written: a difference is an ExportError."""
    (folder / "m.dnn").write_bytes(data)
    found = network_text_of(str(folder / "m.dnn"), "p")
    assert found is not None
    # As it is formatted it stays.
    assert format_text(found.text, "brainscript", FormatOptions()).text == found.text
    return found.text


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(110))
def test_a_random_network(number: int, tmp_path: Path) -> None:
    print(f"seed {SEED + number}")
    network = Grown(SEED + number, "v1", VERSIONS[number % len(VERSIONS)])
    ignored_options = [one for one in network.nodes if one.operation in MODEL_TYPES]
    if not ignored_options:
        written_back(first(network), tmp_path)
        return
    with pytest.raises(ExportError, match="no text of BrainScript creates a node") as caught:
        written_back(first(network), tmp_path)
    assert f"'{ignored_options[0].name}'" in str(caught.value) or "more nodes" in str(caught.value)
    assert not caught.value.differs


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("operation", "text"),
    [(one[0], one[1]) for one in SHAPES if one[0] not in NOT_STORED],
    ids=[one[0] for one in SHAPES if one[0] not in NOT_STORED],
)
def test_every_type_of_node(operation: str, text: str, tmp_path: Path) -> None:
    written_back(model_of(f"{{{PRELUDE}x = {text}\noutputNodes = (x)}}"), tmp_path)


def model_of(text: str) -> bytes:
    """The file of a network with random numbers."""
    network = outcome(text).network
    assert network is not None
    drawn = np.random.default_rng(SEED)
    nodes = [
        StoredNode(
            node.operation,
            node.name,
            node.shape or (),
            tuple(one.name for one in node.inputs),
            node.attributes,
            drawn.normal(size=elements(node.shape or ())).astype(np.float32)
            if node.operation in (PARAMETER, "Mean", "InvStdDev")
            else None,
        )
        for node in network.nodes.values()
    ]
    groups = {name: [one.name for one in found] for name, found in network.groups.items()}
    return written_model(StoredModel(nodes, groups, "float32"))


#: Parts of names: those of functions, of what constructors read, of members that mean something.
WORDS = ("a", "b", "x", "z", "W", "_", "Tanh", "Plus", "PlusArgs", "outer", "node", "tag", "inputs")
WORDS += ("shape", "BS", "Input", "ParameterTensor", "axis", "if", "featureNodes", "init", "dims")
#: Names that no text makes.
FOREIGN = ("a b", "1x", "a..b", "x[", "новый", "a[01]", "q\n#", "it's")


def called(model: StoredModel, seed: int) -> StoredModel:
    """The same model with random names, many of which begin those of others."""
    drawn = random.Random(seed)
    names: dict[str, str] = {}
    for node in model.nodes:
        name = ""
        while not name or name in names.values():
            if drawn.random() < 0.05:
                name = f"{drawn.choice(FOREIGN)}{drawn.randrange(99)}"
                continue
            begin = drawn.choice(list(names.values())) if names and drawn.random() < 0.5 else ""
            if begin and drawn.random() < 0.2:
                name = f"{begin}[{drawn.randrange(3)}]"
            else:
                name = f"{begin}{'.' if begin else ''}{drawn.choice(WORDS)}"
        names[node.name] = name
    nodes = [
        one._replace(name=names[one.name], inputs=tuple(names[name] for name in one.inputs))
        for one in model.nodes
    ]
    groups = {group: [names[one] for one in found] for group, found in model.groups.items()}
    return model._replace(nodes=nodes, groups=groups)


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(200))
def test_names_of_every_kind(number: int) -> None:
    print(f"seed {SEED + number}")
    network = Grown(SEED + number, "v1", VERSIONS[number % len(VERSIONS)])
    known = network_in(called(open_model(first(network)), SEED + number), "")
    starts = {node.name: "initValue=0.5" for node in known.nodes.values()}
    if any(node.operation in MODEL_TYPES for node in known.nodes.values()):
        with pytest.raises(Unwritten) as caught:
            network_text(known, starts)
        assert {one.operation for one in caught.value.refusals} <= MODEL_TYPES.keys()
        return
    text = network_text(known, starts)
    data = format_text(text.text.encode(), "brainscript", FormatOptions())
    assert data.failure is None
    assert objection(data.text, known, text.renamed, lambda path: None) is None


def test_operands_within_operands_however_deep() -> None:
    """A sum of hundreds of operands, each named by its place in the one around it."""
    nodes = [StoredNode("InputValue", "i", (3,)), StoredNode("InputValue", "k", (3,))]
    last = "i"
    for depth in range(500, -1, -1):
        name = "z" + ".PlusArgs[0]" * depth
        nodes.append(StoredNode("Plus", name, (), (last, "k")))
        last = name
    groups = {"feature": ["i", "k"], "output": ["z"]}
    known = network_in(StoredModel(nodes, groups, "float32"), "")
    text = network_text(known, {})
    assert objection(text.text.encode(), known, text.renamed, lambda path: None) is None
    assert "z.PlusArgs[0]" not in text.renamed


def test_a_network_of_nothing_is_a_text() -> None:
    known = network_in(StoredModel([], {}, "float32"), "")
    text = network_text(known, {})
    assert objection(text.text.encode(), known, text.renamed, lambda path: None) is None


def test_the_proof_sees_what_differs() -> None:
    """Another attribute, input, group or name in the text, and it is no longer the same."""
    text = (
        "i = Input (3)\nW = ParameterTensor {(2:3), initValue=1}\na = W * i\nb = Tanh (a)\n"
        "featureNodes = (i)\noutputNodes = (b)\n"
    )
    around = Surroundings(lambda path: None, own_library())
    network = evaluate_file(text.encode(), "", around).network
    assert network is not None
    assert objection(text.encode(), network, {}, lambda path: None) is None
    for old, new in (
        ("Input (3)", "Input (3, tag='label')"),
        ("{(2:3), ", "{(2:3), learningRateMultiplier=0.5, "),
        ("Tanh (a)", "Tanh (W)"),
        ("Tanh (a)", "Sigmoid (a)"),
        ("outputNodes = (b)", "outputNodes = (a)"),
        ("W * i", "Times (W, i, inferInputRankToMap=0)"),
        ("W", "V"),
        ("Input (3)", "Input (4)"),
        ("Tanh (a)", "Tanh ("),
    ):
        assert objection(text.replace(old, new).encode(), network, {}, lambda path: None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_read_as_they_were_written(dtype: type) -> None:
    kind = np.dtype(dtype)
    drawn = np.random.default_rng(SEED).integers(0, 256, 600 * kind.itemsize, dtype=np.uint8)
    numbers = drawn.view(kind)
    numbers = numbers[np.isfinite(numbers)]
    numbers = np.concatenate((numbers[: numbers.size // 6 * 6 - 6], np.zeros(6, kind)))
    numbers[:4] = [-0.0, np.finfo(kind).max, np.finfo(kind).smallest_subnormal, np.inf]
    text = matrix_text(numbers, 6)
    size = matrix_of((text,))
    assert (size.rows, size.columns) == (6, numbers.size // 6)
    assert matrix((text,), 6, numbers.size // 6).astype(kind).tobytes() == numbers.tobytes()


def test_what_training_derives_from_data_is_reported(tmp_path: Path) -> None:
    data = model_of("{v = Input (3)\nx = v - Mean (v)\noutputNodes = (x)}")
    (tmp_path / "m.dnn").write_bytes(data)
    answer = command("export", "m.dnn", "--to", "brainscript", cwd=tmp_path)
    assert answer.code == 0
    assert "is computed from the data again when training begins" in answer.out
