"""The public interface itself: its names, what they cost, and which errors it raises."""

from __future__ import annotations

import ast
import contextlib
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from tests.collection import Sample, collect

DOOR = Path(netsharp.__file__)
#: One row of one cell under a kernel of more dimensions than anybody can compute.
ONES = ", ".join(["1"] * 33)
DEEP_KERNEL = f"""\
input A [{ONES}];
hidden C [{ONES}] from A convolve {{ InputShape = [{ONES}]; KernelShape = [{ONES}]; }}
output O auto softmax from C all;
"""
LARGE = """\
input A auto;
hidden H [2000000] from A all;
hidden G [2000000] from H all;
output O auto softmax from G all;
"""
#: A condition that connects every node with every other.
MANY_PAIRS = """\
input A auto;
hidden H [4000] from A all;  hidden G [4000] from H where (s, d) => s[0] >= 0 || d[0] >= 0;
output O auto softmax from G all;
"""
SMALL = "input A auto; output O auto softmax from A all;"


def python(code: str, *, without: str = "") -> list[str]:
    """What a fresh Python prints that runs the code, without a package if asked, by lines."""
    missing = f"import sys; sys.modules[{without!r}] = None\n" if without else ""
    command = [sys.executable, "-c", missing + code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def typed_names() -> set[str]:
    """The names that type checkers find in the interface."""
    tree = ast.parse(DOOR.read_text(encoding="utf-8"))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.asname for node in imported for alias in node.names if alias.asname}


def test_type_checkers_and_python_see_the_same_names() -> None:
    assert sorted(typed_names()) == netsharp.__all__
    for name in netsharp.__all__:
        assert getattr(netsharp, name) is not None


def test_dir_has_the_public_names_and_no_others() -> None:
    shown = {name for name in dir(netsharp) if not name.startswith("__")}
    assert shown | {"__version__"} == set(netsharp.__all__)


@pytest.mark.costly
def test_a_star_takes_all_that_can_be_had() -> None:
    code = "from netsharp import *\nprint(*sorted(globals()))"
    public = {name for name in netsharp.__all__ if not name.startswith("__")}
    (everything,) = python(code)
    assert public <= set(everything.split())
    (less,) = python(code, without="sklearn")
    assert public - set(less.split()) == {"NetSharpClassifier", "NetSharpRegressor"}
    python("import netsharp; help(netsharp)", without="sklearn")


def test_an_import_reads_nothing_that_takes_time() -> None:
    code = "import sys; import netsharp; print(*sys.modules)"
    (bare,), (loaded,) = python("import sys; print(*sys.modules)"), python(code)
    came = set(loaded.split()) - set(bare.split())
    assert came == {"__future__", "netsharp", "netsharp_lsp"}


def test_values_and_errors_can_be_pickled() -> None:
    (found, *_) = netsharp.check("input A [0];")
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(netsharp.SpecificationError) as caught:
        netsharp.describe("output B [1] linear from X all; input A [1];")
    error = pickle.loads(pickle.dumps(caught.value))
    assert (str(error), error.diagnostics) == (str(caught.value), caught.value.diagnostics)
    assert (error.code, error.line, error.column) == ("NS035", 1, 26)
    # Where earlier versions kept them.
    assert pickle.loads(b"cnetsharp\nDiagnostic\n.") is netsharp.Diagnostic
    named = b"cnetsharp_lsp.estimators\nNetSharpClassifier\n."
    assert pickle.loads(named) is netsharp.NetSharpClassifier
    assert pickle.loads(b"cnetsharp_engine.model\nModel\n.") is netsharp.Model


def estimated(text: str, x: np.ndarray, y: np.ndarray) -> Any:
    return netsharp.NetSharpClassifier(text, max_iter=1).fit(x, y)


def trained(text: str, x: np.ndarray, y: np.ndarray) -> Any:
    return netsharp.train(text, x, y, epochs=1)


@pytest.mark.parametrize("act", [trained, estimated])
@pytest.mark.parametrize(
    ("text", "says", "place"),
    [
        (DEEP_KERNEL, "33 dimensions", "convolve {"),
        (LARGE, "of memory", "G ["),
        (MANY_PAIRS, "makes more than", "where"),
    ],
)
def test_a_network_that_cannot_be_computed_is_a_training_error_with_a_place(
    act: Any, text: str, says: str, place: str
) -> None:
    with pytest.raises(netsharp.TrainingError, match=says) as caught:
        act(text, np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    error = pickle.loads(pickle.dumps(caught.value))
    before = text[: text.index(place)].split("\n")
    assert (error.line, error.column) == (len(before), len(before[-1]) + 1)
    assert str(error) == str(caught.value)


def test_a_training_error_about_the_data_has_no_place() -> None:
    with pytest.raises(netsharp.TrainingError) as caught:
        netsharp.train(SMALL, np.eye(2), [0, 1], learning_rate=1e300, epochs=1)
    assert (caught.value.line, caught.value.column) == (None, None)


@pytest.mark.parametrize("act", [trained, estimated])
@pytest.mark.parametrize("mark", ["", " // netsharp: ignore[NS050]"])
def test_errors_of_a_specification_are_one_class_with_a_place(act: Any, mark: str) -> None:
    text = f"input A [0];{mark}\noutput B auto softmax from A all;\n"
    with pytest.raises(netsharp.SpecificationError, match="line 1, column 10: NS050") as caught:
        act(text, np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    assert (caught.value.code, caught.value.line, caught.value.column) == ("NS050", 1, 10)


def data_for(sample: Sample, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """As many columns and classes as the network has; some where they are unknown."""
    layers: list[dict[str, Any]] = []
    with contextlib.suppress(netsharp.SpecificationError):
        layers = netsharp.describe(sample.text.decode())["layers"]
    features = sum(layer["nodes"] or 3 for layer in layers if layer["kind"] == "input")
    (outputs,) = [layer["nodes"] for layer in layers if layer["kind"] == "output"][:1] or [3]
    classes = min(max(outputs or 3, 2), 20)
    return random.normal(size=(2 * classes, min(features or 3, 2000))), np.arange(
        2 * classes
    ) % classes


@pytest.mark.costly
@pytest.mark.parametrize("act", [trained, estimated])
def test_no_text_brings_an_error_of_the_engines_inside(act: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    samples = collect()
    outcomes: dict[str, int] = {}
    for sample in samples:
        x, y = data_for(sample, random)
        try:
            act(sample.text.decode(), x, y)
            outcome = "trained"
        except ValueError as error:
            outcome = type(error).__name__
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    assert len(samples) > 300
    assert outcomes["trained"] > 100, outcomes
    assert outcomes["SpecificationError"] > 100, outcomes
    assert set(outcomes) <= {"trained", "SpecificationError", "TrainingError", "ValueError"}
