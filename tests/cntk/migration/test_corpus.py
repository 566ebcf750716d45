"""Every network of NDL in the corpus that evaluates is migrated and proven equal, except those that
only a person can change.
"""

from __future__ import annotations

import pytest

from tests.cntk.collection import FILES, CntkFile
from tests.cntk.migration import moving
from tests.cntk.migration.moving import units_of

NDL = [file for file in FILES if file.id == "ndl"]
CONFIGURATIONS = [
    file for file in FILES if file.id == "cntk" and b"ndlnetworkbuilder" in file.data.lower()
]
#: Values of the variables that the corpus leaves to its user.
VARIABLES = b"dim = 7\nwhich = small\nimageLayout = cudnn\nNdlDir = ndl\n"
#: What has no form in BrainScript, by the rule that says so.
LEFT = {"ndl/optional_spellings.ndl": "MG31"}
#: What is missing or wrong in texts that CNTK refuses as they are, so that it builds them.
MENDED: dict[str, tuple[tuple[bytes, bytes], ...]] = {
    "ndl/criteria.ndl": (
        (b"l = Input(10) z", b"l = Input(10, tag = feature) four = Input(4) W = Input(2) z"),
        (b"Softmax(l, z, z, z)", b"Softmax(four, z, p, W)"),
        (b"CBCEWithSM(l, z, z, z)", b"CBCEWithSM(four, z, p, W)"),
        (b"one = Constant(1)", b"p = Parameter(10, 2) one = Constant(1)"),
    ),
    "ndl/delays.ndl": ((b"50, dynamicAxis = t", b"50, tag = feature"),),
    "ndl/elementwise.ndl": ((b"a = Input(4)", b"a = Input(4, tag = feature)"),),
    "ndl/glued_macro.ndl": ((b"Input(1)", b"Input(1, tag = feature)"),),
    "ndl/macro_of_macros.ndl": (
        (b"A(x) = B(x)\nB(x) = C(Tanh(x))\n", b""),
        (b"D(x, y) = Plus(x, y)\n", b""),
        (b"C(x) {", b"D(x, y) = Plus(x, y)\nC(x) {"),
        (b"v = A(Input(3))", b"B(x) = C(x)\nA(x) = B(x)\ni = Input(3, tag = feature)\nv = A(i)"),
    ),
    "ndl/optional_spellings.ndl": ((b"a = ", b"x = Input(3, tag = feature)\na = "),),
    "ndl/several_sections.ndl": ((b"InputValue(3)", b"InputValue(3, tag = feature)"),),
    "ndl/trailing_comments.ndl": ((b"Input(3)", b"Input(3, tag = feature)"),),
    "ndl/two_layers_by_hand.ndl": (
        (b"criterionNodes = (ce); evalNodes = (er); outputNodes = (z, h)\n", b""),
        (b"(l, z)\ner", b"(l, z)\noutputNodes = (z, h)\ncriterionNodes = (ce)\ner"),
    ),
}
#: Networks that are proven, at least; what does not evaluate is not counted.
FEWEST = 15


def texts_of(file: CntkFile) -> dict[str, bytes]:
    data = file.data
    for wrong, right in MENDED.get(file.name, ()):
        assert wrong in data, (file.name, wrong)
        data = data.replace(wrong, right, 1)
    return {"train.cntk": VARIABLES + moving.AROUND.encode(), "network.ndl": data}


@pytest.mark.parametrize("file", NDL, ids=lambda file: file.name)
def test_a_network_that_evaluates_is_proven_equal(file: CntkFile) -> None:
    for unit in units_of(texts_of(file)):
        plan = unit.migrated()
        blocking = {todo.rule for todo in plan.todo if todo.blocks}
        if file.name in LEFT:
            assert blocking == {LEFT[file.name]}
            continue
        unproven = [one for one in plan.networks if one.status == "unproven"]
        assert {one.status for one in plan.networks} <= {"equal", "none", "unproven"}
        assert plan.fails == bool(unproven)
        assert blocking == ({"MG01"} if unproven else set())


def test_enough_is_proven() -> None:
    proven = [
        one
        for file in NDL
        for unit in units_of(texts_of(file))
        for one in unit.migrated().networks
        if one.status == "equal"
    ]
    print(f"{len(proven)} networks of NDL are proven equal")
    assert len(proven) >= FEWEST


@pytest.mark.parametrize("file", CONFIGURATIONS, ids=lambda file: file.name)
def test_configurations_of_the_corpus(file: CntkFile) -> None:
    texts = {one.name: one.data for one in FILES}
    for unit in units_of(texts, runs=[(f"configFile={file.name}",)]):
        plan = unit.migrated()
        assert {one.status for one in plan.networks} <= {"equal", "none", "unproven"}


@pytest.mark.parametrize("file", NDL, ids=lambda file: file.name)
def test_migrating_again_changes_nothing(file: CntkFile) -> None:
    texts = texts_of(file)
    for unit in units_of(texts):
        plan = unit.migrated()
        if not plan.fails:
            texts.update(unit.changed())
            assert units_of(texts) == []


@pytest.mark.parametrize("file", NDL, ids=lambda file: file.name)
def test_any_beginning_of_a_text_is_survived(file: CntkFile) -> None:
    for part in range(1, 6):
        cut = file.data[: len(file.data) * part // 6]
        texts = {**texts_of(file), "network.ndl": cut}
        for unit in units_of(texts):
            assert {one.status for one in unit.migrated().networks} <= {
                "equal",
                "none",
                "unproven",
                "different",
            }
