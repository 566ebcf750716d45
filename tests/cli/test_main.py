"""The entry point: version, help, unknown commands, pipes, Ctrl-C and the unforeseen."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from netsharp_lsp import __main__ as entry
from netsharp_lsp import __version__
from tests.cli.command_line import clean_environment, netsharp

BARRED = ("pygls", "lsprotocol", "parso", "numpy", "rich", "safetensors")
#: Not barred, but each would cost a cold start more than a network's check does.
COSTLY = ("typing", "dataclasses", "pathlib", "json", "tomllib", "difflib", "subprocess", "inspect")
CLEAN = "input A [3];\noutput R [2] softmax from A all;\n"


def modules_of(*arguments: str, cwd: pathlib.Path) -> set[str]:
    """Every module that a command imports beyond those of a bare start."""
    answer = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "netsharp_lsp", *arguments],
        cwd=cwd,
        capture_output=True,
        check=True,
        text=True,
        env=clean_environment(),
    )
    rows = (line.rpartition("|")[2].strip() for line in answer.stderr.splitlines() if "|" in line)
    return set(rows)


@pytest.mark.parametrize("name", entry.COMMANDS)
def test_no_command_has_an_argument_called_as_what_all_are_given(name: str) -> None:
    """`cache --stale` once looked for a folder called '--stale'."""
    parser = argparse.ArgumentParser()
    importlib.import_module(f"netsharp_lsp.cli.{name}").add_arguments(parser)
    assert "given_words" not in {action.dest for action in parser._actions}


def test_version_and_help(tmp_path: pathlib.Path) -> None:
    assert netsharp("--version", cwd=tmp_path).out == f"netsharp {__version__}\n"
    answer = netsharp("--help", cwd=tmp_path)
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines() if line.startswith("  ")][:-2] == [
        "check",
        "fmt",
        "explain",
        "describe",
        "diff",
        "config",
        "migrate",
        "import",
        "run",
        "doctor",
        "plan",
        "cache",
        "predict",
        "evaluate",
        "weights",
        "export",
        "compile",
        "simulate",
        "lsp",
    ]
    assert netsharp("help", "check", cwd=tmp_path).out == netsharp("check", "-h", cwd=tmp_path).out


def test_no_command_and_unknown_ones_exit_2(tmp_path: pathlib.Path) -> None:
    nothing = netsharp(cwd=tmp_path)
    assert (nothing.code, nothing.out) == (2, "")
    assert nothing.err.startswith("usage: netsharp COMMAND")
    unknown = netsharp("chekc", cwd=tmp_path)
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err == "netsharp: 'chekc' is not a command. Did you mean 'check'?\n"
    option = netsharp("--verison", cwd=tmp_path)
    listed = "'netsharp --help' lists the commands.\n"
    assert option.err == f"netsharp: '--verison' is not an option. {listed}"
    wrong = netsharp("check", "--formt", "json", cwd=tmp_path)
    assert wrong.code == 2
    assert wrong.err == "netsharp: '--formt' is not an option. Did you mean '--format'?\n"


def test_version_imports_no_argparse(tmp_path: pathlib.Path) -> None:
    modules = modules_of("--version", cwd=tmp_path)
    assert modules.isdisjoint((*BARRED, "argparse"))
    assert not [name for name in modules if name.startswith("netsharp_lsp.")]


@pytest.mark.parametrize("arguments", [("check", "a.nn"), ("explain", "--all")])
def test_cheap_commands_import_nothing_heavy(
    tmp_path: pathlib.Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "a.nn").write_text(CLEAN)
    bare = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import argparse, tree_sitter, runpy"],
        capture_output=True,
        check=True,
        text=True,
        env=clean_environment(),
    )
    paid_anyway = {line.rpartition("|")[2].strip() for line in bare.stderr.splitlines()}
    modules = modules_of(*arguments, cwd=tmp_path)
    assert modules.isdisjoint(BARRED)
    assert (modules - paid_anyway).isdisjoint(COSTLY)


@pytest.mark.costly
def test_a_closed_pipe_ends_quietly(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.nn").write_text("input A [0];\n" * 20000)
    command = f'"{sys.executable}" -m netsharp_lsp check --format concise a.nn | head -1'
    answer = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment(),
    )
    first, code = answer.stdout.splitlines()
    assert first.startswith("a.nn:1:")
    assert code == "141"
    assert answer.stderr == ""


def test_watch_checks_again_until_ctrl_c(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.nn"
    file.write_text(CLEAN)
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "netsharp_lsp",
                "check",
                "--watch",
                "--format",
                "concise",
                "a.nn",
            ],
            cwd=tmp_path,
            stdout=out,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == b"Waiting for changes; Ctrl-C ends.\n"
            file.write_text("input A [0];\n" + CLEAN.replace("A", "B"))
            assert process.stderr.readline() == b"Waiting for changes; Ctrl-C ends.\n"
            time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, rest = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 130
    assert rest == b""
    assert "a.nn:1:10: error NS050" in log.read_text()


@pytest.mark.costly
def test_ctrl_c_ends_many_processes_quietly(tmp_path: pathlib.Path) -> None:
    text = "".join(f"input A{number} [0];\n" for number in range(300))
    for number in range(400):
        (tmp_path / f"f{number}.nn").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "netsharp_lsp", "check", "--format", "concise"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        start_new_session=True,
    )
    time.sleep(0.7)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == (b"", b"")


def test_the_unforeseen_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: list[str]) -> int:
        raise ZeroDivisionError("by zero")

    monkeypatch.delenv("NETSHARP_DEBUG", raising=False)
    monkeypatch.setattr(entry, "_dispatch", fail)
    assert entry.main(["check"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("netsharp: internal error (ZeroDivisionError: by zero); please report")
    monkeypatch.setenv("NETSHARP_DEBUG", "1")
    assert entry.main(["check"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_command_costs_a_process_that_continues_no_look_through_what_it_froze(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting what is frozen takes a quarter of a second in a process of ten million objects."""
    (tmp_path / "a.nn").write_text(CLEAN)
    table = tmp_path / "t.csv"
    table.write_text("a,b,y\n0.1,1,p\n0.2,1,q\n")
    calls: list[str] = []
    for name in ("get_freeze_count", "freeze", "unfreeze", "get_objects"):
        monkeypatch.setattr(gc, name, lambda name=name: calls.append(name))
    entry.main(["check", str(tmp_path / "a.nn")])
    entry.main(["run", str(tmp_path / "a.nn"), "--train", str(table), "--label", "y"])
    capsys.readouterr()
    assert calls == []


@pytest.mark.parametrize("command", ["check", "fmt", "describe"])
def test_a_process_that_continues_collects_as_before(
    command: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.nn").write_text(CLEAN)
    frozen = gc.get_freeze_count()
    assert gc.isenabled()
    assert entry.main([command, str(tmp_path / "a.nn")]) == 0
    # Of what another test has frozen some may be let go of meanwhile.
    assert gc.isenabled()
    assert gc.get_freeze_count() <= frozen
    capsys.readouterr()


def test_a_full_disk_is_a_sentence(tmp_path: pathlib.Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    (tmp_path / "a.nn").write_text(CLEAN)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "netsharp_lsp", "check", "a.nn"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=clean_environment(),
        )
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.returncode == 2
