"""Settings: the nearest file wins, every key is checked, and the schema says the same."""

from __future__ import annotations

import json
import pathlib
import tomllib

import jsonschema
import pytest

from netsharp_lsp import settings as settings_module
from netsharp_lsp.cntk.commands.settings import declared_in
from netsharp_lsp.context import DeviceTarget
from netsharp_lsp.language import families
from netsharp_lsp.settings import (
    Settings,
    SettingsError,
    SettingsFinder,
    known_keys,
    read_settings,
)

SCHEMA = json.loads(
    (pathlib.Path(settings_module.__file__).parent / "schemas/netsharp.json").read_text("utf-8")
)
EVERYTHING = """\
select = ["NS0"]
ignore = ["NS118"]
exclude = ["old/**", "*.netsharp"]
fail-on = "info"
baseline = "known.json"
line-ending = "crlf"
host = "rx"
task = "multiclass"
features = 4
hidden-nodes = 20
outputs = 3

[target]
flash = "256k"
ram = 32768
processor = "cortex-m4"

[per-file-ignores]
"tests/*.nn" = ["NS039", "NS05"]
"t*/a.nn" = ["NS001"]

[cntk]
defines = ["DataDir"]
keep-columns = false
version = "2.1"

[[cntk.run]]
files = ["base.cntk", "big.cntk"]
set = ["deviceId=0"]
directory = "work"
"""
WRONG = {
    'select = "NS0"': "'select' must be a list of texts, found 'NS0'.",
    "ignore = [1]": "'ignore' must be a list of texts, found [1].",
    'ignore = [""]': "'ignore' must be a list of texts, found [''].",
    "per-file-ignores = []": "'per-file-ignores' must be a table of patterns and lists of codes",
    '[per-file-ignores]\n"a" = "NS001"': "'per-file-ignores' must be a list of texts",
    'fail-on = "fatal"': "'fail-on' must be one of error, warning, info, hint; found 'fatal'.",
    'line-ending = "LF"': "'line-ending' must be one of auto, lf, crlf, cr; found 'LF'.",
    "baseline = 1": "'baseline' must be text, found 1.",
    'host = "azure"': "'host' must be one of studio, rx, tlc; found 'azure'.",
    'task = "ranking"': "'task' must be one of binary, multiclass, regression",
    "cntk = 1": "'cntk' must be a table of run, defines, version and keep-columns, found 1.",
    "[cntk]\nruns = []": "'cntk' has no key 'runs'. Did you mean 'run'?",
    "[cntk]\nversion = 2.1": "'cntk' must name a release of CNTK in 'version': one of",
    "[cntk]\nversion = '3'": "'cntk' must name a release of CNTK in 'version': one of",
    "[cntk]\nversion = []": "'cntk' must name a release of CNTK in 'version': one of",
    "[cntk]\ndefines = 1": "'cntk' must be a list of texts, found 1.",
    "[cntk]\nkeep-columns = 1": "'cntk' needs true or false for keep-columns, found 1.",
    "[[cntk.run]]\nset = []": "'cntk' is invalid: cntk.run needs files",
    "[[cntk.run]]\nfile = []": "'cntk' is invalid: cntk.run has no key 'file'.",
    "features = 0": "'features' must be a whole number of at least 1, found 0.",
    "outputs = true": "'outputs' must be a whole number of at least 1, found True.",
    "hidden-nodes = 1.5": "'hidden-nodes' must be a whole number of at least 1, found 1.5.",
    'target = "256k"': "'target' must be a table of flash, ram, processor, found '256k'.",
    '[target]\nflash = "lots"': "'target' has 'lots' for flash: a number of bytes, or a text",
    "[target]\nflash = true": "'target' has True for flash",
    "[target]\nrom = 3": "'target' has no key 'rom'; it has flash, ram, processor.",
    '[target]\nprocessor = "z80"': "'target' has the processor 'z80', which is none of cortex-m0",
    "hidden_nodes = 3": "unknown key 'hidden_nodes'. Did you mean 'hidden-nodes'?",
    "selct = []": "unknown key 'selct'. Did you mean 'select'?",
    "[colours]\nx = 1": "unknown key 'colours'.",
}


#: The line of a file at which a fault within a table is.
PLACES = {
    '[target]\nflash = "1k"\n# ram\nram = "lots"\n': 4,
    'host = "rx"\ntarget.flash = "1k"\ntarget.ram = true\n': 3,
    "[target]\n'processor' = \"z80\"\n": 2,
    '[target] # a board\nflash = "1k"\nrom = 3\n': 3,
    'target = { flash = "1k", ram = "x" }\n': 1,
    "target = 5\n": 1,
    '[per-file-ignores]\n"a.nn" = ["NS001"]\n"b.nn" = 3\n': 3,
}


