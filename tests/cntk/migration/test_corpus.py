"""Every network of NDL in the corpus that evaluates is migrated and proven equal, but for those
that only a person can change.
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
#: Values of the variables that the corpus leaves to whoever uses it.
VARIABLES = b"dim = 7\nwhich = small\nimageLayout = cudnn\nNdlDir = ndl\n"
#: What has no form in BrainScript, by the rule that says so.
LEFT = {"ndl/optional_spellings.ndl": "MG31"}
#: Networks that are proven, at least; what does not evaluate is not counted.
FEWEST = 13


def texts_of(file: CntkFile) -> dict[str, bytes]:
    return {"train.cntk": VARIABLES + moving.AROUND.encode(), "network.ndl": file.data}


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
