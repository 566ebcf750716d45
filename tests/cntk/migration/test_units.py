"""Whole experiments: selections, shared files, variables, names that an experiment uses."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.migration.unit import Plan
from tests.cntk.migration import moving
from tests.cntk.migration.moving import plan_of, units_of

SECTIONS = """load = macros
run = $which$
macros = [ Twice(x) = Plus(x, x) ]
small = [
    x = Input(3, tag = feature)
    y = Twice(x)
]
large = [ x = Input($dim$, tag = feature) ; y = Tanh(x) ]
"""


def equal(plan: Plan) -> list[str | None]:
    """The sections that were proven, where all were and nothing is in the way."""
    assert not plan.fails, (plan.networks, [one.message for one in plan.todo])
    return [one.section for one in plan.networks if one.status == "equal"]


def test_a_variable_selects_a_section_of_a_file() -> None:
    around = f"which = small\ndim = 4\n{moving.AROUND}"
    plan = plan_of({"train.cntk": around, "network.ndl": SECTIONS})
    assert equal(plan) == ["small", "large"]
    assert b'if which == "small" then {' in plan.texts["network.bs"]
    assert b'which = "$which$"' in plan.texts["train.cntk"]
    assert b"}.network)" in plan.texts["train.cntk"]


def test_two_configurations_run_two_sections_of_a_file() -> None:
    own = moving.AROUND.replace('"network.ndl"', '"network.ndl"\n        run = {}')
    texts = {
        "a.cntk": own.replace("{}", "small"),
        "b.cntk": "dim = 5\n" + own.replace("{}", "large"),
        "network.ndl": SECTIONS,
    }
    plan = plan_of(texts)
    assert equal(plan) == ["small", "large"]
    assert b'run = "small"' in plan.texts["a.cntk"]
    assert b"dim" not in plan.texts["a.cntk"], "that is the other's"
    assert b"dim = $dim$" in plan.texts["b.cntk"]


def test_a_variable_of_the_block_itself_has_its_value() -> None:
    around = moving.AROUND.replace("action = train", "action = train\n    dim = 4")
    network = "x = Input($dim$, tag = feature)\n"
    plan = plan_of({"train.cntk": around, "network.ndl": network})
    assert equal(plan) == [None]
    assert b"        dim = 4\n\n        include" in plan.texts["train.cntk"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('initFromFilePath="$Dir$/$n$.txt"', 'initFromFilePath=Dir + "/" + n + ".txt"'),
        ("initFromFilePath=$Dir$/w.txt", 'initFromFilePath=Dir + "/w.txt"'),
        ('initFromFilePath="$Dir$"', "initFromFilePath=Dir}"),
    ],
)
def test_variables_in_texts_of_a_file(before: str, after: str) -> None:
    network = f"x = Input(3, tag = feature)\nW = Parameter(3, 3, init = fromFile, {before})\n"
    around = f"Dir = data\nn = one\n{moving.AROUND}"
    plan = plan_of({"train.cntk": around, "network.ndl": network})
    assert equal(plan) == [None]
    assert after.encode() in plan.texts["network.bs"]
    assert b'Dir = "$Dir$"' in plan.texts["train.cntk"]


def test_a_member_of_the_same_name_stands_for_its_statement() -> None:
    network = "featDim = $featDim$ # columns\nx = Input(FeatDim, tag = feature)\n"
    plan = plan_of({"train.cntk": f"featDim = 3\n{moving.AROUND}", "network.ndl": network})
    assert equal(plan) == [None]
    assert b"featDim = $featDim$" in plan.texts["train.cntk"]
    assert b"featDim =" not in plan.texts["network.bs"]
    assert b"# columns" in plan.texts["network.bs"]


def test_a_part_of_a_name_is_for_a_person() -> None:
    network = "x = Input(3, tag = feature)\nh$n$ = Tanh(x)\n"
    plan = plan_of({"train.cntk": f"n = 1\n{moving.AROUND}", "network.ndl": network})
    assert plan.fails


def test_names_are_changed_where_an_experiment_uses_them() -> None:
    text = """command = Train:Out
Train = [
    action = train
    NDLNetworkBuilder = [
        run = net
        net = [
            array = Input(3, tag = feature)
            new = Input(2, tag = label)
            L(x) = [ W = Parameter(2, 3) ; z = Times(W, x) ]
            out = L(array)
            ce = SquareError(new, out, tag = criterion)
        ]
    ]
    reader = [
        readerType = CNTKTextFormatReader ; file = x.txt
        input = [ array = [ dim = 3 ; format = dense ] ; new = [ dim = 2 ; format = dense ] ]
    ]
]
Out = [
    action = write
    outputNodeNames = out.z:array
    evalNodeNames = "ce:out.z"
    traceNodeNamesReal = "out.W"
    nodeNames = *.z
    nodeName = $some$
]
some = out.z
"""
    plan = plan_of({"train.cntk": text})
    assert equal(plan) == ["net"]
    after = plan.texts["train.cntk"]
    assert b"outputNodeNames = out:array1" in after
    assert b'evalNodeNames = "ce:out"' in after
    assert b'traceNodeNamesReal = "out.W"' in after
    assert b"input = [ array1 = [ dim = 3 ; format = dense ] ; new1 = [" in after
    message = [todo.message for todo in plan.todo if todo.rule == "MG45"]
    assert any("'*.z'" in one for one in message)
    assert any("A variable has the value 'out.z'" in one for one in message)
    assert plan.renames["array"] == "array1"


def test_files_are_named_as_they_were_with_variables() -> None:
    text = """command = Train
