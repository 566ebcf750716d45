"""The files for editors that are not run here: they parse, and their words are the language's."""

from __future__ import annotations

import json
import os
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
from netsharp_lsp.cntk.recognition import LANGUAGES, language_of
from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.embedded.hosts import ALIASES, HOSTS
from tests.cntk.collection import FILES
from tests.collection import SAMPLES
from tests.editors.conftest import EXPERIMENT, FAULTY, ROOT, editor

EDITORS = ROOT / "editors"
#: The language ids of CNTK's languages, and what Neovim calls their files: `mel` is Maya's there.
FILETYPES = {"cntk": "cntk", "brainscript": "brainscript", "ndl": "ndl", "mel": "cntkmel"}
#: The modes of Emacs.
MODES = {name: f"{'cntk-mel' if name == 'mel' else name}-mode" for name in FILETYPES}
#: What is not CNTK's, though its name ends like one of CNTK's.
OTHERS = {
    "app.config": "<?xml version='1.0'?>\n<configuration/>\n",
    "server.config": "port: 80\nhosts: a, b\n",
    "main.bs": "' A channel.\nsub Main()\n  x = 1\nend sub\n",
    "tests.bs": 'import "pkg:/a.bs"\nnamespace Tests\nend namespace\n',
    "scene.mel": "global proc move_all(float $x) {\n  setAttr a.tx $x;\n}\n",
    "empty.config": "",
}


def keywords(language: str = "netsharp") -> set[str]:
    """The keywords that the grammar's own query colours."""
    query = ROOT / "grammar" / language / "queries" / "highlights.scm"
    text = query.read_text(encoding="utf-8")
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
    helix = helix_languages()["netsharp"]
    zed = tomllib.loads((EDITORS / "zed/languages/netsharp/config.toml").read_text())
    assert set(helix["file-types"]) == set(zed["path_suffixes"]) == {"netsharp", "nn"}
    extension = tomllib.loads((EDITORS / "zed/extension.toml").read_text())
    assert extension["language_servers"]["netsharp"]["languages"] == [zed["name"]]


def helix_languages() -> dict[str, dict[str, object]]:
    listed = tomllib.loads((EDITORS / "helix/languages.toml").read_text())["language"]
    return {language["name"]: language for language in listed}


def test_helix_knows_the_languages_of_cntk_by_their_suffixes() -> None:
    languages = helix_languages()
    assert set(languages) == {"netsharp", *FILETYPES}
    for name in FILETYPES:
        suffixes = {suffix[1:] for suffix, known in LANGUAGES.items() if known == name}
        # A name that ends in `.config` says nothing, and Helix looks at names alone.
        assert set(languages[name]["file-types"]) == suffixes - {"config"}, name
        assert languages[name]["language-servers"] == ["netsharp"]
        assert languages[name]["comment-token"] == "#"


def test_versions_are_the_package_s() -> None:
    for path in ("zed/extension.toml",):
        assert tomllib.loads((EDITORS / path).read_text())["version"] == __version__
    cargo = tomllib.loads((EDITORS / "zed/Cargo.toml").read_text())
    assert cargo["package"]["version"] == __version__
    for file in (EDITORS / "emacs").glob("*.el"):
        assert f";; Version: {__version__}\n" in file.read_text()


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


@pytest.mark.parametrize("path", sorted(EDITORS.glob("kate/*.xml")), ids=lambda path: path.stem)
def test_kate_s_contexts_and_styles_are_there(path: Path) -> None:
    tree = ElementTree.parse(path)
    contexts = {found.get("name") for found in tree.iter("context")}
    names = {ElementTree.parse(each).getroot().get("name") for each in path.parent.glob("*.xml")}
    for found in tree.iter():
        for one in (found.get("context"), found.get("lineEndContext")):
            own, _, other = (one or "#stay").partition("##")
            target = own.rpartition("!")[2]
            assert other in names | {""}, one
            assert other or target.startswith(("#stay", "#pop")) or target in contexts, one
    styles = {found.get("name") for found in tree.iter("itemData")}
    assert {found.get("attribute") for found in tree.iter() if found.get("attribute")} <= styles


def test_every_editor_serves_every_host() -> None:
    """Compare the lists of Neovim, VS Code and Emacs with the server's, which grows first."""
    # Neovim has no type for notebooks, and one for all dialects of SQL.
    served = set(HOSTS.values()) - {"ipynb"}
    lua = (EDITORS / "neovim-0.7/lua/netsharp.lua").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^local HOSTS = \{(.*)\}$", lua, re.MULTILINE)
    assert set(re.findall(r"'(\w+)'", listed)) == served
    package = json.loads((ROOT / "vscode-extension/package.json").read_text(encoding="utf-8"))
    opened = {event.removeprefix("onLanguage:") for event in package["activationEvents"]}
    # The extension for SQL Server calls its texts `sql`; `mssql` is an id of other editors.
    assert served | {"tsql"} <= opened
    assert {"tsql"} <= set(ALIASES)
    lisp = (EDITORS / "emacs/netsharp-hosts.el").read_text(encoding="utf-8")
    table = lisp.partition("(defconst netsharp-host-modes\n")[2].partition("\n\n")[0]
    ids = set(re.findall(r"^ +'?\(+[\w-]+ \. \"(\w+)\"\)", table, re.MULTILINE))
    # R Markdown and Quarto have no modes there: their files are opened as Markdown, which reads
    # their chunks alike.
    assert ids == served - {"rmd", "quarto"}
    chunk = f"```{{r}}\nrxNeuralNet(y ~ x, netDefinition = '{FAULTY}')\n```\n".encode()
    found = [find_regions(name, chunk) for name in ("markdown", "rmd", "quarto")]
    texts = [[one.text for one in each] for each in found if not isinstance(each, str)]
    assert texts == [[FAULTY.encode()]] * 3


