"""Completion in Neovim and Emacs as a person meets it: words typed key by key at the speeds of
people, the list that opens by itself, and what is taken from it, at the places of the server's
table of typed lists, which VS Code's scenario types, too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import SEED
from tests.editors.conftest import ROOT, editor
from tests.editors.places import Typed, typed_places, write_files
from tests.editors.terminal import Terminal
from tests.server.typed_places import FILES, Place

HERE = Path(__file__).parent
ROWS = typed_places()
#: What the documents have a person put into the file that Emacs begins with.
ELISP = re.compile(r"^```elisp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Words that begin a declaration of Net# and never occur within one.
BEGINS = ("hidden", "input", "output", "network", "const", "share")
#: The text that an accepted item may replace.
LAST_WORD = re.compile(r"[\"$]*\w*\Z")
#: Seconds for the list once all keys are typed.
SOON = 10.0


class Seen(NamedTuple):
    """The line, the first labels of the open list, those that begin a declaration, the position of
    the wanted one, from 1 (0: none), and the text that it inserts.
    """

    line: str = ""
    listed: tuple[str, ...] = ()
    begun: tuple[str, ...] = ()
    at: int = 0
    text: str = ""


class Editor(NamedTuple):
    """How an editor is asked and driven."""

    #: Open a file as it is on disk, with the cursor at the end of a line, and wait for its server.
    opens: Callable[[Terminal, Path, int], bool]
    #: The question for what is seen, by what is wanted and by words that begin nothing there, and
    #: for the whole text; what an answer to either holds.
    seen: Callable[[str, tuple[str, ...]], str]
    text: str
    value: Callable[[str], Any]
    #: The keys that accept the item at that position, from 1.
    takes: Callable[[int], str]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the files of the table, which no editor saves."""
    texts = write_files(tmp_path)
    yield tmp_path
    for path, text in texts.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} was saved"


def environment(folder: Path, server: str) -> dict[str, str]:
    return {
        **os.environ,
        "NETSHARP_COMMAND": server,
        "NVIM_LOG_FILE": str(folder / "neovim.log"),
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
    has_lists = [program, "-q", "--batch", "-f", "package-initialize", "-l", "company"]
    if subprocess.run(has_lists, capture_output=True, check=False).returncode:
        pytest.skip("company is not installed ('make editors' installs it)")
    hosts = folder / "hosts.el"
    readme = (ROOT / "editors" / "README.md").read_text(encoding="utf-8")
    hosts.write_text("\n".join(ELISP.findall(readme)), encoding="utf-8")
    words = [program, "-q", "-nw", "-L", str(ROOT / "editors" / "emacs")]
    words += ["-l", str(HERE / "emacs-typing.el"), "-l", str(hosts)]
    ask = [editor("emacsclient"), "-s", str(folder / "socket"), "--eval"]
    given = {**environment(folder, server), "NETSHARP_SOCKETS": str(folder)}
    terminal = Terminal(words, given, ask)
    loaded = "(and (memq 'netsharp--serve-host plain-markdown-mode-hook) t)"
    assert terminal.until(loaded, "t".__eq__) == "t"
    yield terminal
    terminal.close()


def _neovim_opens(neovim: Terminal, path: Path, line: int) -> bool:
    neovim.type("\x1b", 50)
    # What was typed before is forgotten.
    neovim.type(f":silent! %bwipeout! | edit {path}\r", 1)
    ready = neovim.until("v:lua.netsharp_ready()", "true".__eq__) == "true"
    neovim.type(f"{line}GA", 1)
    return ready


def _emacs_opens(emacs: Terminal, path: Path, line: int) -> bool:
    emacs.show("(netsharp-test-forget)")
    name = f'"{path.name}"'
    opened = emacs.until(f'(netsharp-test-open "{path}" {line})', name.__eq__) == name
    # Its server starts after the next key.
    emacs.type("\x05")
    return opened and emacs.until("(netsharp-test-ready)", "t".__eq__) == "t"


NEOVIM = Editor(
    opens=_neovim_opens,
    seen=lambda wanted, unwanted: f"v:lua.netsharp_seen({_quoted(wanted)}, {list(unwanted)})",
    text="v:lua.netsharp_text()",
    value=json.loads,
    takes=lambda at: "\x0e" * at + "\x19",
)
EMACS = Editor(
    opens=_emacs_opens,
    seen=lambda wanted, unwanted: (
        f"(netsharp-test-seen {json.dumps(wanted)} '({' '.join(map(json.dumps, unwanted))}))"
    ),
    text="(netsharp-test-text)",
    # A text is printed as Emacs reads it.
    value=lambda text: json.loads(json.loads(text)),
    takes=lambda at: "\x1bn" * (at - 1) + "\r",
)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _typed(terminal: Terminal, driven: Editor, folder: Path, row: Typed) -> str:
    """Type a row, look at the list that is open then, and take what is wanted from it; return what
    was wrong, '' for nothing.
    """
    place = row.place
    if not driven.opens(terminal, folder / place.file, place.line):
        return "the file has no server"
    terminal.type(place.lead, 1)
    terminal.type(place.keys, row.milliseconds)

    def seen(message: str) -> Seen:
        return Seen(**driven.value(message)) if message else Seen()

    def complete(message: str) -> bool:
        now = seen(message)
        return now.line.endswith(place.lead + place.keys) and now.at > 0

    within = place.of_netsharp and not place.wanted.startswith(BEGINS)
    asked = driven.seen(place.wanted, BEGINS if within else ())
    shown = seen(terminal.until(asked, complete, SOON))
    if not shown.at:
        return f"not listed behind {shown.line!r}: {shown.listed}"
    if shown.begun:
        return f"declarations within another: {shown.begun}"
    terminal.type(driven.takes(shown.at), 1)
    pattern = _taken(place, shown.text)
    text = terminal.until(
        driven.text,
        lambda message: bool(message and pattern.fullmatch(driven.value(message))),
        SOON,
    )
    return "" if pattern.fullmatch(driven.value(text)) else f"not taken: {shown.text!r} in {text}"


def _taken(place: Place, put_in: str) -> re.Pattern[str]:
    """The text once an item is taken: what it inserts replaces at most the last word, its further
    lines indented somehow, and everything else is as it was.
    """
    lines = FILES[place.file].split("\n")
    before = "\n".join([*lines[: place.line - 1], lines[place.line - 1] + place.lead + place.keys])
    after = "\n".join(["", *lines[place.line :]])
    word = LAST_WORD.search(before)
    assert word is not None
    kept, end = re.escape(before[: word.start()]), re.escape(after)
    inside = re.escape(put_in).replace("\\\n", "\n[ \\t]*")
    starts = "|".join(re.escape(word.group()[:many]) for many in range(len(word.group()), -1, -1))
    return re.compile(f"{kept}(?:{starts}){inside}{end}")


def _all_typed(terminal: Terminal, driven: Editor, folder: Path, rows: list[Typed]) -> None:
    """Type every row; one fault does not hide another."""
    print(f"speeds by seed {SEED}")
    tried = [(row, _typed(terminal, driven, folder, row)) for row in rows]
    faults = [f"{place} at {speed} ms: {fault}" for (place, speed), fault in tried if fault]
    assert not faults, "\n".join(faults)


def test_neovim(folder: Path, neovim: Terminal) -> None:
    _all_typed(neovim, NEOVIM, folder, ROWS)


def test_emacs(folder: Path, emacs: Terminal) -> None:
    _all_typed(emacs, EMACS, folder, ROWS)
