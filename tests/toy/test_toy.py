"""A language of another author gets what ours get, from the command line and in an editor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from netsharp_lsp.language import language_ids, register, suffixes
from netsharp_lsp.netsharp.family import FAMILY as NET_SHARP
from tests.server.wire import Wire
from tests.toy.language import FAMILY

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "tests.toy"]
TEXT = "  apples=3\npears = 4\napples = 5\n"


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def toy(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_is_unknown_until_it_is_registered_and_takes_nothing_of_others() -> None:
    assert "tally" not in language_ids()
    assert ".tally" not in suffixes()
    with pytest.raises(ValueError, match="belongs to Net# already"):
        register(NET_SHARP)


def test_it_is_checked_explained_and_repaired(tmp_path: Path) -> None:
    path = tmp_path / "a.tally"
    path.write_text(TEXT)
    found = toy(tmp_path, "check", "--format", "concise", ".")
    assert found.returncode == 1, found.stderr
    assert "a.tally:3:1: warning TA001 'apples' stands here twice." in found.stdout
    assert toy(tmp_path, "check", "--ignore", "TA001", "a.tally").returncode == 0
    assert "Name that is declared twice" in toy(tmp_path, "explain", "TA001").stdout
    assert toy(tmp_path, "check", "--fix", ".").returncode == 0
    assert path.read_text() == "  apples=3\npears = 4\n\n"
    path.write_text("a = 1\na = 2 ; netsharp: ignore[TA001]\n")
    assert toy(tmp_path, "check", "a.tally").returncode == 0


def test_it_is_formatted_described_and_compared(tmp_path: Path) -> None:
    (tmp_path / "a.tally").write_text(TEXT)
    (tmp_path / "b.tally").write_text("pears = 6\n")
    assert toy(tmp_path, "fmt", "--check", ".").stdout == "would reformat a.tally\n"
    assert toy(tmp_path, "fmt", ".").returncode == 0
    assert (tmp_path / "a.tally").read_text() == "apples = 3\npears = 4\napples = 5\n"
    described = toy(tmp_path, "describe", "--format", "json", "b.tally")
    assert json.loads(described.stdout)["parameters"] == 1
    compared = toy(tmp_path, "diff", "a.tally", "b.tally")
    assert "~ tally pears: 4 -> 6" in compared.stdout, compared.stderr
    assert compared.returncode == 1


def test_every_process_knows_it(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number:02}.tally").write_text(TEXT)
    found = toy(tmp_path, "check", "--format", "concise", "--spawn", ".")
    assert found.stdout.count("TA001") == 50, found.stderr


def test_it_cannot_be_trained(tmp_path: Path) -> None:
    (tmp_path / "a.tally").write_text(TEXT)
    done = toy(tmp_path, "run", "a.tally")
    assert done.returncode == 2
    assert "only Net# is trained here" in done.stderr


def test_the_command_names_it(tmp_path: Path) -> None:
    output = " ".join(toy(tmp_path, "--help").stdout.split())
    assert (
        "and in Tally (.tally); train and apply those in Net# and the languages of CNTK." in output
    )


def test_an_editor_gets_diagnostics_hovers_and_formatting(tmp_path: Path) -> None:
    path = tmp_path / "a.tally"
    path.write_text(TEXT)
    wire = Wire([*COMMAND, "lsp"], env=environment(), cwd=tmp_path)
    try:
        wire.initialize()
        uri = path.as_uri()
        wire.open(uri, TEXT, "tally")
        (reported,) = wire.published(uri)
        assert (reported["code"], reported["range"]["start"]["line"]) == ("TA001", 2)
        document = {"textDocument": {"uri": uri}}
        place = {**document, "position": {"line": 1, "character": 2}}
        hover = wire.request("textDocument/hover", place)
        assert "stands at 4" in hover["contents"]["value"]
        options = {"tabSize": 4, "insertSpaces": True}
        assert wire.request("textDocument/formatting", {**document, "options": options})
        assert wire.request("textDocument/semanticTokens/full", document)["data"] == []
        wire.send(wire.change(uri, 2, {"text": "pears = 4\n"}))
        assert wire.published(uri, 2) == []
        assert wire.stop() == 0
    finally:
        wire.process.kill()


def test_the_family_is_one() -> None:
    assert FAMILY.decode("ä = 1".encode("latin-1")).__class__.__name__ == "DecodeError"
    assert FAMILY.recognise("x.tally", b"") == "tally"


#: What the program of the toy language keeps of its own key, and whether an editor's says so, too.
KEPT = """
from netsharp_lsp.language import register
from netsharp_lsp.server.surroundings.preferences import read_preferences
from netsharp_lsp.settings import known_keys, read_settings
from tests.toy.language import FAMILY
before = known_keys()
register(FAMILY)
assert known_keys() == (*before, "tally-goal")
print(read_settings("netsharp.toml").of_families)
preferences, problems = read_preferences({"check": {"tally-goal": 8}}, "")
print(preferences.check.of_families, preferences.given, problems)
print(read_preferences({"check": {"tally-gaol": 8}}, "")[1])
"""


def test_it_brings_a_key_to_settings(tmp_path: Path) -> None:
    (tmp_path / "a.tally").write_text("a = 1\n")
    settings = tmp_path / "netsharp.toml"
    for line, sentence in {
        "tally-gaol = 7": "unknown key 'tally-gaol'. Did you mean 'tally-goal'?",
        "tally-goal = 'x'": "'tally-goal' must be a number, found 'x'.",
    }.items():
        settings.write_text(f"ignore = []\n{line}\n")
        output = toy(tmp_path, "check", "a.tally")
        assert output.returncode == 2
        assert f"netsharp.toml:2: {sentence}" in output.stderr
    settings.write_text("tally-goal = 7\n")
    assert toy(tmp_path, "check", "a.tally").returncode == 0
    kept = [sys.executable, "-c", KEPT]
    done = subprocess.run(
        kept, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [
        "{'tally-goal': 7}",
        "{'tally-goal': 8} frozenset({'tally-goal'}) []",
        "[\"unknown key 'netsharp.check.tally-gaol'. Did you mean 'check.tally-goal'?\"]",
    ], done.stderr
