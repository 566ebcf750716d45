"""Runs in settings and in scripts."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.run.declared import Run, declared_runs
from netsharp_lsp.cntk.run.scripts import script_runs
from tests.costs import within

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
    ("r.sh", "echo cntk configFile=a.cntk\n", []),
    ("r.sh", "cat <<END\ncntk configFile=a.cntk\nEND\n", []),
    (
        "r.sh",
        'run() { "$1" "${@}"; }\nstart() {\n  f=$1; shift\n  cntk configFile=$f "$@" $extra\n}\n'
        'start a.cntk x=1 "y=[z=2]"\nstart b.cntk\n',
        [
            ("configFile=a.cntk", "x=1", "y=[z=2]"),
            ("configFile=b.cntk",),
        ],
    ),
    (
        "r.sh",
        'args="configFile=a.cntk x=1"\nlog=\n'
        'if [ "$log" != "" ]; then args="$args stderr=$log"; fi\n'
        'if [ -n "$Y" ]; then args="$args y=$Y"; fi\ncntk $args\n',
        [("configFile=a.cntk", "x=1", "y=$Y")],
    ),
    (
        "r.sh",
        "for f in a b; do cntk configFile=$f.cntk; done\n",
        [("configFile=a.cntk",), ("configFile=b.cntk",)],
    ),
    (
        "r.sh",
        'cd "$(dirname "$0")/net"\ncntk configFile=${CFG:-a.cntk}+$HERE/b.cntk\n',
        [("configFile=a.cntk+b.cntk",)],
    ),
    (
        "r.cmd",
        "call :start a.cntk x=1\r\ngoto :eof\r\n:start\r\n"
        "cntk.exe configFile=%~dp0%1 %2 n=%N%\r\nexit /b\r\n",
        [("configFile=a.cntk", "x=1", "n=%N%")],
    ),
]

#: A script's lines, and the names of what is open in its one run's items.
OPEN = [
    ("r.sh", "cntk configFile=a n=$epochs", ["epochs"]),
    ("r.sh", "cntk configFile=a n=$1", ["1"]),
    ("r.sh", "cntk configFile=a n=${x:-0}", ["x"]),
    ("r.sh", "cntk configFile=a n=$(nproc) m=`nproc`", ["$(nproc)", "`nproc`"]),
    ("r.sh", "if test -f x; then n=1; else n=2; fi\ncntk configFile=a n=$n", ["n"]),
    ("r.sh", "n=1\ntest -f x && n=2\ncntk configFile=a n=$n", ["n"]),
    ("r.sh", "read n\ncntk configFile=a n=$n", ["n"]),
    ("r.sh", "n=1\nif [ 1 = 2 ]; then n=2; fi\ncntk configFile=a n=$n", []),
    ("r.sh", "n=1\n(n=$2)\ncntk configFile=a n=$n", []),
    ("r.sh", "cntk configFile=a 'n=$OutDir$' m=$OutDir$ \\$x", []),
    ("r.cmd", "cntk configFile=a n=%X% m=%2", ["X", "2"]),
    ("r.cmd", "set N=1\nif exist x (\nset N=2\n)\ncntk configFile=a n=%N%", ["N"]),
    ("r.cmd", "set /p N=how many?\ncntk configFile=a n=!N!", ["N"]),
]


@pytest.mark.parametrize(("name", "text", "names"), OPEN)
def test_what_a_script_does_not_know_is_open(name: str, text: str, names: list[str]) -> None:
    (run,) = script_runs(name, text).runs
    assert [hole.name for hole in run.holes] == names
    for hole in run.holes:
        assert (
            run.items[hole.item][hole.start : hole.end]
            .lstrip("$%!{")
            .startswith(hole.name.lstrip("$"))
        )


def test_scripts_that_others_take_in_are_followed() -> None:
    common = 'cntkrun() { run cntk configFile=$Dir/$1 Dir=$Dir $2; }\nrun() { "$@"; }\n'
    script = ". $ROOT/common\nDir=$TEST_DIR/..\n\ncntkrun a.cntk 'x=1 y=2' || exit $?\n"
    (run,) = script_runs("run-test", script, lambda path: common if path == "common" else None).runs
    assert run.items == ("configFile=../a.cntk", "Dir=./..", "x=1", "y=2")
    assert run.origin is not None
    assert run.origin.line == 4
    span = slice(*run.origin.spans[0])
    assert script[span] == "cntkrun a.cntk 'x=1 y=2'"


@pytest.mark.parametrize(
    ("text", "items"),
    [
        # Where the configuration is found by its folder, the folder is known.
        ("cntk configFile=$D/a.cntk Dir=$D", ("configFile=a.cntk", "Dir=.")),
        (
            "cntk configFile=$D/a.cntk Dir=$D/x Out=$OUT",
            ("configFile=a.cntk", "Dir=./x", "Out=$OUT"),
        ),
        (
            "if test $OS; then D=$(p $D); fi\ncntk configFile=$D/a.cntk Dir=$D",
            ("configFile=a.cntk", "Dir=."),
        ),
        # What is started elsewhere has other paths.
        ("cd $X\ncntk configFile=$D/a.cntk Dir=$D", ("configFile=a.cntk", "Dir=.")),
        ("cd x\ncntk configFile=$D/a.cntk Dir=$D", ("configFile=a.cntk", "Dir=$D")),
        # A name that only ends in a variable does not give the folder.
        ("cntk configFile=a$D.cntk Dir=$D", ("configFile=a?.cntk", "Dir=$D")),
    ],
)
def test_the_folder_of_a_configuration_is_known_in_all_arguments(
    text: str, items: tuple[str, ...]
) -> None:
    (run,) = script_runs("r.sh", f"{text}\n").runs
    assert run.items == items
    assert [hole.name for hole in run.holes] == ["D"] * items[1].count("$") + ["OUT"] * len(
        items[2:]
    )


def test_a_script_of_one_name_everywhere_ends() -> None:
    itself = ". $ROOT/common\ncntk configFile=a.cntk\n"
    (run,) = script_runs("common", itself, lambda path: itself).runs
    assert run.items == ("configFile=a.cntk",)


BOMBS = [
    'f() { f "$@" "$@"; }\nf configFile=a x=1\n',
    "x=aaaaaaaaaa\n" + "x=$x$x\n" * 200 + "cntk configFile=a n=$x $x $x\n",
    "cntk configFile=a n=" + "${x:-" * 50_000 + "\n",
    "if a; then\n" * 20_000 + "cntk configFile=a\n",
    ". ./r.sh\ncntk configFile=a\n" * 1000,
    "x=1\nif a; then x=2; fi\n" * 3000 + "cntk configFile=a\n",
    "cntk configFile=a " + "$(" * 50_000,
    "# A comment, as a script has them.\n" * 8000
    + "".join(f"cntk configFile=a{number}.cntk x={number}\n" for number in range(8000)),
    "cntk configFile=a\nset x=" + " " * 500_000 + 'y z"\n',
]


def test_places_count_bytes_and_lines() -> None:
    text = "# é\u4e2d\n" * 700 + "é=1 cntk configFile=a.cntk x=é\n"
    (run,) = script_runs("r.sh", text).runs
    assert run.origin is not None
    assert run.origin.line == 701
    shown = [text.encode()[slice(*span)].decode() for span in run.origin.spans]
    assert shown == ["configFile=a.cntk", "x=é"]


@pytest.mark.parametrize("text", BOMBS, ids=range(len(BOMBS)))
@pytest.mark.costly
def test_no_script_takes_long(text: str) -> None:
    within(10, lambda: script_runs("r.sh", text, lambda path: text))
    within(10, lambda: script_runs("r.cmd", text.replace("$", "%")))


@pytest.mark.parametrize(("name", "text", "items"), SCRIPTS)
def test_runs_of_scripts(name: str, text: str, items: list[tuple[str, ...]]) -> None:
    assert [run.items for run in script_runs(name, text).runs] == items


def test_what_a_script_does_not_say_is_reported() -> None:
    (run,) = script_runs("r.sh", "\ncntk configFile=a.cntk Out=$OUT/x\n").runs
    assert run.origin is not None
    assert (run.items, run.unknown, run.origin.line) == (
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
