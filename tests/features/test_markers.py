"""What features of an editor answer: `cases/*/*.nn`, expectations rewritten by `--update`."""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path

import pytest

from netsharp_lsp.language import language_for
from tests.features.answering import FEATURES, Asked
from tests.features.markers import read_case

CASES = Path(__file__).parent / "cases"
FILES = sorted(CASES.glob("*/*.nn"))
#: So many questions are asked of each feature.
FEWEST = 8
ALTOGETHER = 300


def content_of(path: Path) -> str:
    return path.read_bytes().decode()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_case(path: Path, update: bool) -> None:
    content = content_of(path)
    case = read_case(content)
    snapshot = language_for(path.name).open(case.text, case.context)
    answers = [FEATURES[marker.feature](Asked(snapshot, marker)) for marker in case.markers]
    answered = case.rendered(answers)
    if update and answered != content:
        path.write_bytes(answered.encode())
    elif answered != content:
        lines = difflib.unified_diff(
            content.splitlines(), answered.splitlines(), "expected", "answered", lineterm=""
        )
        pytest.fail("\n".join((f"{path.name}: see `pytest --update`", *lines)), pytrace=False)


def test_each_feature_is_asked_often_enough() -> None:
    asked = Counter(
        marker.feature for path in FILES for marker in read_case(content_of(path)).markers
    )
    assert {feature: asked[feature] for feature in FEATURES if asked[feature] < FEWEST} == {}
    assert asked.total() >= ALTOGETHER


@pytest.mark.parametrize(
    ("content", "pointed"),
    [
        ("const one = 1;\n//    ^^^ hover\n", "one"),
        ("const one = 1;\n//<^^^^^ hover\n//| x\n", "const"),
        ("// 😀é\n/* é */ const a = 1;\n//      ^^^^^ hover\n", "const"),
        ("const a = 1;\n//| lost\n//          ^ hover\n", ""),
    ],
)
def test_a_marker_points_at_the_columns_of_the_line_above(content: str, pointed: str) -> None:
    case = read_case(content)
    (marker,) = case.markers
    assert case.text[marker.start : marker.end].decode() == pointed
    assert b"hover" not in case.text


def test_a_marker_beyond_its_line_is_a_fault() -> None:
    with pytest.raises(ValueError, match="outside the line"):
        read_case("a;\n//   ^^ hover\n")


def test_the_context_has_origins() -> None:
    case = read_case("//% features=784@digits.toml task=multiclass\ninput a auto;\n")
    assert case.context.features == 784
    assert case.context.task == "multiclass"
    assert case.context.origin == {"features": "digits.toml"}
    assert case.text == b"input a auto;\n"


def test_expectations_are_put_below_their_markers() -> None:
    case = read_case("a\n//<^ hover\n//| old\nb\n//: symbols\n")
    assert case.rendered([["new", "", "two"], []]) == (
        "a\n//<^ hover\n//| new\n//|\n//| two\nb\n//: symbols\n"
    )
