"""Values of options: every option of the table with values of every kind."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.options import Block, Option, block
from tests.cntk.rules.experiments import DIGITS, Reported, changed, reported

VALUES = tuple(f"CK05{digit}" for digit in "0123456789")
#: Where the options of a block may be given so that something asks for them.
HOMES = {
    "SGD": ("        L2RegWeight = 0.0001\n", "        LINE\n"),
    "AutoAdjust": ("            loadBestModel = true\n", "            LINE\n"),
    "CNTKTextFormatReader": ("        maxErrors = 10\n", "        LINE\n"),
    "stream": ("dense ; alias = x", "dense ; alias = x ; LINE"),
    "test": ("    minibatchSize = 1024\n", "    minibatchSize = 1024\n    LINE\n"),
    "write": ('    outputPath = "out/values"\n', '    outputPath = "out/values"\n    LINE\n'),
    "format": ("transpose = true", "transpose = true ; LINE"),
    "top level": ("traceLevel = 1\n", "LINE\n"),
}
ROWS = [
    (name, option)
    for name in HOMES
    for one in (block(name),)
    if one is not None
    for option in one
    if option.kind in ("choice", "truth", "number", "integer")
]
IDS = [f"{name}.{option.name}" for name, option in ROWS]


def with_value(name: str, option: Option, value: str) -> list[Reported]:
    """The findings about values where an option has one."""
    before, after = HOMES[name]
    text = changed(before, after.replace("LINE", f"{option.name} = {value}"))
    return [one for one in reported(text) if one.code in VALUES and one.marked == value]


def ordinary(option: Option) -> list[str]:
    """Values that the program takes."""
    middle = "1" if option.span is None or option.span.holds(1) else "0.5"
    kinds = {
        "choice": list(option.values),
        "truth": ["true", "F", "0", "False"],
        "number": [middle, "1e-1" if option.span is None else middle],
        "integer": ["7"],
    }
    return [*kinds[option.kind], *option.values]


@pytest.mark.parametrize(("name", "option"), ROWS, ids=IDS)
def test_what_the_program_takes_is_left_unchanged(name: str, option: Option) -> None:
    for value in ordinary(option):
        assert with_value(name, option, value) == []


WRONG = {"choice": "CK050", "truth": "CK051", "number": "CK052", "integer": "CK052"}


@pytest.mark.parametrize(("name", "option"), ROWS, ids=IDS)
def test_a_word_that_means_nothing_is_reported(name: str, option: Option) -> None:
    (one,) = with_value(name, option, "qqqq")
    assert (one.code, one.severity) == (WRONG[option.kind], "error")
    assert option.name in one.message


@pytest.mark.parametrize(("name", "option"), ROWS, ids=IDS)
def test_an_exponent_is_no_whole_number(name: str, option: Option) -> None:
    if option.kind == "integer":
        (one,) = with_value(name, option, "2e3")
        assert one.code == "CK053"
        assert "2000" in one.message


LISTS = [
    ("minibatchSize = 32:64", "minibatchSize = 32:many", "many", "CK054"),
    ("minibatchSize = 32:64", "minibatchSize = 32:64.5", "64.5", "CK053"),
    ("learningRatesPerMB = 0.5*2:0.1", "learningRatesPerMB = 0.5*2:fast", "fast", "CK054"),
    ("dropoutRate = 0.0*2:0.5", "dropoutRate = 0.0*2:1.0", "1.0", "CK056"),
    ("momentumAsTimeConstant = 0:1024", "momentumAsTimeConstant = -1:1024", "-1", "CK056"),
    ("momentumAsTimeConstant = 0:1024", "momentumPerMB = 0.9:1", "1", "CK056"),
    ("maxEpochs = 4", "maxEpochs = 4:5", "4:5", "CK052"),
    ("useNAG = false", "useNAG = no", "no", "CK051"),
    ("precision = float", "precision = Float", "Float", "CK050"),
    ("format = dense", "format = spare", "spare", "CK050"),
]


@pytest.mark.parametrize(("before", "after", "marked", "code"), LISTS)
def test_values_and_elements(before: str, after: str, marked: str, code: str) -> None:
    found = [one for one in reported(changed(before, after)) if one.code in VALUES]
    assert [(one.code, one.marked, one.severity) for one in found] == [(code, marked, "error")]


TAKEN = [
    "clippingThresholdPerSample = 1#INF",
    "clippingThresholdPerSample = infinity",
    "minLearningRatePerSample = .5e-9",
    "sigFigs = 0x10",
    "gradUpdateType = FSADAGRAD",
    "epochSize = $Size$",
    "learningRatesPerMB = $Rates$",
    "numMBsToShowResult = default",
]


@pytest.mark.parametrize("line", TAKEN)
def test_odd_values_that_the_program_takes(line: str) -> None:
    text = changed("        epochSize = 1000\n", f"        {line}\n")
    assert [one for one in reported(text) if one.code in VALUES] == []


def test_a_value_found_further_out_is_reported_once() -> None:
    text = changed("traceLevel = 1", "traceLevel = much")
    (one,) = (it for it in reported(text) if it.code in VALUES)
    assert (one.code, one.marked) == ("CK052", "much")


def test_a_command_that_is_not_run_stops_nothing() -> None:
    text = changed("command = Train:Test:Write", "command = Test")
    text = changed("useNAG = false", "useNAG = no", text)
    (one,) = (it for it in reported(text) if it.code in VALUES)
    assert (one.code, one.severity) == ("CK051", "warning")


def test_what_only_several_workers_read_stops_nothing() -> None:
    line = "ParallelTrain = { BlockMomentumSGD = { blockLearningRate = low } }"
    (one,) = (it for it in reported(changed("L2RegWeight = 0.0001", line)) if it.code in VALUES)
    assert (one.code, one.severity) == ("CK052", "warning")


def test_truth_of_a_name_that_is_a_block_elsewhere() -> None:
    assert reported(f"parallelTrain = false\n{DIGITS}") == []


def test_tables_say_what_they_are_about() -> None:
    for one in (block("SGD"), block("stream")):
        assert isinstance(one, Block)
        assert one.description.endswith(".")
