"""Keys that nothing reads: reported wherever they are misspelt, and never where they are read."""

from __future__ import annotations

import re

import pytest

from tests.cntk.rules.experiments import DIGITS, Reported, changed, codes, reported

#: Keys of the complete experiment that are options, by the line that they stand in.
KEYS = sorted(
    {
        key
        for key in re.findall(r"(?:^|;|\{)\s*([A-Za-z]\w+) =", DIGITS, re.MULTILINE)
        if len(key) > 4
    }
    - {"Train", "Write", "features", "labels", "featureNodes", "labelNodes", "criterionNodes"}
    - {"evaluationNodes", "outputNodes"}
)
ABOUT_KEYS = ("CK040", "CK041", "CK042", "CK044")


def about_keys(found: list[Reported]) -> list[Reported]:
    return [one for one in found if one.code in ABOUT_KEYS]


def test_nothing_is_reported_of_a_complete_experiment() -> None:
    assert reported(DIGITS) == []
    assert reported(DIGITS, declared=True) == []


@pytest.mark.parametrize("key", KEYS)
def test_a_letter_too_few_is_reported_with_the_key_that_is_meant(key: str) -> None:
    misspelling = key[:2] + key[3:]
    text = re.sub(rf"\b{key} =", f"{misspelling} =", DIGITS, count=1)
    (one,) = (it for it in about_keys(reported(text)) if it.marked == misspelling)
    needed = "CNTK stops without it" in one.message
    assert (one.code, one.severity) == ("CK040", "error" if needed else "warning")
    assert f"'{key}'" in one.message
    # Consequences of the misspelling are not reported.
    assert not {"CK061", "CK070", "CK072", "CK073", "CK074", "CK075"} & set(codes(reported(text)))


ON_PURPOSE = ("noReader", "reader2", "SGD_old", "oldSGD", "Reader_of_words")


@pytest.mark.parametrize("key", ON_PURPOSE)
def test_names_made_of_options_are_meant(key: str) -> None:
    text = changed("    action = test\n", f"    action = test\n    {key} = {{ a = 1 }}\n")
    assert [it.code for it in about_keys(reported(text)) if it.marked == key] == ["CK042"]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_that_a_variable_uses_is_left_unchanged(key: str) -> None:
    misspelling = key[:2] + key[3:]
    text = (
        re.sub(rf"\b{key} =", f"{misspelling} =", DIGITS, count=1)
        + f'stderr = "${misspelling}$.log"\n'
    )
    assert [one for one in about_keys(reported(text)) if one.marked == misspelling] == []


CLIMBING = ("maxEpochs = 4", "L2RegWeight = 0.0001", "loadBestModel = true", "maxErrors = 10")


@pytest.mark.parametrize("line", CLIMBING)
@pytest.mark.parametrize("place", ["command = Train:Test:Write\n", "    action = train\n"])
def test_options_may_stand_in_blocks_around(line: str, place: str) -> None:
    text = changed(place, f"{place}    {line}\n", changed(line, ""))
    assert about_keys(reported(text)) == []
    assert "CK070" not in codes(reported(text))


MISPLACED = [
    ("    SGD = {\n", "    SGD = {\n        reader = { file = a }\n", "reader", "warning"),
    ("        maxErrors = 10\n", "        dim = 4\n", "dim", "info"),
    ("    action = test\n", "    action = test\n    outputPath = a\n", "outputPath", "info"),
    ("dense ; alias = x", "dense ; alias = x ; file = a", "file", "info"),
]


@pytest.mark.parametrize(("before", "after", "key", "severity"), MISPLACED)
def test_a_key_where_nothing_reads_it(before: str, after: str, key: str, severity: str) -> None:
    (one,) = about_keys(reported(changed(before, after)))
    assert (one.code, one.severity, one.marked) == ("CK041", severity, key)


def test_blocks_of_ones_own_names_are_read() -> None:
    text = changed("input = {\n", "input = {\n            more = { dim = 1 ; format = dense }\n")
    assert about_keys(reported(text)) == []


def test_a_reader_of_someone_else_may_read_anything() -> None:
    text = changed("readerType = CNTKTextFormatReader", "readerType = OurReader ; depth = 3")
    assert about_keys(reported(text)) == []
    assert "CK101" in codes(reported(text))


def test_keys_for_a_script_of_edits_that_is_not_there() -> None:
    text = "command = E\nE = { action = edit ; editPath = e.mel ; CurModel = m }\n"
    assert about_keys(reported(text)) == []
    here = reported(text, files={"e.mel": "m1 = LoadModel($CurModel$)\n"})
    assert about_keys(here) == []
    (one,) = about_keys(reported(text, files={"e.mel": "m1 = LoadModel(m)\n"}))
    assert (one.code, one.severity, one.marked) == ("CK042", "hint", "CurModel")


def test_a_misspelling_on_the_command_line_is_not_in_any_file() -> None:
    assert about_keys(reported(DIGITS, "Train=[SGD=[maxEpoch=3]]", declared=True)) == []


def test_one_command_that_reads_a_key_is_enough() -> None:
    text = changed("Test = {\n    action = test\n", "Test = {\n    action = test:write\n")
    text = changed("evalNodeNames = err\n", "evalNodeNames = err\n    outputPath = a\n", text)
    assert about_keys(reported(text)) == []
