"""Commands: what they lack, which are run, which network and model each one works on."""

from __future__ import annotations

import pytest

from tests.cntk.rules.experiments import DIGITS, changed, codes, reported

LACKING = [
    ("        maxEpochs = 4\n", "", "CK070", "SGD"),
    ('modelPath = "out/digits"\n', "", "CK070", "Train"),
    ("        learningRatesPerMB = 0.5*2:0.1\n", "", "CK061", "SGD"),
    ('    outputPath = "out/values"\n', "", "CK075", "Write"),
    ('        file = "train.txt"\n', "", "CK070", "reader"),
    ("features = { dim = 16 ; ", "features = { ", "CK074", "features"),
    ("features = { dim = 16 ; format = dense", "features = { dim = 16", "CK074", "features"),
    ("features = { dim = 16 ; format = dense ; alias = x }", "features = 16", "CK074", "features"),
]


@pytest.mark.parametrize(("before", "after", "code", "marked"), LACKING)
def test_one_thing_that_is_lacking_is_an_error(
    before: str, after: str, code: str, marked: str
) -> None:
    text = changed(before, after)
    if "learningRates" in before:
        text = changed("autoAdjustLR = adjustAfterEpoch", "autoAdjustLR = none", text)
    found = [one for one in reported(text) if one.severity == "error"]
    assert (found[0].code, found[0].marked) == (code, marked)
    assert {one.code for one in found} == {code}


def test_an_option_around_the_block_is_found() -> None:
    text = changed("        maxEpochs = 4\n", "")
    assert reported(f"maxEpochs = 4\n{text}") == []


def test_searching_needs_no_rate() -> None:
    text = changed("        learningRatesPerMB = 0.5*2:0.1\n", "")
    assert codes(reported(text)) == []


SKETCH = "command = T\nT = { action = train ; SGD = { learningRatesPerMB = 1 } }\n"


def test_a_sketch_is_reported_only_where_someone_runs_it() -> None:
    assert codes(reported(SKETCH)) == []
    found = reported(SKETCH, declared=True)
    assert sorted(codes(found)) == ["CK070", "CK070", "CK070", "CK072"]
    assert {one.severity for one in found} == {"error"}


def test_what_is_left_out_on_purpose_is_not_missed() -> None:
    text = changed("        maxEpochs = 4\n", "        ...\n")
    assert "CK070" not in codes(reported(text))


def test_a_layer_that_another_file_completes() -> None:
    text = changed("command = Train:Test:Write", "command = Test", DIGITS)
    before, _, rest = text.partition("Test = {")
    layer = before + "Test = {" + rest.replace("    reader = {", "    noReader = {", 1)
    (one,) = (it for it in reported(layer) if it.code == "CK070")
    assert one.severity == "info"
    declared = reported(layer, declared=True)
    assert [it.severity for it in declared if it.code == "CK070"] == ["error"]


RUNS = [
    ("command = Train:Test:Write", "command = Train:Tst:Write", "CK081", "Tst", "error"),
    ("command = Train:Test:Write", "command = Train:Test:Write:test", "CK083", "test", "warning"),
    ("command = Train:Test:Write", "command = Train Test:Write", "CK085", "Train Test", "warning"),
    ("command = Train:Test:Write", "command = Train,Test,Write", "CK085", "Test", "warning"),
    ("command = Train:Test:Write", "command = Train:Test", "CK086", "Write", "hint"),
    ("action = test", "action = Test", "CK080", "Test", "error"),
    ("action = test", "action = tset", "CK080", "tset", "error"),
    ("action = train", "action = train:tests", "CK080", "tests", "error"),
    ("    action = train\n", "", "CK082", "Train", "info"),
]


@pytest.mark.parametrize(("before", "after", "code", "marked", "severity"), RUNS)
def test_commands_and_actions(
    before: str, after: str, code: str, marked: str, severity: str
) -> None:
    found = [one for one in reported(changed(before, after)) if one.code == code]
    assert (found[0].marked, found[0].severity) == (marked, severity)


def test_nothing_rests_on_an_action_that_does_not_exist() -> None:
    assert codes(reported(changed("action = test", "action = tset"))) == ["CK080"]
    unlike = changed("action = write", "action = publish")
    assert [it.code for it in reported(unlike) if it.severity != "hint"] == ["CK080"]


def test_a_misspelling_that_stops_the_program_is_an_error() -> None:
    for before, after in (
        ("outputPath =", "outputPth ="),
        ("BrainScriptNetworkBuilder =", "BrainScriptNetworkBulder ="),
    ):
        (one,) = (it for it in reported(changed(before, after)) if it.code == "CK040")
        assert one.severity == "error"


def test_names_of_commands_are_compared_without_case() -> None:
    assert reported(changed("command = Train:Test:Write", "command = train:TEST:write")) == []


def test_a_command_that_a_variable_names_is_not_known() -> None:
    found = reported(changed("command = Train:Test:Write", "command = $What$"))
    assert not {"CK081", "CK085", "CK086"} & set(codes(found))


NETWORK = DIGITS[DIGITS.index("    BrainScriptNetworkBuilder") : DIGITS.index("    SGD = {")]


def test_a_builder_in_the_test_and_one_around_it() -> None:
    own = changed("    action = test\n", f"    action = test\n{NETWORK}")
    (one,) = (it for it in reported(own) if it.code == "CK090")
    assert one.marked == "BrainScriptNetworkBuilder"
    around = NETWORK + DIGITS.replace(NETWORK, "")
    found = [it for it in reported(around) if it.code == "CK090"]
    assert [it.marked for it in found] == ["Test", "Write"]
    assert "found further out" in found[0].message