def write(path: pathlib.Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_key_is_read(tmp_path: pathlib.Path) -> None:
    settings = read_settings(write(tmp_path / "netsharp.toml", EVERYTHING))
    assert settings.select == ("NS0",)
    assert settings.ignore == ("NS118",)
    assert settings.fail_on == "info"
    assert settings.baseline == "known.json"
    assert settings.line_ending == "crlf"
    assert settings.context.target == DeviceTarget(262_144, 32_768, "cortex-m4")
    assert settings.context.known() == {
        "features": 4,
        "hidden_nodes": 20,
        "outputs": 3,
        "task": "multiclass",
        "host": "rx",
    }
    assert {key for family in families() for key in family.settings} == {"cntk"}
    declared = declared_in(settings)
    assert declared.given.defines == {"DataDir"}
    assert declared.given.version == "2.1"
    assert not declared.keep_columns
    (run,) = declared.runs
    assert run.items == ("configFile=base.cntk", "configFile=big.cntk", "deviceId=0")
    assert run.directory == "work"
    assert set(settings.context.origin.values()) == {"netsharp.toml"}
    assert settings.ignores_for(str(tmp_path / "tests/a.nn")) == ("NS039", "NS05", "NS001")
    assert settings.ignores_for(str(tmp_path / "a.nn")) == ()
    assert settings.excludes(str(tmp_path / "old/x/a.nn"))
    assert settings.excludes(str(tmp_path / "x/a.netsharp"))
    assert not settings.excludes(str(tmp_path / "a.nn"))
    assert set(tomllib.loads(EVERYTHING)) == set(known_keys())


def test_the_schema_knows_the_same_keys_and_accepts_them() -> None:
    assert set(SCHEMA["properties"]) == set(known_keys())
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(tomllib.loads(EVERYTHING), SCHEMA)


@pytest.mark.parametrize(("text", "sentence"), WRONG.items())
def test_a_wrong_value_is_refused_by_reader_and_schema(
    tmp_path: pathlib.Path, text: str, sentence: str
) -> None:
    file = write(tmp_path / "netsharp.toml", f"# settings\n{text}\n")
    with pytest.raises(SettingsError) as error:
        read_settings(file)
    assert error.value.message.startswith(sentence)
    assert error.value.file == file
    # Within a table it is the line of the key there; a list of tables is reported as a whole.
    within = "\n" in text and "[[" not in text and "unknown" not in sentence
    assert error.value.line == (3 if within else 2)
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(tomllib.loads(text))


def test_toml_that_cannot_be_read_says_where(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SettingsError, match=r"netsharp\.toml: is not valid TOML: .*line 2"):
        read_settings(write(tmp_path / "netsharp.toml", "select = []\nignore = ]\n"))


def test_the_nearest_folder_wins_and_in_it_netsharp_toml(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "netsharp.toml", "features = 1")
    write(tmp_path / "a/pyproject.toml", "[tool.netsharp]\nfeatures = 2")
    write(tmp_path / "a/b/pyproject.toml", "[tool.other]\nnetsharp = 3")
    write(tmp_path / "a/c/pyproject.toml", "[tool.netsharp]\nfeatures = 4")
    write(tmp_path / "a/c/netsharp.toml", "features = 5")
    find = SettingsFinder().find
    seen = {
        folder: find(str(tmp_path / folder)).context.features
        for folder in (".", "x/y", "a", "a/x", "a/b", "a/c", "a/c/x")
    }
    assert seen == {".": 1, "x/y": 1, "a": 2, "a/x": 2, "a/b": 2, "a/c": 5, "a/c/x": 5}


def test_a_nearer_file_replaces_the_whole_of_a_farther_one(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "netsharp.toml", 'ignore = ["NS001"]')
    write(tmp_path / "a/netsharp.toml", "")
    assert SettingsFinder().find(str(tmp_path / "a")).ignore == ()


def test_a_pyproject_of_others_is_not_even_parsed(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "netsharp.toml", "features = 1")
    write(tmp_path / "a/pyproject.toml", "this is not TOML")
    assert SettingsFinder().find(str(tmp_path / "a")).context.features == 1


def test_defaults() -> None:
    settings = Settings()
    assert (settings.select, settings.ignore, settings.fail_on) == ((), (), None)
    assert settings.line_ending == "auto"
    assert settings.context.known() == {}
    assert not settings.excludes("/x/a.nn")


@pytest.mark.parametrize("text", PLACES)
@pytest.mark.parametrize("name", ["netsharp.toml", "pyproject.toml"])
def test_a_fault_in_a_table_stands_at_the_line_of_its_own_key(
    text: str, name: str, tmp_path: pathlib.Path
) -> None:
    line = PLACES[text]
    if name == "pyproject.toml":
        # What other tools say of the same key is none of ours.
        head = "[tool.other]\nram = 1\n\n[tool.netsharp]\n"
        text = head + text.replace("\n[", "\n[tool.netsharp.")
        if text.startswith(f"{head}["):
            text = text.replace(f"{head}[", f"{head}[tool.netsharp.")
        line += head.count("\n")
    with pytest.raises(SettingsError) as caught:
        read_settings(write(tmp_path / name, text))
    assert caught.value.line == line, (text, caught.value)
