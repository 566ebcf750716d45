"""Completion in Neovim and Emacs as a person meets it: words typed key by key, then the editor's
own key for completion; the rows of `typed.json`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.editors.conftest import ROOT, editor
from tests.editors.terminal import Terminal

HERE = Path(__file__).parent
TABLE = json.loads((HERE / "typed.json").read_text(encoding="utf-8"))


class Typed(NamedTuple):
    """What is typed at the end of a line, at how many milliseconds a key, what is wanted then."""

    file: str
    line: int
    words: str
    milliseconds: int
    wanted: str


ROWS = [Typed(*row) for row in TABLE["typed"]]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the files of the table, which no editor saves."""
    texts = {tmp_path / name: "\n".join(lines) for name, lines in TABLE["files"].items()}
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    yield tmp_path
    for path, text in texts.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} was saved"


def environment(folder: Path, server: str) -> dict[str, str]:
    return {
        **os.environ,
        "NETSHARP_COMMAND": server,
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }


@pytest.fixture
def neovim(folder: Path, server: str) -> Iterator[Terminal]:
    program = editor("nvim")
    installed = folder / "installed"
    for part in ("neovim-0.7", "neovim/ftplugin", "neovim/lua"):
        source = ROOT / "editors" / part
        target = installed if part == "neovim-0.7" else installed / source.name
        shutil.copytree(source, target, dirs_exist_ok=True)
    socket = str(folder / "socket")
    words = [program, "--clean", "-n", "-i", "NONE", "--listen", socket]
    words += ["--cmd", f"set rtp+={installed}", "-S", str(HERE / "neovim_typing.lua")]
    ask = [program, "--server", socket, "--remote-expr"]
    terminal = Terminal(words, environment(folder, server), ask)
    assert terminal.until("mode()", "n".__eq__) == "n"
    yield terminal
    terminal.close()


@pytest.fixture
def emacs(folder: Path, server: str) -> Iterator[Terminal]:
    program = editor("emacs")
    words = [program, "-q", "-nw", "-L", str(ROOT / "editors" / "emacs")]
    words += ["-l", str(HERE / "emacs-typing.el")]
    ask = [editor("emacsclient"), "-s", str(folder / "socket"), "--eval"]
    given = {**environment(folder, server), "NETSHARP_SOCKETS": str(folder)}
    terminal = Terminal(words, given, ask)
    assert terminal.until("(+ 1 1)", "2".__eq__) == "2"
    yield terminal
    terminal.close()


def taken_in_neovim(neovim: Terminal, row: Typed) -> list[str]:
    """Open the list two keys before the last, narrow it with them, take what is wanted; return the
    lines from there on.
    """
    neovim.type(f"{row.line}GA")
    neovim.type(row.words[:-2], row.milliseconds)
    neovim.type("\x18\x0f")
    assert neovim.until("pumvisible()", "1".__eq__) == "1", row
    neovim.type(row.words[-2:], row.milliseconds)
    listed = neovim.settled("v:lua.netsharp_listed()", lambda said: row.wanted in said)
    # What does not begin as the word is listed, and not shown.
    word = re.split(r"\W", row.words)[-1]
    shown = [each for each in json.loads(listed) if each.startswith(word)]
    places = [at for at, each in enumerate(shown) if each.startswith(row.wanted)]
    assert places, (row, listed)
    neovim.type("\x0e" * (places[0] + 1) + "\x19")
    line = f"getline({row.line})"
    assert row.wanted in neovim.until(line, lambda said: row.wanted in said), (row, listed)
    written: list[str] = json.loads(neovim.show(f"json_encode(getline({row.line}, '$'))"))
    return written


def test_neovim(folder: Path, neovim: Terminal) -> None:
    for row in ROWS:
        neovim.type("\x1b", 50)
        neovim.type(f":edit! {folder / row.file}\r", 5)
        assert neovim.until("v:lua.netsharp_ready()", "true".__eq__) == "true", row
        written = taken_in_neovim(neovim, row)
        typed = row.words[: -len(row.words.split()[-1])]
        assert typed in written[0], (row, written)
        assert not any(mark in line for line in written for mark in "\n\0"), (row, written)


def seen_in_emacs(emacs: Terminal, row: Typed) -> str:
    """Type, press M-TAB, and return the candidates, or the text with the only one put in."""
    emacs.type("\x1bx")
    emacs.type(f"goto-line\r{row.line}\r\x05", 10)
    emacs.type(row.words, row.milliseconds)
    emacs.type("\x1b\t")
    return emacs.until("(netsharp-test-seen)", lambda said: row.wanted in said)


def test_emacs(emacs: Terminal, folder: Path) -> None:
    for row in ROWS:
        opened = f'(netsharp-test-open "{folder / row.file}")'
        assert emacs.until(opened, f'"{row.file}"'.__eq__), row
        # Its server starts after the next key.
        emacs.type("\x05")
        assert emacs.until("(netsharp-test-ready)", "t".__eq__) == "t", row
        seen = seen_in_emacs(emacs, row)
        assert row.wanted in seen, (row, seen)
        emacs.show(f'(netsharp-test-forget "{row.file}")')
