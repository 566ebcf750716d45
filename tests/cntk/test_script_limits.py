"""A script that is not followed to its end is named once, with the limit that it passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_engine.limits import Limit
from netsharp_lsp.__main__ import main
from netsharp_lsp.cntk.commands.runs import OverDisk, scripted_runs
from netsharp_lsp.cntk.run.scripts import script_runs
from netsharp_lsp.limits import (
    SCRIPT_BYTES,
    SCRIPT_CHARACTERS,
    SCRIPT_COMMANDS,
    SCRIPT_DEPTH,
)
from netsharp_lsp.project.roots import Roots
from netsharp_lsp.workspace import NO_PREMISES

START = "cntk configFile=a.cntk n=$x\n"
BATCH_START = "cntk configFile=a.cntk n=%x%\r\n"
MOST = SCRIPT_COMMANDS.most
DEEP = SCRIPT_DEPTH.most
#: 2 ** 18 characters, by doubling.
LONG = "x=abcd\n" + "x=$x$x\n" * 16

#: Scripts, and the limits that they pass.
SCRIPTS = [
    ("r.sh", START + "a\n" * (MOST - 1), []),
    ("r.sh", START + "a\n" * MOST, [SCRIPT_COMMANDS]),
    ("r.sh", START + "for a in 1 2 3; do\n" + "b\n" * (MOST // 2) + "done\n", [SCRIPT_COMMANDS]),
    ("r.sh", START + "(" * (DEEP - 1) + "a" + ")" * (DEEP - 1) + "\n", []),
    ("r.sh", "( " * (DEEP + 1) + START + ") " * (DEEP + 1) + "\n", [SCRIPT_DEPTH]),
    ("r.sh", "f() { f; }\nf\n" + START, [SCRIPT_DEPTH]),
    ("r.sh", f"y={'${a:-' * (DEEP + 1)}1{'}' * (DEEP + 1)}\n{START}", [SCRIPT_DEPTH]),
    ("r.sh", LONG + START, []),
    ("r.sh", LONG + START * 8, [SCRIPT_CHARACTERS]),
    ("r.sh", "f() { f; }\nf\n" + "a\n" * MOST + START, [SCRIPT_DEPTH, SCRIPT_COMMANDS]),
    ("r.sh", ". other\n" + "a\n" * MOST, [SCRIPT_COMMANDS]),
    ("r.sh", ". nothing\n" + "a\n" * MOST, []),
    ("r.sh", "a\n" * (MOST + 1), []),
    ("r.cmd", BATCH_START + "a\r\n" * (MOST - 1), []),
    ("r.cmd", BATCH_START + "a\r\n" * MOST, [SCRIPT_COMMANDS]),
    ("r.cmd", f"call :a\r\n{BATCH_START}exit /b\r\n:a\r\ncall :a\r\n", [SCRIPT_DEPTH]),
    ("r.cmd", BATCH_START + "call :nowhere\r\n", []),
    ("r.cmd", f"set x={'a' * 2**19}\r\n{BATCH_START * 3}", [SCRIPT_CHARACTERS]),
]


@pytest.mark.parametrize(("name", "text", "limits"), SCRIPTS, ids=range(len(SCRIPTS)))
def test_a_script_tells_of_the_limits_it_passes(name: str, text: str, limits: list[Limit]) -> None:
    texts = {"other": START, "nothing": "true\n"}
    assert list(script_runs(name, text, texts.get).passed) == limits


def script(name: str, text: str, folder: Path) -> None:
    (folder / "a.cntk").write_text("command = T\nT = [ action = none ]\n")
    (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (START + "a\n" * MOST, SCRIPT_COMMANDS),
        ("f() { f; }\nf\n" + START, SCRIPT_DEPTH),
        (LONG + START * 8, SCRIPT_CHARACTERS),
        (START + "# a\n" * (SCRIPT_BYTES.most // 4), SCRIPT_BYTES),
    ],
)
def test_scripts_that_are_not_followed_are_reported_once(
    text: str,
    limit: Limit,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    script("start.sh", text, folder)
    monkeypatch.chdir(folder)
    main(["check", "."])
    output = capsys.readouterr()
    everything = output.out + output.err
    assert everything.count("start.sh: This script is only read in part.") == 1
    assert everything.count(f"at most {limit}; {limit.beyond}.") == 1


def test_a_script_of_exactly_so_many_bytes_is_read(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    rest = SCRIPT_BYTES.most - len(START)
    script("start.sh", "#" * (rest - 1) + "\n" + START, folder)
    script("long.sh", "#" * SCRIPT_BYTES.most + "\n" + START, folder)
    script("other.sh", START + "#" * rest + "\n", folder)
    roots = Roots([str(folder)])
    attributes: dict[str, str] = {}
    found = scripted_runs(
        str(folder), lambda _: False, NO_PREMISES, OverDisk({}, roots), roots, attributes.setdefault
    )
    origins = [run.run.origin for run in found]
    assert [Path(one.file).name for one in origins if one] == ["other.sh", "start.sh"]
    assert [Path(path).name for path in attributes] == ["other.sh"]
