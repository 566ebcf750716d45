"""The files for editors that are not run here: they parse, and their words are the language's."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from netsharp_engine.activations import NAMES
from netsharp_lsp import __version__
from netsharp_lsp.__main__ import COMMANDS
from tests.collection import SAMPLES
from tests.editors.conftest import ROOT

EDITORS = ROOT / "editors"
HIGHLIGHTS = ROOT / "grammar" / "netsharp" / "queries" / "highlights.scm"


def keywords() -> set[str]:
    """The keywords that the grammar's own query colours."""
    text = HIGHLIGHTS.read_text(encoding="utf-8")
    (block,) = re.findall(r"\[([^\]]*)\] @keyword", text)[:1]
    return set(re.findall(r'"(\w+)"', block))


def test_every_editor_starts_a_command_that_exists() -> None:
    assert "lsp" in COMMANDS
    starts = {
        "helix": tomllib.loads((EDITORS / "helix/languages.toml").read_text())["language-server"][
            "netsharp"
        ],
        "kate": json.loads((EDITORS / "kate/lspclient.json").read_text())["servers"]["netsharp"],
    }
    assert [starts["helix"]["command"], *starts["helix"]["args"]] == ["netsharp", "lsp"]
    assert starts["kate"]["command"] == ["netsharp", "lsp"]
    for path in ("neovim/lsp/netsharp.lua", "neovim-0.7/lua/netsharp.lua"):
        assert "cmd = { 'netsharp', 'lsp' }" in (EDITORS / path).read_text(), path


def test_helix_and_zed_agree_on_file_names() -> None:
    (helix,) = tomllib.loads((EDITORS / "helix/languages.toml").read_text())["language"]
    zed = tomllib.loads((EDITORS / "zed/languages/netsharp/config.toml").read_text())
    assert set(helix["file-types"]) == set(zed["path_suffixes"]) == {"netsharp", "nn"}
    extension = tomllib.loads((EDITORS / "zed/extension.toml").read_text())
    assert extension["language_servers"]["netsharp"]["languages"] == [zed["name"]]


def test_versions_are_the_package_s() -> None:
    for path in ("zed/extension.toml",):
        assert tomllib.loads((EDITORS / path).read_text())["version"] == __version__
    cargo = tomllib.loads((EDITORS / "zed/Cargo.toml").read_text())
    assert cargo["package"]["version"] == __version__
    assert f";; Version: {__version__}\n" in (EDITORS / "emacs/netsharp-mode.el").read_text()


def test_kate_knows_the_words_of_the_language() -> None:
    tree = ElementTree.parse(EDITORS / "kate/netsharp.xml")
    lists = {
        found.get("name"): {item.text for item in found.iter("item")} for found in tree.iter("list")
    }
    assert lists["keywords"] == keywords()
    assert lists["activations"] == set(NAMES)
    contexts = {found.get("name") for found in tree.iter("context")}
    used = {found.get("context") for found in tree.iter() if found.get("context")}
    assert {name for name in used if not str(name).startswith("#")} <= contexts


def test_emacs_knows_the_words_of_the_language() -> None:
    text = (EDITORS / "emacs/netsharp-mode.el").read_text()
    words = set(re.findall(r'"([a-z]+)"', text))
    assert keywords() <= words
    assert set(NAMES) <= words


@pytest.mark.parametrize("path", sorted(EDITORS.rglob("*.lua"), key=str), ids=lambda p: p.name)
def test_lua_compiles(path: Path) -> None:
    program = shutil.which("nvim")
    if program is None:
        pytest.skip("nvim is not installed ('make editors' installs it)")
    probe = f"lua local chunk, fault = loadfile([[{path}]]); if not chunk then error(fault) end"
    done = subprocess.run(
        [program, "--headless", "--clean", "-n", "-i", "NONE", "-c", probe, "-c", "qall!"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert "Error" not in done.stderr, done.stderr


#: What is no specification, though its name ends like one.
FOREIGN = ("import torch.nn\n", "layer relu 3\n", "inputs = [1]\n", "\x7fELF\n", "{}\n")


def test_neovim_knows_a_specification_by_its_content(tmp_path: Path) -> None:
    program = shutil.which("nvim")
    if program is None:
        pytest.skip("nvim is not installed ('make editors' installs it)")
    whole = [sample.text for sample in SAMPLES if sample.complete]
    texts = [b"", b"// only a comment\n", *whole, *map(str.encode, FOREIGN)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.nn").write_bytes(text)
    script = tmp_path / "look.lua"
    script.write_text(
        f"dofile([[{EDITORS / 'neovim/ftdetect/netsharp.lua'}]])\n"
        f"for number = 0, {len(texts) - 1} do\n"
        f"  vim.cmd('edit {tmp_path}/' .. number .. '.nn')\n"
        "  io.stdout:write(number .. ' ' .. vim.bo.filetype .. '\\n')\n"
        "end\n"
    )
    command = [program, "--headless", "--clean", "-n", "-i", "NONE"]
    # This version looks at files with Lua only where it is asked to.
    command += ["--cmd", "let g:do_filetype_lua = 1", "-c", f"luafile {script}", "-c", "qall!"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert len(told) == len(texts), done.stderr
    ours = [told[str(number)] == "netsharp" for number in range(len(texts))]
    missed = [texts[number][:80] for number, known in enumerate(ours[: -len(FOREIGN)]) if not known]
    assert missed == []
    assert not any(ours[-len(FOREIGN) :])
