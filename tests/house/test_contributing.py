"""Does what CONTRIBUTING.md says, in a copy of the project, and sees it work."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FORMATS = ("onnx", "torch", "tsql")
COPIED = ("netsharp", "netsharp_lsp", "engine", "grammar", "tests", "pyproject.toml")


DOCUMENT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def new_files() -> dict[str, str]:
    """The files that the document shows, by name."""
    found = re.findall(r"^`(\S+)`:\n\n(`{3,})\w+\n(.*?)^\2$", DOCUMENT, re.MULTILINE | re.DOTALL)
    return {name: content for name, _fence, content in found}


def insertions() -> list[tuple[str, str, str, str]]:
    """What the document puts into files: the file, before or below what, the text."""
    form = r"^`(\S+)`, (before|below) `([^`]+)`:\n\n(`{3,})\w+\n(.*?)^\4$"
    found = re.findall(form, DOCUMENT, re.MULTILINE | re.DOTALL)
    assert len(found) >= 7
    return [(name, side, mark, content) for name, side, mark, _fence, content in found]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with what the document adds; the built parser comes along."""
    folder = tmp_path_factory.mktemp("project")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(source, folder / name, ignore=ignore)
        else:
            shutil.copy(source, folder / name)
    import netsharp_grammar

    for built in Path(netsharp_grammar.__file__).parent.glob("_*.so"):
        shutil.copy(built, folder / "grammar" / "netsharp_grammar" / built.name)
    for name, content in new_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    for name, side, mark, content in insertions():
        mark += "\n" * (side == "below")
        text = (folder / name).read_text(encoding="utf-8")
        assert mark in text, f"{name} has no {mark!r}"
        both = (content, mark) if side == "before" else (mark, content)
        (folder / name).write_text(text.replace(mark, "".join(both), 1), encoding="utf-8")
    return folder


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python on the copy alone."""
    paths = os.pathsep.join(str(folder / part) for part in ("", "engine", "grammar"))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_new_rule_is_reported_and_explained(copy: Path) -> None:
    (copy / "net.nn").write_text("input Foo [3]; output Result [1] sigmoid from Foo all;")
    checked = python(copy, "-m", "netsharp_lsp", "check", "--format", "concise", "net.nn")
    assert "net.nn:1:7: hint NS129 'Foo' says nothing" in checked.stdout, checked.stderr
    explained = python(copy, "-m", "netsharp_lsp", "explain", "NS129")
    assert "Layer with a placeholder's name" in explained.stdout
    ignored = python(copy, "-m", "netsharp_lsp", "check", "--ignore", "NS129", "net.nn")
    assert "NS129" not in ignored.stdout


def test_the_new_language_is_checked_formatted_and_explained(copy: Path) -> None:
    (copy / "a.memo").write_text("-milk\nbread\n")
    checked = python(copy, "-m", "netsharp_lsp", "check", "--format", "concise", "a.memo")
    assert "a.memo:2:1: warning MO001 A dash is missing." in checked.stdout, checked.stderr
    assert python(copy, "-m", "netsharp_lsp", "fmt", "a.memo").returncode == 0
    assert (copy / "a.memo").read_text() == "- milk\nbread\n"
    explained = python(copy, "-m", "netsharp_lsp", "explain", "MO001")
    assert "Line without a dash" in explained.stdout
    described = python(copy, "-m", "netsharp_lsp", "describe", "a.memo")
    assert described.returncode == 0, described.stderr


def test_the_new_language_keeps_to_the_house(copy: Path) -> None:
    tests = ("tests/house/test_dependencies.py", "tests/house/test_families.py")
    chosen = ("-k", "downwards or in_their_rooms or test_families")
    done = python(copy, "-m", "pytest", "-p", "no:cacheprovider", *tests, *chosen)
    assert done.returncode == 0, done.stdout
    listed = "tests/packaging/test_packages.py::test_every_package_is_listed"
    done = python(copy, "-m", "pytest", "-p", "no:cacheprovider", listed)
    assert done.returncode == 0, done.stdout


@pytest.mark.costly
def test_the_new_language_has_strict_types(copy: Path) -> None:
    types = subprocess.run(
        [sys.executable, "-m", "mypy", "netsharp_lsp/memo", "netsharp_lsp/language.py"],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert types.returncode == 0 or "No module named mypy" in types.stderr, types.stdout


def test_the_new_rule_says_what_it_rests_on(copy: Path) -> None:
    """The name of a layer is read where its size is not."""
    (copy / "broken.nn").write_text(
        "input A [3]; hidden Foo [4 tanh from A all; output B [1] sigmoid from Foo all;"
    )
    checking = ("-m", "netsharp_lsp", "check", "--format", "concise", "broken.nn")
    assert "hint NS129 'Foo' says nothing" in python(copy, *checking).stdout
    rule = copy / "netsharp_lsp" / "netsharp" / "rules" / "names" / "placeholders.py"
    words = rule.read_text(encoding="utf-8")
    rule.write_text(words.replace("Rests.WORDS", "Rests.ITEM"), encoding="utf-8")
    checked = python(copy, *checking)
    rule.write_text(words, encoding="utf-8")
    assert "NS012" in checked.stdout
    assert "NS129" not in checked.stdout


def test_the_new_page_is_a_test(copy: Path) -> None:
    done = python(
        copy,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "tests/rules/test_pages.py",
        "-k",
        "NS129",
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"[1-9]\d* passed", done.stdout)


def test_the_new_activation_is_known_everywhere(copy: Path) -> None:
    text = "input A [3]; hidden H [4] sine from A all; output B [2] softmax from H all;"
    (copy / "sine.nn").write_text(text)
    checked = python(copy, "-m", "netsharp_lsp", "check", "sine.nn")
    assert checked.returncode == 0, checked.stdout
    described = python(copy, "-m", "netsharp_lsp", "describe", "sine.nn")
    assert "sine" in described.stdout


def test_the_new_activation_passes_the_gradient_checks(copy: Path) -> None:
    done = python(
        copy,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "tests/engine",
        "-k",
        "sine and not cosine",
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"[1-9]\d* passed", done.stdout)


@pytest.mark.costly
def test_the_new_activation_is_exported_and_compiled(copy: Path) -> None:
    pytest.importorskip("onnxruntime")
    x = [number / 8 for number in range(-16, 16)]
    rows = "".join(f"{one},{one * one},{int(one > 0.3)}\n" for one in x)
    (copy / "t.csv").write_text(f"a,b,c\n{rows}")
    (copy / "sines.nn").write_text(
        "input A auto; hidden H [4] sine from A all; output B auto softmax from H all;"
    )
    commands = ["run sines.nn --train t.csv --label c --epochs 3 --quiet --model m.safetensors"]
    commands += [f"export m.safetensors out.{kind} --to {kind}" for kind in FORMATS]
    commands += ["compile m.safetensors --output board --calibrate t.csv --force"]
    for command in commands:
        done = python(copy, "-m", "netsharp_lsp", *command.split())
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


TRAINED = """
import numpy as np
from netsharp_engine.graph import GraphError
from netsharp_engine.train import prepare, read_settings, train
from tests.engine.small_program import SmallDraft
from tests.engine_training.small_networks import layered
from tests.engine_training.tables import line

