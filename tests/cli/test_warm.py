"""A command that is forked says what one says that begins with the interpreter."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command_line import MOST_SECONDS, clean_environment, starter
from tests.cli.warm import SAMPLES

LONG = b"Content-Length: 999\r\n\r\n" + b" " * (1 << 20)
COMMANDS = (
    (),
    ("--version",),
    ("check",),
    ("check", "-"),
    ("check", "a.nn", "missing.nn"),
    ("check", "--format", "json", "b.cntk"),
    ("describe", "a.nn", "--format", "json"),
    ("fmt", "--diff", "a.nn"),
    ("fmt", "-"),
    ("config", "b.cntk", "--get", "command"),
    ("no such command",),
    ("weights", "a.nn"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_both_say_the_same(command: tuple[str, ...], tmp_path: Path) -> None:
    for name, text in SAMPLES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = SAMPLES["a.nn"].encode()
    cold = subprocess.run(
        [sys.executable, "-m", "netsharp_lsp", *command],
        cwd=tmp_path,
        input=given,
        capture_output=True,
        timeout=MOST_SECONDS,
        check=False,
        env=clean_environment(),
    )
    warm = starter().run(command, tmp_path, given, clean_environment(), MOST_SECONDS)
    assert (warm.returncode, warm.stdout, warm.stderr) == (
        cold.returncode,
        cold.stdout,
        cold.stderr,
    )


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        starter().run(("lsp",), tmp_path, LONG, {}, 0.01)
    assert time.monotonic() - began < MOST_SECONDS
    done = starter().run(("--version",), tmp_path, b"", clean_environment(), MOST_SECONDS)
    assert done.returncode == 0


def test_it_has_the_environment_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starter()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "netsharp").mkdir()
    (tmp_path / "netsharp" / "netsharp.toml").write_text("[check]\nignore = 3\n", encoding="utf-8")
    (tmp_path / "a.nn").write_text(SAMPLES["a.nn"], encoding="utf-8")
    answers = [
        starter().run(("check", "a.nn"), tmp_path, b"", environment, MOST_SECONDS)
        for environment in (clean_environment(), clean_environment() | {"XDG_CONFIG_HOME": "/"})
    ]
    assert answers[0].stderr != answers[1].stderr
