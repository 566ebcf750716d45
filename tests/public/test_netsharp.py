"""The public interface does what its docstrings say."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp

NETWORK = """\
input Data auto;
hidden H [6] tanh from Data all;
output Out auto softmax from H all;
"""


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(20151)
    centres = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0]])
    labels = np.repeat(np.arange(3), 40)
    return centres[labels] + random.normal(size=(120, 3)), labels


def test_examples_in_the_docstring() -> None:
    assert doctest.testmod(netsharp).failed == 0


def test_check_gives_places_in_code_points() -> None:
    (found,) = [
        each
        for each in netsharp.check("// é\ninput A [0]; output B [1] linear from A all;")
        if each.severity == "error"
    ]
    assert (found.code, found.line, found.column, found.end_column) == ("NS050", 2, 10, 11)


def test_check_takes_a_context_and_a_path(tmp_path: Path) -> None:
    file = tmp_path / "net.nn"
    file.write_text("input A [3]; output B [2] softmax from A all;")
    assert [each.code for each in netsharp.check(file, features=4)] == ["NS081"]


def test_a_byte_order_mark_in_front_of_a_text_is_no_fault() -> None:
    text = "input Data [4]; output Out [3] softmax from Data all;"
    assert netsharp.check(f"\ufeff{text}") == netsharp.check(text) == []


def test_suppressions_hold_here_too() -> None:
    text = "input A [0]; // netsharp: ignore[NS050]\noutput B [1] linear from A all;"
    assert "NS050" not in [each.code for each in netsharp.check(text)]


def test_format_and_describe() -> None:
    assert netsharp.format("input   A[3];") == "input A [3];\n"
    assert netsharp.describe(NETWORK, features=3, outputs=3)["parameters"] == 45
    assert netsharp.describe(NETWORK)["parameters"] is None
    with pytest.raises(netsharp.SpecificationError, match="line 1, column 26: NS035") as caught:
        netsharp.describe("output B [1] linear from X all; input A [1];")
    assert caught.value.diagnostics[0].code == "NS035"


def test_train_save_load_predict(tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = blobs
    model = netsharp.train(NETWORK, x, y, epochs=30, learning_rate=0.1, seed=4)
    answers = netsharp.predict(model, x)
    assert np.mean(answers.astype(int) == y) > 0.9
    path = tmp_path / "model.safetensors"
    netsharp.save(model, path)
    assert np.array_equal(netsharp.predict(path, x), answers)
    again = netsharp.load(path).predict(x.astype(np.float32)).probabilities
    assert again is not None
    assert again.shape == (120, 3)


def test_train_from_files(tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = blobs
    rows = [f"{a:.4f},{b:.4f},{c:.4f},{label}" for (a, b, c), label in zip(x, y, strict=True)]
    file = tmp_path / "blobs.csv"
    file.write_text("\n".join(["a,b,c,class", *rows]) + "\n")
    model = netsharp.train(NETWORK, train=str(file), label="class", epochs=20, learning_rate=0.1)
    assert model.reports[-1].metrics["accuracy"] > 0.9


def test_faults_are_sentences(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = blobs
    with pytest.raises(ValueError, match="Did you mean 'epochs'"):
        netsharp.train(NETWORK, x, y, epoch=3)
    with pytest.raises(netsharp.SpecificationError, match="NS081"):
        netsharp.train(NETWORK.replace("Data auto", "Data [5]"), x, y)
    model = netsharp.train(NETWORK, x, y, epochs=1)
    with pytest.raises(ValueError, match="rows of 3 features"):
        netsharp.predict(model, x[:, :2])
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        netsharp.nothing  # noqa: B018


@pytest.mark.parametrize("half", [0xD800, 0xDFFF, 0xDC80])
def test_half_of_a_character_is_a_sentence_with_its_place(half: int) -> None:
    text = f"input A [2];\r\n// é{chr(half)}\n"
    place = f"U\\+{half:04X} at line 2, column 5 is a lone surrogate"
    arrays = ([[0.0, 1.0]], ["a"])
    for act in (
        lambda: netsharp.check(text),
        lambda: netsharp.format(text),
        lambda: netsharp.describe(text),
        lambda: netsharp.train(text, *arrays),
    ):
        with pytest.raises(ValueError, match=place) as caught:
            act()
        assert type(caught.value) is ValueError


@pytest.mark.parametrize("name", ["a\ud800.nn", "a\0b.nn"])
def test_what_can_name_no_file_is_a_sentence(name: str) -> None:
    for act in (lambda: netsharp.load(name), lambda: netsharp.check(Path(name))):
        with pytest.raises(ValueError, match="names no file: it holds") as caught:
            act()
        assert type(caught.value) is ValueError
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "known",
    [
        {"features": 0},
        {"features": 10**5000},
        {"outputs": -1},
        {"hidden_nodes": True},
        {"hidden_nodes": 1.5},
        {"task": "\ud800"},
        {"host": "none"},
    ],
)
def test_what_cannot_be_known_is_a_sentence(known: dict[str, Any]) -> None:
    (name,) = known
    for act in (netsharp.check, netsharp.describe):
        with pytest.raises(ValueError, match=f"^{name} must be ") as caught:
            act("input A auto;\noutput O [2] from A all;\n", **known)
        str(caught.value).encode()
