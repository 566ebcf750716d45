"""The manifest says what is so: files, settings, commands, languages as the other side has them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from netsharp_lsp import __version__
from netsharp_lsp.context import HOSTS, TASKS
from netsharp_lsp.language import language_by_id
from netsharp_lsp.server.surroundings.preferences import EDITORS_OWN, SWITCHES
from netsharp_lsp.settings import LINE_ENDINGS, ROOTS, known_keys
from tests.collection import SAMPLES
from tests.extension.conftest import EXTENSION, PACKAGING, ROOT

sys.path.insert(0, str(PACKAGING))
from targets import PYTHONS

MANIFEST: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
CONTRIBUTED = MANIFEST["contributes"]
SETTINGS = CONTRIBUTED["configuration"]["properties"]
#: Keys of the extension alone; it keeps them from the server.
OWN = {"netsharp.detectByContent", "netsharp.embedded.enable"}
#: Keys of `netsharp.toml` that mean something to a command line, or in a file, only.
COMMAND_LINE = {"fail-on", "baseline", "cntk"}
#: What a person downloads at most.
MOST_BYTES = 25_000_000
#: The packages of each archive, by the folders that they are imported from.
SERVER = {"netsharp_lsp", "netsharp_engine", "netsharp_grammar", "tree_sitter", "pygls"}
SERVER |= {"attr", "cattrs", "lsprotocol", "parso", "dulwich"}
TRAINING = {"numpy", "safetensors"}
COMMANDS = {
    "restartServer",
    "showOutput",
    "format",
    "fixAll",
    "showNetwork",
    "train",
    "stopTraining",
    "compile",
    "describe",
    "examine",
    "toggleHints",
    "migrate",
    "newSpecification",
}


def paths(value: Any) -> list[str]:
    """Every path of a file in a part of the manifest."""
    if isinstance(value, dict):
        return [path for each in value.values() for path in paths(each)]
    if isinstance(value, list):
        return [path for each in value for path in paths(each)]
    looks = isinstance(value, str) and re.fullmatch(r"\.?/?[\w/.-]+\.(json|md|svg|png)", value)
    return [value] if looks else []


def test_every_file_is_there() -> None:
    found = paths([CONTRIBUTED[key] for key in ("languages", "grammars")])
    found += paths([CONTRIBUTED["walkthroughs"], MANIFEST["icon"]])
    assert len(found) > 15
    assert [path for path in found if not (EXTENSION / path).is_file()] == []


def test_settings_are_those_of_the_server() -> None:
    switches = {f"netsharp.{name}": default for name, default in SWITCHES.items()}
    assert {name: SETTINGS[name]["default"] for name in switches} == switches
    check = {f"netsharp.check.{key}" for key in set(known_keys()) - COMMAND_LINE}
    machine = {"netsharp.server.path", "netsharp.python"}
    roots = f"netsharp.{ROOTS}"
    assert set(SETTINGS) == {*switches, *check, *machine, *OWN, roots, "netsharp.trace.server"}
    assert all(SETTINGS[name]["default"] is None for name in check)
    assert all(SETTINGS[name]["scope"] == "machine" for name in {*machine, roots})
    assert all({"description", "markdownDescription"} & set(each) for each in SETTINGS.values())
    assert {name.split(".")[1] for name in {*machine, *OWN, "netsharp.trace"}} == set(EDITORS_OWN)
    names = MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    assert set(names) == {*machine, roots}


@pytest.mark.parametrize(
    ("key", "values"), [("host", HOSTS), ("task", TASKS), ("line-ending", LINE_ENDINGS)]
)
def test_choices_are_those_of_the_checker(key: str, values: tuple[str, ...]) -> None:
    assert SETTINGS[f"netsharp.check.{key}"]["enum"] == [*values, None]


def test_commands_are_registered_and_none_is_the_servers() -> None:
    named = {each["command"] for each in CONTRIBUTED["commands"]}
    assert named == {f"netsharp.{name}" for name in COMMANDS}
    source = (EXTENSION / "src" / "commands.ts").read_text(encoding="utf-8")
    table = source[source.index("const table") : source.index("return vscode.Disposable")]
    assert set(re.findall(r"^    (\w+)(?::|,)", table, re.M)) == COMMANDS
    used = {each["command"] for menu in CONTRIBUTED["menus"].values() for each in menu}
    used |= {each["command"] for each in CONTRIBUTED["keybindings"]}
    assert used <= named
    assert not any(command.startswith("netsharp.server.") for command in named)


def test_files_of_others_are_not_claimed() -> None:
    languages = {each["id"]: each for each in CONTRIBUTED["languages"]}
    assert set(languages) == {"netsharp", "cntk", "brainscript", "ndl", "mel"}
    extensions = [name for each in languages.values() for name in each.get("extensions", [])]
    # `.nn` is given back where the text shows that it belongs to another language.
    assert extensions == [".netsharp", ".nn", ".cntk", ".ndl"]


def test_the_first_line_alone_tells_many_files() -> None:
    pattern = next(each for each in CONTRIBUTED["languages"] if each["id"] == "netsharp")
    # The editor reads it as a pattern of JavaScript, which has no inline flags there.
    assert "(?i" not in pattern["firstLine"]
    first = re.compile(pattern["firstLine"])
    sound = [sample for sample in SAMPLES if sample.group in ("guide", "valid")]
    reported = [s for s in sound if first.search(s.text.decode().lstrip().partition("\n")[0])]
    assert len(reported) > len(sound) / 3
    for line in ("", "The input of this", "import torch.nn", "const x = 1", "output of nn", ".nn"):
        assert not first.search(line), line


def test_the_lock_names_no_host() -> None:
    text = (EXTENSION / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in text
    assert "registry" not in text


def test_versions_agree() -> None:
    assert MANIFEST["version"] == __version__
    lock = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    assert lock["version"] == __version__


def test_pins_fit_what_the_package_asks_for() -> None:
    pins = dict(re.findall(r"^([\w-]+)==(.+)$", (PACKAGING / "bundled.txt").read_text(), re.M))
    asked = re.search(
        r"^dependencies = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.M | re.S
    )
    assert asked is not None
    names = set(re.findall(r'"([\w-]+)', asked[1]))
    # rich draws progress bars in a terminal; an editor has none.
    assert names - {"rich"} <= set(pins)


def test_the_server_alone_proposes() -> None:
    """A snippet of the manifest is shown at every place, and keeps a list open at the next word."""
    assert "snippets" not in CONTRIBUTED
    # So where no server runs, colours are all that is promised.
    assert "snippet" not in MANIFEST["capabilities"]["virtualWorkspaces"]["description"].lower()


def test_lists_open_inside_the_strings_of_cntk() -> None:
    """Names of files, actions and choices stand in strings there, where editors ask for nothing.

    What else a person has set of it stays theirs: the rest is not named.
    """
    defaults = CONTRIBUTED["configurationDefaults"]
    inside = {
        name.strip("[]"): own["editor.quickSuggestions"]
        for name, own in defaults.items()
        if "editor.quickSuggestions" in own
    }
    assert inside == {
        each["id"]: {"strings": "on"}
        for each in CONTRIBUTED["languages"]
        if each["id"] != "netsharp"
    }


def test_the_readme_counts_what_is_there() -> None:
    text = (EXTENSION / "README.md").read_text(encoding="utf-8")
    assert f"**{len(language_by_id('netsharp').rules.codes)} checks**" in text
    assert f"Python {PYTHONS[0]} to {PYTHONS[-1]}" in text
    walkthrough = (EXTENSION / "walkthrough" / "python.md").read_text(encoding="utf-8")
    assert f"from {PYTHONS[0]} to {PYTHONS[-1]}" in walkthrough
    for each in CONTRIBUTED["commands"]:
        assert each["title"] in text.replace("\n", " "), each["title"]


def packages() -> list[Path]:
    return sorted((ROOT / "out" / "vsix").glob("netsharp-*.vsix"))


@pytest.mark.skipif(not packages(), reason="no package: run `make vsix`")
@pytest.mark.parametrize("package", packages(), ids=lambda path: path.stem)
def test_a_package_holds_what_it_needs_and_no_sources(package: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        names = {name.removeprefix("extension/") for name in archive.namelist()}
        manifest = archive.read("extension.vsixmanifest").decode()
    target = package.stem.removeprefix("netsharp-").rpartition("-")[0]
    assert f'TargetPlatform="{target}"' in manifest
    assert {
        "dist/extension.js",
        "dist/network.js",
        "dist/training.js",
        "bundled/unpack.py",
        "dist/NOTICE.txt",
    } <= names
    contributed = paths([CONTRIBUTED[key] for key in ("languages", "grammars")])
    assert {path.removeprefix("./") for path in contributed} <= names
    assert not [n for n in names if re.search(r"\.ts$|\.map$|node_modules|^src/|^test/|\.pyc$", n)]
    assert package.stat().st_size <= MOST_BYTES, sizes(package)


@pytest.mark.skipif(not packages(), reason="no package: run `make vsix`")
@pytest.mark.parametrize(
    "package", [one for one in packages() if "linux-x64" in one.name], ids=lambda path: path.stem
)
def test_the_readme_says_what_is_inside_a_package(package: Path) -> None:
    """The figures are those of the package, in megabytes: of all, of training, of the server."""
    text = " ".join((EXTENSION / "README.md").read_text(encoding="utf-8").split())
    reported = re.search(
        r"Of the (\S+) MB for Linux on x64, numpy and safetensors, which only training needs, take "
        r"(\S+), the server with its dependencies (\d+\.\d+)",
        text,
    )
    assert reported is not None
    with zipfile.ZipFile(package) as archive:
        kept = {one.filename: one.compress_size for one in archive.infolist()}
    parts = [kept[f"extension/bundled/{part}.tar.br"] for part in ("training", "server")]
    for figure, size in zip(reported.groups(), [package.stat().st_size, *parts], strict=True):
        assert float(figure) * 1e6 == pytest.approx(size, abs=0.5e6), sizes(package)


def sizes(package: Path) -> str:
    """The largest files of a package, a line each."""
    with zipfile.ZipFile(package) as archive:
        found = sorted(archive.infolist(), key=lambda each: -each.compress_size)
    return "\n".join(f"{each.compress_size:>12,} {each.filename}" for each in found[:10])


@pytest.mark.skipif(not packages(), reason="no package: run `make vsix`")
@pytest.mark.parametrize("package", packages(), ids=lambda path: path.stem)
def test_the_archives_of_a_package_serve_every_python(
    package: Path, node: str, tmp_path: Path
) -> None:
    with zipfile.ZipFile(package) as archive:
        bundle = json.loads(archive.read("extension/bundled/bundle.json"))
        for part in ("server", "training"):
            (tmp_path / f"{part}.tar.br").write_bytes(
                archive.read(f"extension/bundled/{part}.tar.br")
            )
    tags = {f"cp{python.replace('.', '')}" for python in bundle["pythons"]}
    for part, packed in (("server", SERVER), ("training", TRAINING)):
        content = unpacked(tmp_path / f"{part}.tar.br", node)
        assert len(content) == bundle["sizes"][part]
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            names = [member.name.split("/", 1) for member in archive]
        assert len({tuple(each) for each in names}) == len(names)
        assert {tag for tag, _ in names} == {"any", *tags}
        for tag in tags:
            there = {name.partition("/")[0] for own, name in names if own in ("any", tag)}
            assert packed <= there, tag
        assert not [name for _, name in names if "/tests/" in name or name.endswith((".pyi", ".h"))]
        compiled = [tag for tag, name in names if name.endswith((".so", ".pyd"))]
        assert tags <= set(compiled)


def unpacked(path: Path, node: str) -> bytes:
    """What a compressed archive holds."""
    program = (
        "process.stdout.write(require('zlib').brotliDecompressSync("
        f"require('fs').readFileSync({json.dumps(str(path))})))"
    )
    return subprocess.run([node, "-e", program], capture_output=True, check=True).stdout