def test_builders_that_load_the_model_are_meant() -> None:
    load = '    BrainScriptNetworkBuilder = (BS.Network.Load ("out/digits"))\n'
    text = changed("    action = test\n", f"    action = test\n{load}")
    assert "CK090" not in codes(reported(text))


def test_cv_takes_models_whatever_builds() -> None:
    cv = "    action = cv\n    crossValidationInterval = 1:1:4\n"
    text = changed("    action = test\n", f"{cv}{NETWORK}")
    assert "CK090" not in codes(reported(text))


MODELS = [
    ('    modelPath = "out/other"\n', {}, True),
    ('    modelPath = "out/digits.3"\n', {}, False),
    ('    modelPath = "out\\digits"\n', {}, False),
    ('    modelPath = "$Dir$/other"\n', {}, False),
    ('    modelPath = "kept/model"\n', {"kept/model": ""}, False),
]


@pytest.mark.parametrize(("line", "files", "missing"), MODELS)
def test_models_that_no_one_writes(line: str, files: dict[str, str], missing: bool) -> None:
    text = changed("    action = test\n", f"    action = test\n{line}")
    found = [one for one in reported(text, files=files) if one.code == "CK091"]
    assert [one.severity for one in found] == ["info"] * missing


def test_a_model_that_is_written_later() -> None:
    text = changed("command = Train:Test:Write", "command = Test:Train:Write")
    (one,) = (it for it in reported(text) if it.code == "CK091")
    assert "'Train', which writes it, is run later or not at all" in one.message


def test_which_builder_counts() -> None:
    simple = (
        "SimpleNetworkBuilder = { layerSizes = 16:8:3 ; trainingCriterion = squareError\n"
        "evalCriterion = squareError }\n"
    )
    (one,) = (it for it in reported(simple + DIGITS) if it.code == "CK092")
    assert one.marked == "BrainScriptNetworkBuilder"
    assert "around it" in one.message
    outer = NETWORK + DIGITS.replace(NETWORK, f"    {simple}")
    assert "CK092" not in codes(reported(outer))


def test_the_same_model_trained_twice() -> None:
    more = DIGITS[DIGITS.index("Train = {") : DIGITS.index("Test = {")]
    text = changed("command = Train:", "command = Train:Again:") + more.replace("Train", "Again")
    (one,) = (it for it in reported(text) if it.code == "CK100")
    assert one.marked == "Again"
    assert "CK100" not in codes(reported(f"makeMode = false\n{text}"))
    other = text.replace("Again = {\n", 'Again = {\n    modelPath = "out/again"\n')
    assert "CK100" not in codes(reported(other))


FILES = [
    ('    action = edit\n    editPath = "e.mel"\n', ["CK116"]),
    ('    action = edit\n    editPath = "$Dir$/e.mel"\n', []),
    ('    action = train\n    NDLNetworkBuilder = { networkDescription = "n.ndl" }\n', ["CK116"]),
    (
        '    action = train\n    NDLNetworkBuilder = { networkDescription = "n.ndl"\n'
        'ndlMacros = "m.ndl+o.ndl" }\n',
        ["CK116", "CK116", "CK116"],
    ),
]


@pytest.mark.parametrize(("lines", "expected"), FILES)
def test_texts_that_are_not_there(lines: str, expected: list[str]) -> None:
    found = [one for one in reported(f"command = E\nE = {{\n{lines}}}\n") if one.code == "CK116"]
    assert [one.code for one in found] == expected
    assert {one.severity for one in found} <= {"error"}


def test_a_network_that_is_never_built_is_no_error() -> None:
    text = """command = {}:Go
modelPath = "out/small"
Shrink = {{ action = SVD ; modelPath = "out/large" ; outputmodelPath = "out/small.0" }}
Other = {{ action = SVD ; modelPath = "out/large" ; outputmodelPath = "out/other.0" }}
Go = {{ action = train ; NDLNetworkBuilder = {{ networkDescription = "lost.ndl" }} }}
"""
    graves = []
    for before in ("Shrink", "Other", "Go:Shrink"):
        found = reported(text.format(before))
        graves.append([one.severity for one in found if one.code == "CK116"])
    assert graves == [["warning"], ["error"], ["error"]]


def test_data_that_are_not_there() -> None:
    text = changed('file = "train.txt"', 'file = "trian.txt"')
    (one,) = reported(text)
    assert (one.code, one.severity, one.marked) == ("CK117", "info", "trian.txt")
    unknown = reported(changed('file = "train.txt"', 'file = "$Dir$/trian.txt"'))
    assert "CK117" not in codes(unknown)


def test_data_that_are_not_there_are_reported_once_a_reader() -> None:
    one = 'type = "CNTKTextFormatDeserializer" ; module = "CNTKTextFormatReader" ; file = "{}"'
    text = f"""command = Train:Test
Train = {{ action = train ; reader = {{ deserializers = (
    {{ {one.format("a.txt")} ; input = {{ a = {{ dim = 4 ; format = dense }} }} }} :
    {{ {one.format("b.txt")} ; input = {{ b = {{ dim = 2 ; format = dense }} }} }} )
}} }}
Test = {{ action = test ; reader = {{ file = "c.txt" }} }}
"""
    found = [one for one in reported(text) if one.code == "CK117"]
    assert [(one.severity, one.marked) for one in found] == [("hint", "a.txt"), ("hint", "c.txt")]
    assert "'b.txt' does not exist either." in found[0].message
    found = [one for one in reported(text.replace("c.txt", "train.txt")) if one.code == "CK117"]
    assert [(one.severity, one.marked) for one in found] == [("info", "a.txt")]
