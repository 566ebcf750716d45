"""Names and calls of BrainScript: the severity of each finding, and what is proposed."""

from __future__ import annotations

import pytest

from tests.cntk.rules.brainscript_reporting import alone, built, inside, reported


def test_an_unknown_name_is_graver_the_surer_it_fails() -> None:
    assert inside("z = nothing") == [("BS020", "error", "nothing")]
    assert inside("f (x) = nothing\nz = 1") == [
        ("BS032", "hint", "f"),
        ("BS034", "hint", "x"),
        ("BS020", "warning", "nothing"),
    ]
    assert [(one.code, one.severity) for one in alone("z = nothing")] == [("BS020", "hint")]


def test_every_unknown_name_of_a_member_that_fails_is_an_error() -> None:
    assert inside("z = one + two") == [("BS020", "error", "one"), ("BS020", "error", "two")]


def test_a_name_that_is_known_only_at_a_side_never_evaluated_is_a_warning() -> None:
    found = inside("k = 1\nz = if k == 1 then 2 else nothing")
    assert found == [("BS020", "warning", "nothing")]


def test_names_of_included_files_are_reported_in_their_file() -> None:
    found = built("include 'b.bs'\nz = a", {"b.bs": "a = nothing\n"})
    assert [(file, one.code, one.start) for file, all_ in found.items() for one in all_] == [
        ("b.bs", "BS020", 4)
    ]


def test_nothing_follows_from_an_include_that_is_missing() -> None:
    assert inside("include 'b.bs'\nz = a") == [("BS018", "error", "include 'b.bs'")]


def test_an_include_that_a_run_completes_is_no_error() -> None:
    assert inside("include '$Shared$/b.bs'\nz = a") == []
    assert inside("include '$Shared$/b.bs'\nz = a", {"b.bs": "a = 1\n"}) == []


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("z = Sigmoyd (1)", "Sigmoid"),
        ("z = sigmoid (1)", "Sigmoid"),
        ("z = PreviousHC (1)", "BS.RNNs.PreviousHC"),
        ("z = InputValue {3}", "Input"),
        ("z = BS.RNNs.RecurrentBirectionalLSTMPStack (1, 2)", "RecurrentBidirectionalLSTMPStack"),
        ("z = BS.Loop.IsFrist (1)", "IsFirst"),
        ("x = Input {3}\nz = Sigmoid (x, tga='')", "tag"),
        ("w = ParameterTensor {3, init='gausian'}", "'gaussian'"),
    ],
)
def test_what_was_meant(text: str, meant: str) -> None:
    fix = alone(text)[0].fix
    assert fix is not None
    assert [edit.text for edit in fix.edits] == [meant]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f (x) = x\na = f (1, 2)", [("BS022", "f")]),
        ("f (x) = x\ng = f\na = g ()", [("BS022", "g")]),
        ("layer = DenseLayer {3}\na = layer (1, 2)", [("BS022", "layer")]),
        ("r = { f (x) = x }\na = r.f ()", [("BS022", "r.f")]),
        ("f (x, k=1) = x\na = f (1, q=2)", [("BS023", "q")]),
        ("f (x, k=1) = x\na = f (1, k=2, k=3)", [("BS024", "k=3")]),
        ("f (x) = x\na = f (1, x=2)", [("BS023", "x")]),
        ("a = 1\na = 2", [("BS013", "a")]),
        ("f (x, k=1, k=2) = x\na = f (1)", [("BS014", "k")]),
        ("x = x", [("BS025", "x")]),
        ("r = { FF = FF (1) }\na = 1", [("BS025", "FF")]),
        ("a = new Nothing { }", [("BS027", "Nothing")]),
        ("x = Input {3}\ny = Shift (x, 1, 2)", [("BS026", "Shift")]),
        ("w = ParameterTensor {3, init=uniform}", [("BS077", "uniform")]),
        ("w = ParameterTensor {3, init='fixedValue', value=3}", []),
        ("w = ParameterTensor {3, value=3}", [("BS031", "value")]),
        ("h = PastValue (1, h)", []),
        ("network = 1\na = deviceId + traceLevel\nb = precision", []),
    ],
)
def test_calls_and_members(text: str, expected: list[tuple[str, str]]) -> None:
    assert reported(text) == expected


def test_a_circle_is_named_whole() -> None:
    (found,) = alone("a = b + 1\nb = c * 2\nc = a")
    assert found.code == "BS025"
    assert "'a' → 'b' → 'c' → 'a'" in found.message


def test_a_circle_through_the_library_names_the_users_members_alone() -> None:
    (found,) = alone("x = Input {3}\na = b + x\nb = Sigmoid (a)")
    assert "'a' → 'b' → 'a'" in found.message


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("evalNodes", "evaluationNodes"),
        ("criteriaNodes", "criterionNodes"),
        ("FeatureNodes", "featureNodes"),
        ("outputNodes", None),
        ("labelnodes", "labelNodes"),
        ("hiddenNodes", None),
    ],
)
def test_lists_of_nodes(name: str, meant: str | None) -> None:
    found = [one for one in alone(f"x = Input {{3}}\n{name} = (x)") if one.code == "BS028"]
    assert [edit.text for one in found if one.fix for edit in one.fix.edits] == (
        [meant] if meant else []
    )


def test_what_is_handed_to_others_takes_what_they_give() -> None:
    text = "x = Input {3}\nHook (input, state) = BS.Constants.None\n"
    assert inside(f"{text}h = BS.RNNs.RecurrentLSTMP (3, x, augmentInputHook=Hook)") == []


def test_a_default_is_reported_only_where_it_fails() -> None:
    text = "f (x, k=x.dim) = x\n"
    assert inside(f"{text}a = f (1, k=2)") == [("BS034", "hint", "k"), ("BS029", "info", "x")]