settings = read_settings({}, {"task": "regression", "epochs": 3, "dtype": "float64"})
data = prepare(line(24), settings)
network = layered(2, 1, (3,), function="tanh", last="tanh")
ours = train(network, data, settings).model
theirs = train(network, data, settings, backend=SmallDraft).model
for name, values in ours.tensors.items():
    assert np.allclose(values, theirs.tensors[name], atol=1e-7), name
rows = np.ones((3, 2))
assert np.allclose(ours.compute(rows), theirs.compute(rows), atol=1e-7)
try:
    train(layered(2, 1), data, settings, backend=SmallDraft)
except GraphError as error:
    print(error)
"""


def test_the_new_back_end_trains_without_an_edit_of_the_engine(copy: Path) -> None:
    assert "tests/engine/small_program.py" in new_files()
    done = python(copy, "-c", TRAINED)
    assert "'activation' is not computed here" in done.stdout, done.stderr


EXPERIMENT = """\
command = T
T = {
    action = train ; modelPath = m
    SimpleNetworkBuilder = {
        layerSizes = 2:3 ; trainingCriterion = squareError ; evalCriterion = squareError
    }
    SGD = { maxEpochs = 1 ; WARM = VALUE }
    reader = { file = f ; input = { features = { dim = 2 ; format = dense } } }
}
"""


def test_the_new_option_is_known_checked_and_reported(copy: Path) -> None:
    def checked(name: str, value: str) -> str:
        text = EXPERIMENT.replace("WARM", name).replace("VALUE", value)
        (copy / "a.cntk").write_text(text)
        done = python(copy, "-m", "netsharp_lsp", "check", "--format", "concise", "a.cntk")
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    assert "warmUpSamples" not in checked("warmUpSamples", "100:0")
    assert "'warmUpSamples'" in checked("warmUpSample", "100")
    assert "at least 0" in checked("warmUpSamples", "-1")
    tests = ["tests/cntk/test_options.py", "-p", "no:cacheprovider", "-k", "warmUpSamples"]
    done = python(copy, "-m", "pytest", *tests)
    assert re.search(r"[1-9]\d* passed", done.stdout), done.stdout


def test_the_new_function_of_the_library_is_evaluated_and_documented(copy: Path) -> None:
    network = "x = Input {3} ; y = SkipLayer {Tanh} (x) ; outputNodes = (y)"
    (copy / "s.cntk").write_text(
        f"command = W\nW = {{ action = write ; BrainScriptNetworkBuilder = {{ {network} }} }}\n"
    )
    described = python(copy, "-m", "netsharp_lsp", "describe", "--format", "json", "s.cntk")
    nodes = {node["name"]: node for node in json.loads(described.stdout)["nodes"]}
    assert (nodes["y"]["operation"], nodes["y"]["shape"]) == ("Plus", [3]), described.stdout
    hovered = "from netsharp_lsp.cntk.library import documentation as pages\n"
    hovered += "print(pages.of('SkipLayer').markdown)"
    assert "keeps the shape" in python(copy, "-c", hovered).stdout
    tests = (
        "tests/cntk/brainscript/test_documentation.py",
        "tests/cntk/brainscript/test_analysis.py",
    )
    done = python(
        copy, "-m", "pytest", "-p", "no:cacheprovider", *tests, "-k", "SkipLayer or left_over"
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"[1-9]\d* passed", done.stdout), done.stdout


NODE = "new ComputationNode { operation = 'RowDouble' ; inputs = x ; tag = '' }"


def test_the_new_node_is_built_documented_and_has_its_shape(copy: Path) -> None:
    network = f"x = Input {{3}} ; y = {NODE} ; z = Tanh (y) ; outputNodes = (z)"
    (copy / "n.cntk").write_text(
        f"command = W\nW = {{ action = write ; BrainScriptNetworkBuilder = {{ {network} }} }}\n"
    )
    described = python(copy, "-m", "netsharp_lsp", "describe", "--format", "json", "n.cntk")
    shapes = {node["name"]: node["shape"] for node in json.loads(described.stdout)["nodes"]}
    assert shapes["z"] == [6]
    checked = python(copy, "-m", "netsharp_lsp", "check", "--format", "concise", "n.cntk")
    assert "RowDouble" not in checked.stdout, checked.stdout
    tests = (
        "tests/cntk/brainscript/test_node_types.py",
        "tests/cntk/brainscript/test_documentation.py",
        "tests/cntk/rules/test_networks.py",
    )
    chosen = ("-k", "RowDouble or every_type or every_family or names_only or left_over")
    done = python(copy, "-m", "pytest", "-p", "no:cacheprovider", *tests, *chosen)
    assert done.returncode == 0, done.stdout
    assert re.search(r"[1-9]\d* passed", done.stdout), done.stdout


#: Trains a network with the node, and reads the file that it leaves.
TRAINS_NODE = """\
command = learn:score
modelPath = "out/net.dnn"
learn = {
    action = train
    BrainScriptNetworkBuilder = {
        features = Input {2} ; labels = Input {3}
        x = LinearLayer {2} (features)
        y = NODE
        z = LinearLayer {3} (y)
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
        outputNodes = (z)
    }
    SGD = { maxEpochs = 1 ; minibatchSize = 4 ; learningRatesPerSample = 0.01 }
    reader = { file = "d.txt" ; randomize = false ; input = {
        features = { dim = 2 ; format = dense } ; labels = { dim = 3 ; format = dense } } }
}
score = { action = test ; evalNodeNames = ce ; reader = { file = "d.txt" ; input = {
    features = { dim = 2 ; format = dense } ; labels = { dim = 3 ; format = dense } } } }
