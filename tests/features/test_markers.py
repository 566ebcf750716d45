"""What features of an editor answer: `cases/*/*`, expectations rewritten by `--update`.

What lies around a text of CNTK is in a folder beside it: `name.files`; every configuration there is
a run, unless `runs.txt` there has the items of one in each line.
"""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.language import language_for
from netsharp_lsp.workspace import GivenFiles, Run, Workspace
from tests.features.answering import FEATURES, Asked
from tests.features.markers import Case, read_case

CASES = Path(__file__).parent / "cases"
#: What begins the marking lines of each kind of file.
MARKS = {".nn": "//", ".bs": "//", ".cntk": "#", ".ndl": "#", ".mel": "#"}
FILES = sorted(path for path in CASES.glob("*/*") if path.suffix in MARKS)
RUNS = "runs.txt"
#: Features that only Net# has.
OF_NETSHARP = frozenset(
    ("add-layer", "body", "convention", "extract", "inline", "padding", "shape", "share")
)
#: The least number of requests for each feature, and for all together.
FEWEST = 8
ALTOGETHER = 300


def content_of(path: Path) -> str:
    return path.read_bytes().decode()


def case_of(path: Path) -> Case:
    return read_case(content_of(path), MARKS[path.suffix])


def context_of(path: Path, case: Case) -> Context:
    """What lies around a text: the files of the case, and a run for each configuration."""
    if path.suffix == ".nn":
        return case.context
    folder = path.with_suffix(".files")
    texts = {one.name: one.read_bytes() for one in sorted(folder.glob("*"))}
    texts[path.name] = case.text
    runs = [Run((f"configFile={name}",)) for name in texts if name.endswith(".cntk")]
    if (folder / RUNS).exists():
        runs = [Run(tuple(line.split())) for line in texts.pop(RUNS).decode().splitlines()]
    return Context(workspace=Workspace(path.name, GivenFiles(texts), tuple(runs)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_case(path: Path, update: bool) -> None:
    content = content_of(path)
    case = case_of(path)
    language = language_for(path.name)
    snapshot = language.open(case.text, context_of(path, case))
    asked = [Asked(snapshot, marker, language) for marker in case.markers]
    answers = [FEATURES[one.marker.feature](one) for one in asked]
    answered = case.rendered(answers)
    if update and answered != content:
        path.write_bytes(answered.encode())
    elif answered != content:
        lines = difflib.unified_diff(
            content.splitlines(), answered.splitlines(), "expected", "answered", lineterm=""
        )
        pytest.fail("\n".join((f"{path.name}: see `pytest --update`", *lines)), pytrace=False)


def test_each_feature_is_asked_often_enough() -> None:
    asked = Counter(marker.feature for path in FILES for marker in case_of(path).markers)
    assert {feature: asked[feature] for feature in FEATURES if asked[feature] < FEWEST} == {}
    assert asked.total() >= ALTOGETHER


def test_each_feature_is_asked_often_enough_of_cntk() -> None:
    files = [path for path in FILES if path.suffix != ".nn"]
    asked = Counter(marker.feature for path in files for marker in case_of(path).markers)
    wanted = FEATURES.keys() - OF_NETSHARP
    assert {feature: asked[feature] for feature in wanted if asked[feature] < FEWEST} == {}
    assert asked.total() >= ALTOGETHER
    assert {path.suffix for path in files} == MARKS.keys() - {".nn"}


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
