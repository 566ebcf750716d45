"""Folders as people have them, and the words of the protocol for what lies in them."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from tests.server.wire import Message, Wire

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Seconds within which what changed on disk must have been seen.
PATIENCE = 20.0
#: The sizes come only from the files around it.
AUTO = "input Data auto;\nhidden Hidden auto from Data all;\noutput Kind auto from Hidden all;\n"
TABLE = "length,width,kind\n1,2,a\n3,4,b\n5,6,c\n"


def example(name: str, folder: Path) -> Path:
    """A copy of an example; its specification."""
    shutil.copytree(EXAMPLES / name, folder / name)
    return folder / name / f"{name}.nn"


def furnish(folder: Path, text: str = AUTO, run_file: str | None = None) -> Path:
    """A specification `net.nn` beside a table `t.csv`, and perhaps a run file."""
    (folder / "net.nn").write_text(text)
    (folder / "t.csv").write_text(TABLE)
    if run_file is not None:
        (folder / "net.toml").write_text(run_file)
    return folder / "net.nn"


def opened(wire: Wire, path: Path, language: str = "netsharp") -> str:
    """Open a file as it is on disk; its URI."""
    wire.open(path.as_uri(), path.read_text(), language)
    return path.as_uri()


def hover(wire: Wire, uri: str, line: int, character: int) -> str:
    """What a hover says."""
    position = {"line": line, "character": character}
    params = {"textDocument": {"uri": uri}, "position": position}
    answer = wire.request("textDocument/hover", params)
    assert answer is not None
    return str(answer["contents"]["value"])


def becomes(wire: Wire, uri: str, place: tuple[int, int], words: str) -> None:
    """Wait until a hover says the words: what lies around is read beside the typing."""
    end = time.monotonic() + PATIENCE
    while words not in (reported := hover(wire, uri, *place)):
        assert time.monotonic() < end, reported
        time.sleep(0.02)


def codes(found: list[Message]) -> list[str]:
    """The codes of diagnostics."""
    return [diagnostic["code"] for diagnostic in found]


def execute(wire: Wire, command: str, *arguments: Any) -> Message:
    """The answer to a command of the server."""
    params = {"command": f"netsharp.server.{command}", "arguments": list(arguments)}
    return wire.exchange("workspace/executeCommand", params)


def shown(wire: Wire, since: int = 0) -> list[str]:
    """What was shown to the user in messages."""
    messages = [m for m in wire.heard[since:] if m.get("method") == "window/showMessage"]
    return [message["params"]["message"] for message in messages]


def asked(wire: Wire, method: str) -> list[Any]:
    """The parameters of what the server asked of the client."""
    return [m["params"] for m in wire.heard if m.get("method") == method and "id" in m]
