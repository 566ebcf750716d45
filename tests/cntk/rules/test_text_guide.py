"""The guide's own examples give what the guide and the program differ in, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Run
from tests.cntk.texts import Memory

SEEDS = Path(__file__).parents[4] / "shared" / "seeds"
#: Text after a closed value, variables without a value, square brackets, placeholders.
ALLOWED = {"CK007", "CK019", "CK032", "CK034"}
SPEECH = """\
command = SpeechTrain
stderr = "$Root$\\$RunName$.log"
speechTrain = [
    modelPath = "$Root$\\$RunName$.cn"
    SGD = [
        reader = [
            features = [
                type = "real"
                dim = "$DataSet1_Dim$"
                file = "$DataSet1_Features$"
            ]
        ]
    ]
]
"""
COMMANDS = """\
command = mnistTrain:mnistTest

mnistTrain = [
    action = "train"
    ...
]

mnistTest = [
    action = "eval"
    ...
]
"""
BLOCKS = """\
block1 = [id=1;size=256]

block2 = [
    subblock = [string="hi";num=5]
    value = 1e-10
    array = 10:"this is a test":1.25
]
"""
EXAMPLES = {
    "types": ('deviceId = "Auto"\nminibatchSize = 256:512*3:1024\n', set()),
    "blocks": (BLOCKS, {"CK007", "CK032"}),
    "commands": (COMMANDS, {"CK032", "CK034"}),
    "layer": ("mnistTrain=[reader=[file=mynewfile.txt]]\n", {"CK032"}),
    "variables": (SPEECH, {"CK019", "CK032"}),
    "steps": ("A=$B$\nB=$C$\nC=HelloWorld.txt\n", set()),
    "repeated": ("params=[a=1;b=2;c=3]\nparams=[c=5;d=6;e=7]\n", {"CK032"}),
    "comment": ('stderr="c:\\cntk\\log\\cntk" # "_mnistTrain_mnistTest.log"\n', set()),
    "infinity": ("var=1#INF\n", set()),
}


def codes(text: str) -> set[str]:
    files = Memory({"guide.cntk": text.encode()})
    found = diagnostics_by_file(Experiment(Run(("configFile=guide.cntk",), declared=False), files))
    return {one.code for one in found.get("guide.cntk", []) if one.code < "CK040"}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_gives_only_what_it_must(name: str) -> None:
    text, expected = EXAMPLES[name]
    assert {code for code in codes(text) if code.startswith("CK")} == expected
    assert expected <= ALLOWED


def test_the_examples_are_those_of_the_guide() -> None:
    pages = sorted(SEEDS.glob("003_*.txt"))
    if not pages:
        pytest.skip("the guide is not beside this checkout")
    guide = "".join(pages[0].read_text(encoding="utf-8").split())
    for text in (BLOCKS, SPEECH, COMMANDS):
        for line in text.splitlines():
            assert "".join(line.split()) in guide, line