"""


def test_the_new_node_is_trained(copy: Path) -> None:
    tests = [f"tests/cntk/training/test_{name}.py" for name in ("gradients", "gaps")]
    if importlib.util.find_spec("torch"):
        tests.append("tests/cntk/training/test_torch_rows.py")
    done = python(copy, "-m", "pytest", "-p", "no:cacheprovider", *tests, "-k", "RowDouble")
    assert done.returncode == 0, done.stdout
    assert re.search(r"[1-9]\d* passed", done.stdout), done.stdout
    (copy / "d.txt").write_text("|features 1 2 |labels 1 0 0\n|features 3 1 |labels 0 1 0\n" * 4)
    (copy / "t.cntk").write_text(TRAINS_NODE.replace("NODE", NODE))
    ran = python(copy, "-m", "netsharp_lsp", "run", "t.cntk")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (copy / "out" / "net.dnn").exists()


#: What each part of the library of CNTK consists of: nothing else is edited for a new one.
PARTS = {
    "node": (
        "netsharp_lsp/cntk/networks/node_types.py",
        "netsharp_lsp/cntk/networks/rules/",
        "netsharp_lsp/cntk/library/documentation/",
        *("engine/netsharp_engine/ops/tensors/",) * 2,
        *("engine/netsharp_engine/tensor_backend/kernels/",) * 2,
        "engine/netsharp_engine/torch_backend/tensors/kernels/",
        "engine/netsharp_engine/cntk/stored/stored_nodes.py",
    ),
    "function of CNTK's library": (
        "netsharp_lsp/cntk/library/",
        "netsharp_lsp/cntk/library/documentation/",
    ),
    "option": ("netsharp_lsp/cntk/configuration/options/",),
}


@pytest.mark.parametrize("title", PARTS)
def test_a_new_part_of_cntk_is_added_in_as_many_places_as_it_consists_of(title: str) -> None:
    heading = re.search(rf"^## Adding an? {title}.*$", DOCUMENT, re.MULTILINE)
    assert heading is not None
    section = DOCUMENT[heading.end() :].partition("\n## Adding ")[0]
    named = re.findall(r"^`(\S+)`(?:, (?:before|below) `[^`]+`)?:$", section, re.MULTILINE)
    assert len(named) == len(PARTS[title])
    for path, place in zip(named, PARTS[title], strict=True):
        assert path.startswith(place)
