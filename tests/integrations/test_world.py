"""The measurement of the world's files: logs are compared, texts counted, nothing is changed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "world.py"
CONFIGURATION = """\
command = learn:other
modelPath = "m.dnn"
reader = [ readerType = "UCIFastReader" ; file = "train.txt"
    x = [ dim = 4 ; start = 0 ]
    y = [ dim = 1 ; start = 4 ; labelType = "category" ; labelDim = 2
        labelMappingFile = "m.txt" ] ]
SGD = [ maxEpochs = 1 ; learningRatesPerSample = 0.1 ]
learn = [
    action = "train"
    BrainScriptNetworkBuilder = {
        x = Input {4} ; y = Input {2}
        z = LinearLayer {$size$} (x)
        ce = CrossEntropyWithSoftmax (y, z)
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce)
    }
]
other = [ action = "train" ; NDLNetworkBuilder = [ networkDescription = "a.ndl" ] ]
"""
NDL = """\
run = ndl
ndl = [ x = Input(4) ; y = Input(2) ; W = Parameter(2, 4) ; z = Times(W, x)
ce = CrossEntropyWithSoftmax(y, z) ; FeatureNodes = (x) ; LabelNodes = (y)
CriterionNodes = (ce) ]
"""
RUN = (
    "=== Running /work/build/bin/cntk configFile=/work/Tests/Small/small.cntk "
    r"currentDirectory=/work/Tests/Small size=2 ConfigDir=C:\work\Tests\Small "
    "nested=[a=[b=c] size=5]"
)


def lines(folder: Path, command: str) -> list[str]:
    """What a log says of a command's network, in the words of CNTK."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "netsharp_lsp", "describe", "small.cntk", "--format", "json"),
            *("--command", command, "--set", "size=2", "--set", f"ConfigDir={folder}"),
        ],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return [
        f"Validating --> {node['name']} = {node['operation']} ({', '.join(node['inputs'])}) :  -> "
        f"[{' x '.join(map(str, node['shape']))}{' x *' if node['axis'] else ''}]"
        for node in json.loads(done.stdout)["nodes"]
    ]


@pytest.mark.costly
def test_logs_are_compared_and_nothing_is_changed(tmp_path: Path) -> None:
    world, small = tmp_path / "world", tmp_path / "world" / "Tests" / "Small"
    small.mkdir(parents=True)
    (small / "small.cntk").write_text(CONFIGURATION)
    (small / "a.ndl").write_text(NDL)
    learnt, other = lines(small, "learn"), lines(small, "other")
    begin = "CNTKCommandTrainBegin: "
    reported = [
        RUN,
        begin + "learn",
        *learnt,
        '# Action "train" #',
        "# other command (train action) #",
    ]
    (small / "equal.txt").write_text("\n".join([*reported, *other]))
    wrong = [line.replace("[2]", "[3]").replace("[2 x *]", "[3 x *]") for line in learnt]
    (small / "wrong.log").write_text("\n".join([RUN, begin + "learn", *wrong]))
    (small / "gone.log").write_text(
        "\n".join([RUN.replace("small.cntk", "gone.cntk"), begin + "learn", *learnt])
    )
    # The folder has been moved since, with its log; a log elsewhere is of another one.
    old = RUN.replace("/work/Tests/Small", "/work/Old")
    (small / "moved.log").write_text("\n".join([old, begin + "other", *other]))
    (world / "Far").mkdir()
    (world / "Far" / "far.log").write_text("\n".join([old, begin + "other", *other]))
    (small / "nobody.log").write_text("\n".join([RUN, begin + "nobody", *learnt]))
    before = {path: path.read_bytes() for path in world.rglob("*") if path.is_file()}
    figures = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, SCRIPT, world, "--json", figures],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in world.rglob("*") if path.is_file()} == before
    result = json.loads(figures.read_text())
    assert result["files"] == 2
    assert result["logs"]["verdicts"] == {
        "equal": 3,
        "different": 1,
        "not evaluated": 1,
        "missing": 2,
    }
    (nobody, why), (name, reason) = result["logs"]["reasons"]
    assert name == "Tests/Small/wrong.log learn"
    assert " in the log and " in reason
    assert nobody == "Tests/Small/nobody.log nobody"
    assert "no command 'nobody'" in why
    assert result["migration"] == {"equal": 1}
    assert result["formatting"] == {"changed": 2, "failed": 0, "unstable": 0, "findings": 0}
    assert "7 networks of trainings: equal 3, different 1" in done.stdout


def test_the_readme_has_the_figures_with_the_day_of_the_snapshot() -> None:
    """Both documents name the same day and the same counts, and the counts add up."""
    root = SCRIPT.parents[1]
    table = (root / "bench" / "README.md").read_text(encoding="utf-8")
    table = table[table.index("`world.py FOLDER` measures") :]
    (day,) = re.findall(r"On CNTK's own repository of (\d+ \w+ \d{4}):", table)
    rows = dict(re.findall(r"^\| ([a-z ]+) \| (.+) \|$", table, re.M))
    logs = [int(count) for count in re.findall(r"\d+", rows["trainings in recorded logs"])]
    assert logs[0] == sum(logs[1:])
    moved = [int(count) for count in re.findall(r"\d+", rows["migration"])]
    assert moved[0] == sum(moved[1:])
    errors, *by_code = re.findall(r"(?<![A-Z\d])\d+|one each", rows["errors"])
    once = len(re.findall(r"[A-Z]{2}\d{3}", rows["errors"])) - len(by_code[:-1])
    assert int(errors) == sum(map(int, by_code[:-1])) + once
    formatted = re.findall(r"\d+", rows["formatting"])[0]
    readme = (root / "README.md").read_text(encoding="utf-8")
    (line,) = (one for one in readme.splitlines() if day in one)
    assert f"{rows['files read']} files checked and {formatted} formatted" in line
    assert f"| {logs[1]} of {sum(logs[1:3])} |" in line


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "none"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == f"{tmp_path / 'none'}: there is no such folder.\n"
