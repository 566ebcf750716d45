"""What people type who know other frameworks: the message says what Net# has, the fix works."""

from __future__ import annotations

import pytest

from tests.rules.rule_checks import convolution, diagnostics, fixed, only, severe

SHARP = ("InputShape = [1, 28, 28]", "KernelShape = [1, 5, 5]")
SOURCE = "input I [1, 28, 28];"


def layer(words: str) -> str:
    return f"input X [10];\nhidden H [20] {words};\noutput O [2] softmax from H all;\n"


@pytest.mark.parametrize("word", ["to", "of", "with"])
def test_a_preposition_in_the_place_of_from_is_replaced(word: str) -> None:
    text = layer(f"tanh {word} X all")
    found = only(text, "NS018")
    assert f"found '{word}'" in found.message
    assert found.fix is not None
    assert found.fix.safe
    assert fixed(text, "NS018") == layer("tanh from X all")


@pytest.mark.parametrize(
    ("words", "safe"), [("tanh X all", True), ("tanh X dense", True), ("tanh Y Z X all", False)]
)
def test_from_is_put_in_safely_where_a_source_follows(words: str, safe: bool) -> None:
    found = only(layer(words), "NS018")
    assert found.fix is not None
    assert found.fix.safe == safe


@pytest.mark.parametrize(
    ("size", "written", "code", "meant"),
    [
        ("[16, 28, 28]", 'Padding = "same"', "NS029", "Padding = true;"),
        ("[16, 24, 24]", "padding = 'valid'", "NS029", "padding = false;"),
        ("[16, 28, 28]", "Padding = same", "NS040", "Padding = true;"),
        ("[16, 24, 24]", "Padding = VALID", "NS040", "Padding = false;"),
    ],
)
def test_padding_by_name_is_true_or_false(size: str, written: str, code: str, meant: str) -> None:
    text = convolution(size, *SHARP, written, "MapCount = 16", source=SOURCE)
    assert severe(text)[0][0] == code
    assert f"is {meant.split()[2].rstrip(';')}." in only(text, code).message.replace(
        "Padding = ", ""
    )
    assert meant in fixed(text, code)
    assert not [d for d in diagnostics(fixed(text, code)) if d.severity == "error"]


def test_a_constant_may_be_called_same() -> None:
    text = "const same = true;\n" + convolution(
        "[28, 28]",
        "InputShape = [28, 28]",
        "KernelShape = [5, 5]",
        "Padding = same",
        source="input I [28, 28];",
    )
    assert severe(text) == []


def test_one_number_of_maps_that_gives_the_declared_size_is_offered() -> None:
    maps = ("Padding = [false, true, true]", "MapCount = [16, 16, 16]")
    text = convolution("[16, 28, 28]", *SHARP, *maps, source=SOURCE)
    assert "MapCount = 16;" in fixed(text, "NS074")
    assert severe(fixed(text, "NS074")) == []
    other = convolution("[8, 28, 28]", *SHARP, *maps, source=SOURCE)
    assert "MapCount = [16, 16, 16];" in fixed(other, "NS074")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("relu dropout 0.5 from X all", "no dropout"),
        ("dropout(0.5) from X all", "no dropout"),
        ("from X dropout 0.5", "no dropout"),
        ("from X dropout", "no dropout"),
        ("from X all dropout 0.5", "no dropout"),
        ("from X all { dropout = 0.5; }", "no dropout"),
        ("from X BatchNormalization", "no batch normalization"),
        ("batch_norm from X all", "no batch normalization"),
        ("from X flatten", "no flatten"),
        ("from X lstm", "no layers over time"),
    ],
)
def test_what_net_sharp_has_not_is_reported(words: str, says: str) -> None:
    message = [d for d in diagnostics(layer(words)) if d.severity == "error"]
    assert says in message[0].message
    assert not [d for d in message if d.fix is not None and d.fix.safe]


@pytest.mark.parametrize("declared", ["dropout 0.5;", "Dropout D [20] from H all;"])
def test_a_layer_that_net_sharp_has_not_is_reported(declared: str) -> None:
    text = layer("from X all").replace("output", f"{declared}\noutput")
    assert any("no dropout" in d.message for d in diagnostics(text))


@pytest.mark.parametrize(
    ("written", "meant"),
    [("out_channels = 8", "MapCount"), ("filters = 8", "MapCount"), ("nb_filters = 8", "MapCount")],
)
def test_attributes_of_other_frameworks_are_known(written: str, meant: str) -> None:
    text = convolution("[8, 24, 24]", *SHARP, written, source=SOURCE)
    assert f"Did you mean '{meant}'?" in only(text, "NS061").message
    assert severe(fixed(text, "NS061")) == []


@pytest.mark.parametrize(
    ("word", "meant", "safe"),
    [
        *((word, "softmax", False) for word in ("log_softmax", "softmin", "softmax2d")),
        *((word, "sigmoid", False) for word in ("logit", "log_sigmoid", "logsig", "sinusoid")),
        *((word, "tanh", False) for word in ("atanh", "tan")),
        *((word, "brlinear", False) for word in ("hard_sigmoid", "hardsigmoid", "hard")),
        ("abs2", "abs", False),
        ("sqr", "sqrt", False),
        *((word, "sigmoid", True) for word in ("sigmod", "logistic", "sigmoidd")),
        *((word, "tanh", True) for word in ("tahn", "tansig")),
        *((word, "softmax", True) for word in ("soft_max", "sofmax")),
        *(("relu", "rlinear", True), ("softplus", "srlinear", True), ("squared", "square", True)),
    ],
)
@pytest.mark.parametrize(
    ("code", "words"),
    [("NS017", "{} from X all"), ("NS016", "from X all {{ Activation = {}; }}")],
)
def test_another_function_is_no_misspelling(
    word: str, meant: str, safe: bool, code: str, words: str
) -> None:
    fix = only(layer(words.format(word)), code).fix
    assert fix is not None
    assert (fix.edits[0].text.strip(), fix.safe) == (meant, safe)
