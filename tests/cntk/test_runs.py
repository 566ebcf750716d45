"""Runs in settings and in scripts."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.run.declared import Run, declared_runs, script_runs

SCRIPTS = [
    ("r.sh", "cntk configFile=a.cntk\n", [("configFile=a.cntk",)]),
    ("r.sh", "# cntk configFile=a.cntk\n", []),
    (
        "r.sh",
        "mpiexec -n 2 cntk configFile=a.cntk+b.cntk makeMode=false >log 2>&1\n",
        [
            ("configFile=a.cntk+b.cntk", "makeMode=false"),
        ],
    ),
    (
        "r.sh",
        "cntk configfile=a.cntk && cntk configFile=b.cntk x=1 | tee log\n",
        [
            ("configfile=a.cntk",),
            ("configFile=b.cntk", "x=1"),
        ],
    ),
    (
        "r.sh",
        'D=/data\ncntk configFile=a.cntk \\\n  DataDir=$D/x Out="${D}"\n',
        [
            ("configFile=a.cntk", "DataDir=/data/x", "Out=/data"),
        ],
    ),
    (
        "r.sh",
        "cntk x=1 configFile=a.cntk 'T=[SGD=[maxEpochs=1]]'\n",
        [
            ("x=1", "configFile=a.cntk", "T=[SGD=[maxEpochs=1]]"),
        ],
    ),
    (
        "r.cmd",
        "@set D=c:\\data\r\ncntk.exe configFile=a.cntk ^\r\n DataDir=%d%\\x\r\n",
        [
            ("configFile=a.cntk", "DataDir=c:\\data\\x"),
        ],
    ),
    (
        "r.bat",
        'rem cntk configFile=a.cntk\ncntk configFile="my a.cntk"\n',
        [
            ("configFile=my a.cntk",),
        ],
    ),
    ("r.sh", "echo nothing\n", []),
]


@pytest.mark.parametrize(("name", "text", "items"), SCRIPTS)
def test_runs_of_scripts(name: str, text: str, items: list[tuple[str, ...]]) -> None:
    assert [run.items for run in script_runs(name, text)] == items


def test_what_a_script_does_not_say_is_told() -> None:
    (run,) = script_runs("r.sh", "\ncntk configFile=a.cntk Out=$OUT/x\n")
    assert (run.items, run.unknown, run.line) == (
        ("configFile=a.cntk", "Out=$OUT/x"),
        ("OUT",),
        2,
    )


def test_declared_runs() -> None:
    runs = declared_runs([{"files": ["a.cntk", "b.cntk"], "set": ["x=1"], "directory": "d"}])
    assert isinstance(runs, list)
    (run,) = runs
    assert isinstance(run, Run)
    assert run.items == ("configFile=a.cntk", "configFile=b.cntk", "x=1")
    assert run.directory == "d"


WRONG = [
    ({}, "must be tables"),
    ([1], "must be tables"),
    ([{"file": ["a"]}], "no key 'file'"),
    ([{"files": "a"}], "list of strings"),
    ([{"files": []}], "needs files"),
    ([{"files": ["a"], "directory": 1}], "must be a string"),
]


@pytest.mark.parametrize(("table", "sentence"), WRONG)
def test_settings_that_are_wrong(table: object, sentence: str) -> None:
    found = declared_runs(table)
    assert isinstance(found, str)
    assert sentence in found
