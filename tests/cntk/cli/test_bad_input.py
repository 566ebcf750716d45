"""Pathological texts: long lines, deep brackets, bytes at random; the commands
answer soon, with a sentence or with diagnostics and never with a traceback.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

#: A loaded machine takes longer than the few seconds that a person waits.
SECONDS = 60
SUFFIXES = ("cntk", "bs", "ndl", "mel")
TEXTS = {
    "empty": b"",
    "blanks": b" \n\t\r\n  \r",
    "zeros": b"\0" * 1000,
    "binary": random.Random(1).randbytes(20_000),
    "a long word": b"a = " + b"x" * 300_000,
    "a long list": b"a = " + b"1:" * 3_000 + b"1",
    "signs of comments": b"a = " + b"/*" * 3_000,
    "dollars": b"a = " + b"$" * 3_001,
    "blanks within a line": b"a = 1" + b" " * 100_000 + b"2",
    "brackets that stay open": b"a = " + b"({[" * 1_000,
    "brackets that close": b"a = 1" + b")" * 3_000,
    "two bytes to a letter": "a = 1\n".encode("utf-16"),
    "one key again and again": b"key = 1\n" * 2_000,
}


def answer(*arguments: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """What a command says in a process of its own, with the place of what is unforeseen."""
    return subprocess.run(
        [sys.executable, "-m", "netsharp_lsp", *arguments],
        cwd=folder,
        env={**os.environ, "NETSHARP_DEBUG": "1"},
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("command", ["check", "fmt --check", "migrate", "describe"])
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.costly
def test_nothing_is_too_odd(command: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "netsharp.toml").write_bytes(b"")
    for suffix in SUFFIXES:
        (tmp_path / f"odd.{suffix}").write_bytes(TEXTS[name])
        reported = answer(*command.split(), f"odd.{suffix}", folder=tmp_path)
        assert reported.returncode in (0, 1, 2), reported.stderr
        assert b"Traceback" not in reported.stderr, reported.stderr.decode("utf-8", "replace")
        assert reported.returncode != 2 or reported.stderr.strip()


def test_a_link_that_leads_to_itself_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "netsharp.toml").write_bytes(b"")
    (tmp_path / "a.cntk").write_bytes(b"a = 1\n")
    (tmp_path / "b.cntk").symlink_to("c.cntk")
    (tmp_path / "c.cntk").symlink_to("b.cntk")
    reported = answer("check", ".", folder=tmp_path)
    assert b"Traceback" not in reported.stderr, reported.stderr
    assert reported.returncode == 0, reported.stderr


def test_variables_that_double_are_given_up(tmp_path: Path) -> None:
    doubled = "".join(f"v{n}=$v{n + 1}$$v{n + 1}$\n" for n in range(40))
    (tmp_path / "double.cntk").write_text(f"{doubled}v40=xx\ncommand=$v0$\n")
    reported = answer("config", "double.cntk", folder=tmp_path)
    assert reported.returncode == 1
    assert b"the length limit" in reported.stderr + reported.stdout
