"""A session reads its folders and what a person allows, and in a folder that is not trusted its
folders alone: every file that the process opens is written down.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import sys
from collections.abc import Iterator

import pytest

from tests.server.wire import Message, Wire

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")

SECRET = "hunter2"
#: The server as it is started, with a hook that writes down what is opened, listed or started.
WATCHED = """
import os, runpy, sys
log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
def hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "socket.connect"):
        name = os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes)) else ""
        os.write(log, f"{event} {os.path.realpath(name) if name else '-'}\\n".encode())
sys.addaudithook(hook)
sys.argv[0] = "netsharp"
runpy.run_module("netsharp_lsp", run_name="__main__")
"""
NETWORK = "input Data auto;\noutput Result [2] softmax from Data all;\n"


@contextlib.contextmanager
def watched(
    top: pathlib.Path, folders: list[pathlib.Path], **options: object
) -> Iterator[tuple[Wire, list[str]]]:
    """A server on folders; what it has opened is in the list once it has ended."""
    log = top / "opened.txt"
    environment = {**os.environ, "HOME": str(top / "home"), "XDG_CONFIG_HOME": ""}
    wire = Wire([sys.executable, "-c", WATCHED, str(log), "lsp"], env=environment)
    opened: list[str] = []
    try:
        listed = [{"uri": one.as_uri(), "name": one.name} for one in folders]
        wire.initialize(workspaceFolders=listed, initializationOptions=options)
        yield wire, opened
        assert wire.stop() == 0
    finally:
        wire.process.kill()
        wire.process.wait()
    assert wire.process.stderr is not None
    assert SECRET not in wire.process.stderr.read().decode()
    assert SECRET not in str(wire.heard)
    opened += log.read_text().splitlines()


def codes(found: list[Message]) -> list[str]:
    return [str(one["code"]) for one in found]


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder whose files name files of another in every way that there is."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    for name in ("s.cntk", "s.bs", "s.ndl", "s.mel", "s.nn", "s.toml", "s.csv", "s.json"):
        (outside / name).write_text(f"{SECRET} = [ {SECRET}\n")
    (inside / "a.cntk").write_text(
        f"include={outside}/s.cntk\ncommand = Train\nTrain = {{ action = train\n"
        f'BrainScriptNetworkBuilder = {{ include "{outside}/s.bs" }}\n'
        f"ndlMacros = ../outside/s.ndl ; editPath = link.mel }}\n"
    )
    (inside / "link.mel").symlink_to(outside / "s.mel")
    (inside / "link.nn").symlink_to(outside / "s.nn")
    (inside / "way").symlink_to(outside)
    (inside / "b.nn").write_text(NETWORK)
    (inside / "b.toml").write_text(f'[data]\ntrain = "{outside}/s.csv"\n')
    (inside / "c.nn").write_text(NETWORK)
    (inside / "c.toml").symlink_to(outside / "s.toml")
    (inside / "netsharp.toml").write_text(
        f'baseline = "{outside}/s.json"\n[[cntk.run]]\nfiles = ["a.cntk", "{outside}/s.cntk"]\n'
    )
    (inside / "run.sh").write_text(f"cntk configFile={outside}/s.cntk\n")
    return inside


@pytest.mark.parametrize("trusted", [False, True])
def test_no_file_outside_is_opened(
    folder: pathlib.Path, tmp_path: pathlib.Path, trusted: bool
) -> None:
    with watched(tmp_path, [folder], trusted=trusted) as (wire, opened):
        uris = {}
        for name, language in (("a.cntk", "cntk"), ("b.nn", "netsharp"), ("c.nn", "netsharp")):
            uris[name] = (folder / name).as_uri()
            text = (folder / name).read_text()
            wire.open(uris[name], text, language)
            found = wire.published(uris[name])
            own = "CK119" if name == "a.cntk" else "NS130"
            assert [code for code in codes(found) if code == own] == [own], (name, found)
            assert [one for one in found if one["severity"] < 3] == []
        text = {"textDocument": {"uri": uris["a.cntk"]}}
        wire.request("workspace/symbol", {"query": ""})
        wire.request("textDocument/documentLink", text)
        for line, character in ((0, 12), (3, 40), (4, 20)):
            there = {**text, "position": {"line": line, "character": character}}
            for method in ("hover", "definition", "completion"):
                answer = wire.request(f"textDocument/{method}", there)
                assert "outside" not in str(answer), (method, answer)
    own = (sys.prefix, sys.base_prefix, "/usr", "/dev", "/proc", "/etc/ld", os.getcwd())
    packages = tuple(os.path.realpath(path) for path in sys.path if path)
    allowed = (*map(os.path.realpath, own), *packages, str(folder), "-")
    foreign = [one for one in opened if not one.partition(" ")[2].startswith(allowed)]
    home = str(tmp_path / "home" / ".config" / "netsharp")
    assert [one for one in foreign if home not in one] == []
    assert [one for one in opened if str(tmp_path / "outside") in one] == []


def included(tmp_path: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path, str]:
    """Two folders, one of which includes a file of the other; and what it says."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (other / "x.cntk").write_text("x = 1\n")
    text = "include=../other/x.cntk\ny = $x$\n"
    (one / "a.cntk").write_text(text)
    return one, other, text


def reported(wire: Wire, folder: pathlib.Path, text: str) -> list[str]:
    wire.open((folder / "a.cntk").as_uri(), text, "cntk")
    return codes(wire.published((folder / "a.cntk").as_uri()))


def test_folders_of_the_workspace_are_inside_together(tmp_path: pathlib.Path) -> None:
    one, other, text = included(tmp_path)
    with watched(tmp_path, [one, other], trusted=False) as (wire, _):
        assert reported(wire, one, text) == []
        left = {"added": [], "removed": [{"uri": other.as_uri(), "name": ""}]}
        wire.notify("workspace/didChangeWorkspaceFolders", {"event": left})
        wire.send(wire.change((one / "a.cntk").as_uri(), 2, {"text": text + "\n"}))
        assert codes(wire.published((one / "a.cntk").as_uri(), 2)) == ["CK119"]


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("way", ["setting", "own", "work-tree"])
def test_what_a_person_adds_counts_where_the_folder_is_trusted(
    tmp_path: pathlib.Path, trusted: bool, way: str
) -> None:
    one, other, text = included(tmp_path)
    settings = {"roots": [str(other)]} if way == "setting" else {}
    if way == "own":
        own = tmp_path / "home" / ".config" / "netsharp" / "netsharp.toml"
        own.parent.mkdir(parents=True)
        own.write_text(f"roots = ['{other}']\n")
    if way == "work-tree":
        (tmp_path / ".git").mkdir()
    with watched(tmp_path, [one], trusted=trusted, settings=settings) as (wire, _):
        assert reported(wire, one, text) == ([] if trusted else ["CK119"])


def test_a_setting_of_a_single_folder_adds_nothing(tmp_path: pathlib.Path) -> None:
    one, other, text = included(tmp_path)
    answers = {None: {}, one.as_uri(): {"roots": [str(other)]}}
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}
    wire = Wire(env=environment)
    wire.answers["workspace/configuration"] = lambda params: [
        answers[item.get("scopeUri")] for item in params["items"]
    ]
    try:
        listed = [{"uri": one.as_uri(), "name": "one"}]
        wire.initialize({"workspace": {"configuration": True}}, workspaceFolders=listed)
        assert reported(wire, one, text) == ["CK119"]
        assert wire.stop() == 0
    finally:
        wire.process.kill()
        wire.process.wait()