def test_kate_serves_every_language_by_its_id() -> None:
    servers = json.loads((EDITORS / "kate/lspclient.json").read_text())["servers"]
    assert set(servers) == {"netsharp", *FILETYPES}
    for name, server in servers.items():
        mode = ElementTree.parse(EDITORS / f"kate/{name}.xml").getroot().get("name")
        assert server["highlightingModeRegex"] == f"^{mode}$"
        assert name == "netsharp" or server["use"] == "netsharp"


def test_kate_knows_the_words_of_brainscript() -> None:
    tree = ElementTree.parse(EDITORS / "kate/brainscript.xml")
    (words,) = (found for found in tree.iter("list") if found.get("name") == "keywords")
    assert {item.text for item in words.iter("item")} == keywords("brainscript")


def test_kate_s_engine_colours_a_network_inside_a_configuration(tmp_path: Path) -> None:
    program = editor("kate-syntax-highlighter")
    folder = tmp_path / "share" / "org.kde.syntax-highlighting" / "syntax"
    shutil.copytree(EDITORS / "kate", folder)
    done = subprocess.run(
        [program, "-s", "CNTK", "-f", "ansi", str(EXPERIMENT / "digits.cntk")],
        env={
            **os.environ,
            "XDG_DATA_HOME": str(tmp_path / "share"),
            "QT_QPA_PLATFORM": "offscreen",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    painted = re.findall(r"\x1b\[([\d;]+)m([^\x1b]+)", done.stdout)
    colours = {word.strip(): colour for colour, word in reversed(painted)}
    assert colours["include"] == colours["BrainScriptNetworkBuilder ="]
    assert colours["DenseTanh"] == colours["Input"] != colours["include"]
    # After the network, keys are keys again.
    assert colours["evalNodeNames"] == colours["SGD"] == colours["RunName"] != colours["Input"]


def test_emacs_knows_the_words_of_brainscript() -> None:
    text = (EDITORS / "emacs/cntk-mode.el").read_text()
    assert keywords("brainscript") <= set(re.findall(r'"([a-z]+)"', text))


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


#: Texts that are not specifications, though their names end like one.
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
        f"vim.opt.rtp:append([[{EDITORS / 'neovim'}]])\n"
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
    output = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert len(output) == len(texts), done.stderr
    ours = [output[str(number)] == "netsharp" for number in range(len(texts))]
    missed = [texts[number][:80] for number, known in enumerate(ours[: -len(FOREIGN)]) if not known]
    assert missed == []
    assert not any(ours[-len(FOREIGN) :])


def expected(names: dict[str, str]) -> dict[str, str | None]:
    """What an editor is to call each of the texts of the corpus, and of those of others."""
    attributes: dict[str, str | None] = dict.fromkeys(OTHERS)
    for file in FILES:
        if not file.broken:
            found = language_of(file.name, file.data)
            attributes[file.name.replace("/", "-")] = (
                names.get(found) if isinstance(found, str) else None
            )
    return attributes


def write_corpus(folder: Path) -> None:
    """Every text that an editor is asked about, side by side."""
    for file in FILES:
        if not file.broken:
            (folder / file.name.replace("/", "-")).write_bytes(file.data)
    for name, text in OTHERS.items():
        (folder / name).write_text(text)


def test_neovim_knows_the_languages_of_cntk_by_their_content(tmp_path: Path) -> None:
    program = editor("nvim")
    write_corpus(tmp_path)
    wanted = expected(FILETYPES)
    edits = "".join(
        f"  vim.cmd('edit ' .. vim.fn.fnameescape([[{tmp_path / name}]]))\n"
        f"  io.stdout:write([[{name}]] .. ' ' .. vim.bo.filetype .. '\\n')\n"
        for name in wanted
    )
    script = tmp_path / "look.lua"
    script.write_text(f"dofile([[{EDITORS / 'neovim/ftdetect/netsharp.lua'}]])\n{edits}")
    command = [program, "--headless", "--clean", "-n", "-i", "NONE"]
    command += ["--cmd", f"set rtp+={EDITORS / 'neovim'}", "--cmd", "let g:do_filetype_lua = 1"]
    command += ["-c", f"luafile {script}", "-c", "qall!"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    output = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert len(output) == len(wanted), done.stderr
    ours = {name: output[name] if output[name] in FILETYPES.values() else None for name in wanted}
    assert ours == wanted


def test_emacs_knows_the_languages_of_cntk_by_their_content(tmp_path: Path) -> None:
    program = editor("emacs")
    write_corpus(tmp_path)
    wanted = expected(MODES)
    script = tmp_path / "look.el"
    visits = "".join(
        f'(find-file-noselect "{tmp_path / name}")\n'
        f'(with-current-buffer (get-file-buffer "{tmp_path / name}")'
        f' (princ (format "{name} %s\\n" major-mode)))\n'
        for name in wanted
    )
    script.write_text(
        f"(require 'package)\n(package-initialize)\n(require 'cntk-mode)\n"
        f"(setq enable-local-variables nil)\n{visits}"
    )
    command = [program, "-q", "--batch", "-L", str(EDITORS / "emacs"), "-l", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    output = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert len(output) == len(wanted), done.stderr
    ours = {name: output[name] if output[name] in MODES.values() else None for name in wanted}
    assert ours == wanted