Home = nets ; Shared = nets/shared
Train = [
    action = train
    NDLNetworkBuilder = [
        networkDescription = "$Home$/a.ndl" ; ndlMacros = $Shared$/m.ndl
    ]
]
"""
    macros = "L(x) = [ W = Parameter(2, 3) ; z = Times(W, x) ]\n"
    network = "x = Input(3, tag = feature)\nout = L(x)\n"
    texts = {"train.cntk": text, "nets/a.ndl": network, "nets/shared/m.ndl": macros}
    plan = plan_of(texts)
    assert not plan.fails
    after = plan.texts["train.cntk"]
    assert b'include "$Shared$/m.bs"\n' in after
    assert b'include "$Home$/a.bs"\n' in after


def test_a_label_among_the_best_is_an_option() -> None:
    text = """x = Input(9, tag = feature)
y = Input(9, tag = label)
five = ErrorPrediction(y, x, Const(5), tag = eval)
two = ClassificationError(y, x, Constant(2))
one = ClassificationError(y, x, Constant(1))
"""
    plan = plan_of({"train.cntk": moving.AROUND, "network.ndl": text})
    assert not plan.fails
    after = plan.texts["network.bs"]
    assert b'five = ErrorPrediction (y, x, topN=5, tag="evaluation")\n' in after
    assert b"two = ClassificationError (y, x, topN=2)\n" in after
    assert [text[todo.start : todo.end] for todo in plan.todo if todo.rule == "MG31"] == [
        "ClassificationError(y, x, Constant(1))"
    ]


def test_names_are_found_in_whatever_case_an_experiment_has_them() -> None:
    text = """command = Train:Add:Out
Train = [
    action = train ; modelPath = m.dnn
    NDLNetworkBuilder = [ run = net ; net = [
        L(x) = [ W = Parameter(2, 3) ; z = Times(W, x) ]
        x = Input(3, tag = feature)
        out = L(x)
    ] ]
]
Add = [ action = edit ; editPath = add.mel ]
Out = [ action = write ; outputNodeNames = OUT.Z ]
"""
    edit = 'm = LoadModel("m.dnn", format=cntk)\ny = Tanh(Out.z)\nSaveModel(m, "n.dnn")\n'
    plan = plan_of({"train.cntk": text, "add.mel": edit})
    assert b"outputNodeNames = out " in plan.texts["train.cntk"]
    reported = [todo for todo in plan.todo if todo.rule == "MG45"]
    assert [(one.file, edit[one.start : one.end]) for one in reported] == [("add.mel", "Out.z")]


def test_a_builder_around_all_blocks_moves_into_the_one_that_trains() -> None:
    text = """command = Train:Test
NDLNetworkBuilder = [ networkDescription = "network.ndl" ]
Train = [
    action = train
]
Test = [ action = test ; modelPath = m ]
"""
    plan = plan_of({"train.cntk": text, "network.ndl": "x = Input(3, tag = feature)\n"})
    assert equal(plan) == [None]
    assert {one.command: one.status for one in plan.networks} == {"Train": "equal", "Test": "none"}
    assert (
        plan.texts["train.cntk"]
        == b"""command = Train:Test
Train = [
    BrainScriptNetworkBuilder = (new ComputationNetwork {
        include "network.bs"
    })
    action = train
]
Test = [ action = test ; modelPath = m ]
"""
    )


def test_a_builder_without_training_stays() -> None:
    text = "command = W\nrun = net\nnet = [ x = Input(1, tag = feature) ; y = Exp(x) ]\n"
    text += "W = [ action = write ; NDLNetworkBuilder = [ ] ]\n"
    plan = plan_of({"train.cntk": text})
    assert equal(plan) == ["net"]
    assert b"net = [" not in plan.texts["train.cntk"]


def test_an_old_layout_is_for_a_person() -> None:
    network = "x = ImageInput(4, 4, 3, tag = feature)\nW = Parameter(2, 27)\n"
    network += "c = Convolution(W, x, 3, 3, 2, 1, 1)\n"
    plan = plan_of({"train.cntk": moving.AROUND, "network.ndl": network})
    assert plan.fails
    (todo,) = [one for one in plan.todo if one.blocks]
    assert (todo.rule, todo.file) == ("MG26", "network.ndl")


def test_units_are_joined_by_shared_files_alone() -> None:
    other = moving.AROUND.replace("network.ndl", "other.ndl")
    texts = {
        "a.cntk": moving.AROUND.encode(),
        "b.cntk": moving.AROUND.encode(),
        "c.cntk": other.encode(),
        "network.ndl": b"x = Input(3, tag = feature)\n",
        "other.ndl": b"x = Input(4, tag = feature)\n",
    }
    assert [len(unit.experiments) for unit in units_of(texts)] == [2, 1]
