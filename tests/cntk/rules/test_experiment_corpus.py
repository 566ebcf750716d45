"""The rules on experiments over every configuration of the corpus: nothing is said in vain."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.checking.check import findings
from netsharp_lsp.cntk.rules import RULES
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Run
from tests.cntk.collection import FILES, CntkFile
from tests.cntk.texts import Memory

CONFIGURATIONS = [one for one in FILES if one.id == "cntk" and not one.broken]
HELD = {one.name: one.data for one in FILES}
#: The codes of these rules.
OURS = tuple(f"CK{number:03}" for number in range(40, 120))
#: What is wrong with files of the corpus, which are written to be read rather than run.
JUSTIFIED = {
    # A text where a network must stand.
    "configurations/builder_is_a_string.cntk": ["CK096"],
    # Scripts and networks that are not there.
    "configurations/edit_and_dump.cntk": ["CK116", "CK116"],
    "configurations/ndl_by_file.cntk": ["CK116", "CK116", "CK116"],
    # `sigmoid` in lower case, and `auto` where true or false is read.
    "configurations/simple_builder.cntk": ["CK050", "CK051"],
}
WARNINGS = {
    # Commas end the list of commands.
    "configurations/blank_lines_and_marks.config": ["CK085", "CK085"],
    # Two sizes of one block.
    "configurations/parallel_blocks.cntk": ["CK064"],
}
MISPLACED = {
    "configurations/recurrent_simple.cntk": ["printValues"],
    "configurations/windows_paths.cntk": ["meanFile"],
}


def found(one: CntkFile) -> list[tuple[str, str, str]]:
    """The code, severity and marked text of what these rules say, in the order of places."""
    folder = one.name.rpartition("/")[0]
    run = Run((f"configFile={one.name.rpartition('/')[2]}",), folder, declared=False)
    experiment = Experiment(run, Memory(HELD))
    marked = {source.name: source for source in experiment.configuration.layers.sources}
    return [
        (
            it.code,
            it.severity or RULES.severities[it.code],
            marked[it.place.source].text[it.place.start : it.place.end].decode()
            if it.place.source in marked
            else "",
        )
        for it in sorted(findings(experiment), key=lambda it: it.place)
        if it.code in OURS
    ]


@pytest.mark.parametrize("one", CONFIGURATIONS, ids=lambda one: one.name)
def test_errors_and_warnings_are_justified(one: CntkFile) -> None:
    reported = found(one)
    assert [code for code, severity, _ in reported if severity == "error"] == JUSTIFIED.get(
        one.name, []
    )
    assert [code for code, severity, _ in reported if severity == "warning"] == WARNINGS.get(
        one.name, []
    )


@pytest.mark.parametrize("one", CONFIGURATIONS, ids=lambda one: one.name)
def test_no_key_is_taken_for_unknown_in_vain(one: CntkFile) -> None:
    unknown = [marked for code, _, marked in found(one) if code in ("CK040", "CK041")]
    assert unknown == MISPLACED.get(one.name, [])


GUIDE = [
    (
        'command = mnistTrain:mnistTest\nmnistTrain = [\n    action = "train"\n    ...\n]\n'
        'mnistTest = [\n    action = "eval"\n    ...\n]\n',
        [],
    ),
    ("block1 = [id=1;size=256]\nblock2 = [\n    subblock = [string=hi;num=5]\n]\n", []),
    ("params=[a=1;b=2;c=3]\nparams=[c=5;d=6;e=7]\n", []),
    ("mnistTrain=[reader=[file=mynewfile.txt]]\n", []),
    ("var=1#INF\n", []),
    (
        'command = SpeechTrain\nstderr = "$Root$\\$RunName$.log"\nspeechTrain = [\n'
        '    modelPath = "$Root$\\$RunName$.cn"\n    SGD = [\n        reader = [\n'
        '            features = [\n                type = "real"\n'
        '                dim = "$DataSet1_Dim$"\n                file = "$DataSet1_Features$"\n'
        "            ]\n        ]\n    ]\n]\n",
        ["CK041"],
    ),
]


@pytest.mark.parametrize(("text", "expected"), GUIDE)
def test_the_guides_examples(text: str, expected: list[str]) -> None:
    run = Run(("configFile=a.cntk",), declared=False)
    experiment = Experiment(run, Memory({"a.cntk": text.encode()}))
    assert [it.code for it in findings(experiment) if it.code in OURS] == expected
