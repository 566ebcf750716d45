"""Models that a configuration beside the checked one trains, and what rules know of them."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable

import pytest

from netsharp_lsp.cntk.commands.check import RunJob, check_run
from netsharp_lsp.cntk.run.neighbours import alone
from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.limits import MODEL_CHAIN
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.project.roots import ANYWHERE
from netsharp_lsp.workspace import Workspace
from tests.cli.command_line import netsharp
from tests.cntk.cli.experiments import write
from tests.cntk.rules.experiments import DIGITS, FILES, adapting
from tests.costs import assert_in_proportion

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

#: Trains a model, and another file tests it.
TRAINS = DIGITS[: DIGITS.index("Test = {")].replace("Train:Test:Write", "Train")
READER = DIGITS[DIGITS.index('        file = "test.txt"') : DIGITS.index("Write = {")]
TESTS = f"""\
command = Test
modelPath = "out/digits"
Test = {{
    action = test
    evalNodeNames = err
    minibatchSize = 1024
    reader = {{
        readerType = CNTKTextFormatReader
{READER}"""
#: Continues with a part of the model that the other file trains.
ADAPTS = """\
command = Adapt
modelPath = "out/adapted"
Adapt = {
    action = train
""" + adapting(3)


def reported(folder: pathlib.Path, *arguments: str, **texts: str) -> list[tuple[str, str, str]]:
    """The findings of `check` in the first text, each with its code and severity."""
    write(folder, **{name.replace(".", "_dot_"): text for name, text in FILES.items()})
    write(folder, **{f"{name}_dot_cntk": text for name, text in texts.items()})
    name = f"{next(iter(texts))}.cntk"
    answer = netsharp("check", name, *arguments, "--format", "json", cwd=folder)
    assert answer.code in (0, 1), answer.err
    return [
        (one["code"], one["severity"], one["message"])
        for one in json.loads(answer.out)["diagnostics"]
        if one["file"] == name
    ]


def test_what_is_right_is_right(tmp_path: pathlib.Path) -> None:
    assert reported(tmp_path, test=TESTS, train=TRAINS) == []
    assert reported(tmp_path, adapt=ADAPTS, train=TRAINS) == []


@pytest.mark.parametrize(
    ("before", "after", "code", "words"),
    [
        ("evalNodeNames = err", "evalNodeNames = er", "CK114", "'Test', which train.cntk trains,"),
        ("dim = 16", "dim = 17", "CK108", "has 17 numbers per sample"),
        ("            features =", "            feature =", "CK106", "the input 'features'"),
        ("out/digits", "out/digit", "CK091", "reads the model 'out/digit', which does not exist"),
    ],
)
def test_mistakes_with_a_model_that_is_trained_beside(
    tmp_path: pathlib.Path, before: str, after: str, code: str, words: str
) -> None:
    assert before in TESTS
    found = reported(tmp_path, test=TESTS.replace(before, after), train=TRAINS)
    assert [one for one in found if one[0] == code and words in one[2]], found
    # The other configuration may be started otherwise: nothing is certain enough for an error.
    assert [one for one in found if one[1] == "error"] == []


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [("old.h,", "old.hh,", "BS021"), ("{16}", "{17}", "BS051"), ("digits", "digit", "CK091")],
)
def test_mistakes_with_a_part_of_a_model_that_is_trained_beside(
    tmp_path: pathlib.Path, before: str, after: str, code: str
) -> None:
    found = reported(tmp_path, adapt=ADAPTS.replace(before, after, 1), train=TRAINS)
    assert code in [one[0] for one in found], found


def test_a_chain_over_three_files_and_an_edit(tmp_path: pathlib.Path) -> None:
    test = TESTS.replace("out/digits", "out/adapted").replace("evalNodeNames = err", "")
    right = reported(tmp_path, test=test, adapt=ADAPTS, train=TRAINS)
    assert right == []
    wrong = reported(
        tmp_path, test=test.replace("dim = 16", "dim = 15"), adapt=ADAPTS, train=TRAINS
    )
    assert "CK108" in [one[0] for one in wrong]
    edit = 'command = Edit\nEdit = { action = edit ; editPath = "e.mel" }\n'
    for name, codes in (("err", []), ("er", ["ME020"])):
        mel = f'm = LoadModel("out/digits")\nRename({name}, fault)\nSaveModel(m, "out/named")\n'
        write(tmp_path, e_dot_mel=mel, edit_dot_cntk=edit, train_dot_cntk=TRAINS)
        answer = netsharp("check", "edit.cntk", "e.mel", "--format", "json", cwd=tmp_path)
        found = json.loads(answer.out)["diagnostics"]
        assert bool(found) == bool(codes), found
    test = TESTS.replace("out/digits", "out/named").replace("= err", "= fault")
    write(tmp_path, e_dot_mel=mel.replace("er,", "err,"))
    assert reported(tmp_path, test=test, edit=edit, train=TRAINS) == []
    wrong = reported(tmp_path, test=test.replace("fault", "err"), edit=edit, train=TRAINS)
    assert [one[0] for one in wrong] == ["CK114"]


def test_models_that_rest_on_each_other_end(tmp_path: pathlib.Path) -> None:
    other = ADAPTS.replace("out/adapted", "out/x").replace("out/digits", "out/adapted")
    own = ADAPTS.replace("out/digits", "out/x")
    assert reported(tmp_path, adapt=own, other=other) == []
    long = {
        f"link{number}": ADAPTS.replace("out/adapted", f"out/m{number}").replace(
            "out/digits", f"out/m{number + 1}"
        )
        for number in range(MODEL_CHAIN.most + 3)
    }
    assert [one for one in reported(tmp_path, **long) if one[1] == "error"] == []


def test_what_a_run_rests_on_beside_it_is_reported(tmp_path: pathlib.Path) -> None:
    reported(tmp_path, test=TESTS, train=TRAINS, other='x = "modelPath"\n')
    job = RunJob(alone(str(tmp_path / "test.cntk")), {}, ANYWHERE)
    assert [pathlib.Path(one).name for one in check_run(job).beside] == ["train.cntk"]


def test_two_that_train_it_differently_say_nothing(tmp_path: pathlib.Path) -> None:
    wrong = TESTS.replace("= err", "= er")
    more = TRAINS.replace("evaluationNodes = (err)", "evaluationNodes = (err) ; er = err * 1")
    assert reported(tmp_path, test=wrong, train=TRAINS, more=more) == []
    assert [one[0] for one in reported(tmp_path, test=wrong, train=TRAINS, more=TRAINS)] == [
        "CK114"
    ]


def test_values_that_are_given_hold_beside_it(tmp_path: pathlib.Path) -> None:
    train, test = (one.replace('"out/', '"$Out$/') for one in (TRAINS, TESTS))
    wrong = test.replace("= err", "= er")
    assert reported(tmp_path, "--set", "Out=models", test=test, train=train) == []
    found = reported(tmp_path, "--set", "Out=models", test=wrong, train=train)
    assert [one[0] for one in found] == ["CK114"]


def test_the_editor_says_the_same_and_sees_a_change(tmp_path: pathlib.Path) -> None:
    reported(tmp_path, test=TESTS.replace("= err", "= er"), train=TRAINS)
    language = language_by_id("cntk")
    assert language is not None

    def result() -> list[str]:
        path = tmp_path / "test.cntk"
        workspace = Workspace(str(path), DiskFiles())
        snapshot = language.open(path.read_bytes(), Context(workspace=workspace))
        return [one.code for one in snapshot.check().diagnostics]

    assert result() == ["CK114"]
    write(tmp_path, train_dot_cntk=TRAINS.replace("err", "er"))
    assert result() == []


def test_many_configurations_that_ask_cost_alike(tmp_path: pathlib.Path) -> None:
    """Each is asked what it writes once, not once for each that reads a model."""

    def prepared(count: int) -> Callable[[], object]:
        folder = tmp_path / str(count)
        folder.mkdir(exist_ok=True)
        jobs = []
        for number in range(count):
            path = folder / f"t{number}.cntk"
            path.write_text(TESTS.replace("digits", f"gone{number}"))
            jobs.append(RunJob(alone(str(path)), {}, ANYWHERE))
        return lambda: [check_run(job) for job in jobs]

    assert_in_proportion(prepared, 15, 60)


def test_models_that_are_renewed_again_and_again_cost_in_proportion(
    tmp_path: pathlib.Path,
) -> None:
    """Each command is followed to what it begins with once; before: with as many calls in one
    another as there are commands, which ended in an internal error.
    """

    def prepared(count: int) -> Callable[[], object]:
        path = tmp_path / f"{count}.cntk"
        names = [f"c{number}" for number in range(count)]
        blocks = [
            f"{name} = {{ action = bnstat ; modelPath = m{number} ; newModelPath = m{number + 1} }}"
            for number, name in enumerate(names)
        ]
        last = f"t = {{ action = test ; modelPath = m{count} }}"
        path.write_text("\n".join([f"command = {':'.join(names)}:t", *blocks, last]))
        return lambda: check_run(RunJob(alone(str(path)), {}, ANYWHERE))

    assert_in_proportion(prepared, 500, 2_000)
    answer = netsharp("run", "500.cntk", "command=t", cwd=tmp_path)
    assert answer.code == 1
    assert "internal error" not in answer.err
