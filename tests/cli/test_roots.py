"""Nothing from outside the folder is read or written because a file of the folder says so."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

from tests.cli.command_line import Answer, netsharp

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")

SECRET = "hunter2"
#: The secret in each kind of file that a text could cause to be printed.
SECRETS = {
    "secret.cntk": f"{SECRET} = [\n{SECRET}\n",
    "secret.bs": f"{SECRET} = {SECRET} (1)\n}}\n",
    "secret.ndl": f"load = {SECRET}\n{SECRET} = [\n",
    "secret.mel": f"{SECRET}({SECRET})\n",
    "secret.nn": f"input {SECRET} [2];\nhidden {SECRET} [{SECRET}];\n",
    "secret.toml": f'{SECRET} = "{SECRET}"\n',
    "secret.json": f'{{"{SECRET}": "{SECRET}"}}\n',
    "secret.csv": f"{SECRET},label\n1,2\n3,4\n",
}
#: A configuration that is checked without a finding.
PLAIN = 'command = Train\nTrain = { action = "train" }\n'
NETWORK = "input Data auto;\noutput Result [2] softmax from Data all;\n"


class Place:
    """A folder to work in, with the secrets in another one beside it."""

    def __init__(self, top: pathlib.Path) -> None:
        self.folder = top / "folder"
        self.outside = top / "outside"
        self.home = top / "home"
        for one in (self.folder, self.outside, self.home):
            one.mkdir()
        for name, text in SECRETS.items():
            (self.outside / name).write_text(text)

    def write(self, name: str, text: str) -> pathlib.Path:
        """Write a file of the folder; OUT stands for the folder of the secrets."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("OUT", str(self.outside)))
        return path

    def run(self, *arguments: str, cwd: pathlib.Path | None = None) -> Answer:
        """Run the command, and see that no secret comes out and none has changed."""
        environment = {"HOME": str(self.home), "XDG_CONFIG_HOME": "", "COLUMNS": "100"}
        answer = netsharp(*arguments, cwd=cwd or self.folder, environment=environment)
        assert SECRET not in answer.out + answer.err
        files = (one for one in self.outside.iterdir() if one.is_file())
        assert {one.name: one.read_text() for one in files} == SECRETS
        return answer

    def checked(self, *arguments: str) -> tuple[Answer, list[tuple[str, str, str]]]:
        """Check; the answer, and file, code and severity of each diagnostic."""
        answer = self.run("check", "--format", "json", *arguments)
        found = json.loads(answer.out)["diagnostics"] if answer.out else []
        return answer, [(one["file"], one["code"], one["severity"]) for one in found]


@pytest.fixture
def place(tmp_path: pathlib.Path) -> Place:
    return Place(tmp_path)


def network(builder: str) -> str:
    return f'command = Train\nTrain = {{ action = "train" ; {builder} }}\n'


#: A file of a folder that names one outside, and its text; the one info about it is in this file.
NAMING = {
    "include": ("a.cntk", f"{PLAIN}include=OUT/secret.cntk\n"),
    "include-up": ("a.cntk", f"{PLAIN}include=../outside/secret.cntk\n"),
    "include-windows": ("a.cntk", f"{PLAIN}include=..\\outside\\secret.cntk\n"),
    "include-folder-link": ("a.cntk", f"{PLAIN}include=way/secret.cntk\n"),
    "include-link": ("a.cntk", f"{PLAIN}include=link.cntk\n"),
    "brainscript": (
        "a.cntk",
        network('BrainScriptNetworkBuilder = { include "OUT/secret.bs" }'),
    ),
    "ndl": ("a.cntk", network("NDLNetworkBuilder = [ networkDescription = OUT/secret.ndl ]")),
    "ndl-absent": ("a.cntk", network("NDLNetworkBuilder = [ networkDescription = OUT/no.ndl ]")),
    "macros": (
        "a.cntk",
        network("NDLNetworkBuilder = [ ndlMacros = OUT/secret.ndl ; run = N ]")
        + "N = [ f = Input(2) ; l = Input(2) ; x = Own(f)\n"
        "c = CrossEntropyWithSoftmax(l, x, tag=criterion) ]\n",
    ),
    "edit": ("a.cntk", 'command = E\nE = [ action = "edit" ; editPath = OUT/secret.mel ]\n'),
    "model": ("a.cntk", 'command = E\nE = [ action = "eval" ; modelPath = OUT/secret.bs ]\n'),
    "data": (
        "a.cntk",
        network("reader = { file = OUT/none.txt ; input = { f = { dim = 4 ; format = dense } } }"),
    ),
    "bs": ("a.bs", 'include "OUT/secret.bs"\nz = 1\n'),
}


@pytest.mark.parametrize("case", NAMING)
@pytest.mark.costly
def test_a_name_that_leads_out_is_one_information(place: Place, case: str) -> None:
    name, text = NAMING[case]
    place.write(name, text)
    (place.folder / "way").symlink_to(place.outside)
    (place.folder / "link.cntk").symlink_to(place.outside / "secret.cntk")
    answer, found = place.checked("--ignore", "ND001,CK001", ".")
    assert [one for one in found if one[1] == "CK119"] == [(name, "CK119", "info")]
    assert [one for one in found if one[2] in ("error", "warning")] == []
    assert answer.code == 0
    assert "--root" in answer.out
    for command in ("describe", "config", "migrate", "fmt"):
        place.run(command, *(["--diff"] if command in ("migrate", "fmt") else []), name)
    place.run("diff", name, name)
    place.run("config", "--list", ".")


def test_settings_declare_runs_inside_alone(place: Place) -> None:
    place.write("a.cntk", PLAIN)
    place.write("netsharp.toml", '[[cntk.run]]\nfiles = ["a.cntk", "OUT/secret.cntk"]\n')
    answer, found = place.checked(".")
    assert (answer.code, [one for one in found if one[2] == "error"]) == (0, [])
    assert answer.err.count("netsharp.toml: ") == 1
    assert f"--root {place.outside}" in answer.err


def test_settings_above_the_root_may_have_runs_of_other_folders(place: Place) -> None:
    place.write("sub/a.cntk", PLAIN)
    place.write("other/b.cntk", PLAIN)
    place.write("netsharp.toml", '[[cntk.run]]\nfiles = ["other/b.cntk"]\n')
    for command in ("check", "migrate"):
        assert "lies outside" not in place.run(command, "sub").err
    place.write("netsharp.toml", '[[cntk.run]]\nfiles = ["sub/a.cntk", "other/b.cntk"]\n')
    assert "'other/b.cntk' lies outside" in place.run("check", "sub").err


def test_scripts_start_runs_inside_alone(place: Place) -> None:
    place.write("a.cntk", PLAIN)
    for name, command in (("run.sh", "cntk configFile="), ("run.cmd", "cntk.exe configFile=")):
        place.write(name, f"{command}OUT/secret.cntk\n{command}a.cntk+OUT/secret.cntk\n")
    answer, found = place.checked(".")
    assert (answer.code, [one for one in found if one[2] == "error"]) == (0, [])
    assert [answer.err.count(f"{name}: ") for name in ("run.sh", "run.cmd")] == [1, 1]


def test_what_a_person_names_is_read_wherever_it_lies(place: Place) -> None:
    (place.outside / "b.cntk").write_text("x = 1\n")
    place.write("a.cntk", PLAIN)
    (place.folder / "link.cntk").symlink_to(place.outside / "b.cntk")
    try:
        for names in (["a.cntk+../outside/b.cntk"], ["link.cntk"], ["../outside/b.cntk"]):
            answer = netsharp("check", *names, cwd=place.folder)
            assert (answer.code, answer.err) == (0, ""), answer.out
        shown = netsharp("config", "--get", "x", "a.cntk", "link.cntk", cwd=place.folder)
        assert shown.out == "1\n"
    finally:
        (place.outside / "b.cntk").unlink()


def test_a_work_tree_is_inside_as_a_whole(place: Place) -> None:
    place.write("sub/a.cntk", f"{PLAIN}include=../common/x.cntk\n")
    place.write("common/x.cntk", "x = 1\n")
    assert place.checked("sub")[1] == [("sub/a.cntk", "CK119", "info")]
    (place.folder / ".git").mkdir()
    assert place.checked("sub")[1] == []
    assert place.run("config", "--get", "x", "a.cntk", cwd=place.folder / "sub").out == "1\n"


def test_a_person_allows_further_folders(place: Place, tmp_path: pathlib.Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "x.cntk").write_text("x = 1\n")
    place.write("a.cntk", f"{PLAIN}include=../common/x.cntk\n")
    common = str(tmp_path / "common")
    reported = [("a.cntk", "CK119", "info")]
    assert place.checked()[1] == reported
    assert place.checked("--root", str(place.outside), "--root", common)[1] == []
    assert place.run("config", "--root", common, "--get", "x", "a.cntk").out == "1\n"
    assert place.run("check", "--root", "none").err.count("there is no such folder") == 1
    own = place.home / ".config" / "netsharp" / "netsharp.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f"roots = ['{common}']\n")
    assert place.checked()[1] == []
    assert place.checked("--isolated")[1] == reported
    own.write_text("roots = 1\n")
    assert place.run("check").code == 2


def test_files_of_a_folder_cannot_allow_it(place: Place) -> None:
    place.write("a.cntk", PLAIN)
    place.write("netsharp.toml", 'roots = ["/"]\n')
    answer = place.run("check")
    assert answer.code == 2
    assert "in your own settings, or with --root" in answer.err


@pytest.mark.parametrize("name", ["netsharp.toml", "pyproject.toml"])
def test_settings_that_are_links_outside_say_nothing(place: Place, name: str) -> None:
    place.write("a.nn", "input A [2];\noutput B [2] softmax from A all;\n")
    (place.folder / name).symlink_to(place.outside / "secret.toml")
    for command in (["check"], ["fmt", "--check"], ["describe", "a.nn"]):
        answer = place.run(*command)
        assert answer.code == 0
        assert answer.err.count(f"{name}: is a link") == 1


def test_settings_above_the_root_hold_with_what_lies_below_them(place: Place) -> None:
    settings = 'ignore = ["NS011"]\nbaseline = "{}"\n'
    place.write("sub/a.nn", "input A [2];\noutput B [2] softmax from A all\n")
    place.write("netsharp.toml", settings.format("../outside/secret.json"))
    answer = place.run("check", "sub")
    assert answer.code == 0, answer.out
    assert "the baseline '../outside/secret.json' lies outside" in answer.err
    place.write("netsharp.toml", settings.format("known.json"))
    assert place.run("check", "--update-baseline", "sub").code == 0
    assert place.run("check", "sub").err == ""


def test_baselines_outside_are_neither_read_nor_written(place: Place) -> None:
    place.write("a.nn", "input A [2];\noutput B [2] from A al;\n")
    for named in ("OUT/secret.json", "link.json"):
        place.write("netsharp.toml", f'baseline = "{named}"\n')
        if named == "link.json":
            (place.folder / named).symlink_to(place.outside / "secret.json")
        answer = place.run("check")
        assert answer.code == 1
        assert "the baseline" in answer.err
        assert "--root" in answer.err
        assert place.run("check", "--update-baseline").code == 2


@pytest.mark.costly
def test_run_files_tell_nothing_of_what_lies_outside(place: Place) -> None:
    place.write("a.nn", NETWORK)
    (place.folder / "link.csv").symlink_to(place.outside / "secret.csv")
    for train in ("OUT/secret.csv", "../outside/*.csv", "OUT/none.csv", "link.csv"):
        place.write("a.toml", f'[data]\ntrain = "{train}"\nlabel = "label"\n')
        answer, found = place.checked()
        assert (answer.code, found) == (0, [("a.nn", "NS130", "info")]), train
        place.run("describe", "a.nn")
        refused = place.run("run", "a.nn", "--quiet")
        assert refused.code == 2
        assert "'--root " in refused.err
    (place.folder / "a.toml").unlink()
    (place.folder / "a.toml").symlink_to(place.outside / "secret.toml")
    assert place.checked()[1] == [("a.nn", "NS130", "info")]
    assert "a.toml: is a link" in place.run("run", "a.nn", "--quiet").err


def test_revisions_of_other_work_trees_are_not_read(place: Place) -> None:
    place.write("a.cntk", NAMING["brainscript"][1])
    for folder in (place.folder, place.outside):
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
            who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
            subprocess.run(["git", *who, *words], cwd=folder, check=True)
    answer = place.run("describe", "HEAD:a.cntk")
    assert answer.code == 2
    assert "lies outside" in answer.err


def test_a_host_of_several_specifications_tells_it_once(place: Place) -> None:
    place.write("a.md", "".join(f"```netsharp\n{NETWORK}```\n\n" for _ in range(3)))
    place.write("a.toml", '[data]\ntrain = "OUT/secret.csv"\n')
    assert place.checked("a.md")[1] == [("a.md", "NS130", "info")]


@pytest.mark.costly
def test_a_run_reads_and_writes_outside_by_flags_alone(
    place: Place, tmp_path: pathlib.Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "t.csv").write_text("a,label\n" + "1,x\n2,y\n" * 4)
    place.write("a.nn", NETWORK)
    named = {"train": "../data/t.csv", "model": "../data/m.safetensors", "log": "../data/l.jsonl"}
    shared = {"train": "t.csv", "label": "label"}
    (place.folder / "t.csv").write_text((data / "t.csv").read_text())
    flags = ["--epochs", "1", "--label", "label", "--quiet"]

    def run(*arguments: str, train: str = "t.csv", **output: str) -> Answer:
        lines = [f'[data]\ntrain = "{train}"\n[output]\n']
        place.write("a.toml", "".join(lines + [f'{k} = "{v}"\n' for k, v in output.items()]))
        return place.run("run", "a.nn", *flags, *arguments)

    assert shared["train"] == "t.csv"
    assert run(train=named["train"]).code == 2
    for key in ("model", "log"):
        answer = run(**{key: named[key]})
        assert answer.code == 2
        assert f"'{key}' is not named by a flag" in answer.err
    assert sorted(os.listdir(data)) == ["t.csv"]
    assert run("--train", named["train"], "--model", named["model"]).code == 0
    assert run("--root", str(data), train=named["train"], log=named["log"]).code == 0
    assert sorted(os.listdir(data)) == ["l.jsonl", "m.safetensors", "t.csv"]
    # The options in a stored run are not an approval by the user who resumes it.
    resumed = place.run("run", "a.nn", "--resume", "--epochs", "2", "--quiet", "--model", "a.m")
    assert resumed.code == 2


def test_a_model_that_is_a_link_outside_is_not_replaced(place: Place) -> None:
    place.write("a.nn", NETWORK)
    place.write("t.csv", "a,label\n" + "1,x\n2,y\n" * 4)
    place.write("a.toml", '[data]\ntrain = "t.csv"\nlabel = "label"\n')
    (place.folder / "a.safetensors").symlink_to(place.outside / "secret.json")
    assert place.run("run", "a.nn", "--quiet", "--epochs", "1").code == 2


def test_links_outside_are_not_rewritten(place: Place) -> None:
    faulty = "input A [2];\noutput B [2] softmax from A all\n"
    (place.folder / "in.nn").write_text(faulty)
    for suffix in ("nn", "cntk", "bs", "ndl", "mel"):
        (place.folder / f"x.{suffix}").symlink_to(place.outside / f"secret.{suffix}")
    (place.folder / "inner.nn").symlink_to("in.nn")
    assert place.run("fmt", ".").code == 0
    assert place.run("check", "--fix", ".").code == 0
    assert place.run("migrate", "--write", ".").code in (0, 2)
    output = place.run("check", "--verbose", ".").err
    assert [output.count(f"x.{suffix}: left out") for suffix in ("nn", "cntk", "bs")] == [1, 1, 1]
    assert (place.folder / "inner.nn").is_symlink()


def test_a_named_link_is_read_and_not_written(place: Place) -> None:
    ugly = "input   A [2];\noutput B [2]   softmax from A all;\n"
    for name in ("ugly.nn", "faulty.nn"):
        text = ugly if name == "ugly.nn" else ugly.replace("all;", "all")
        SECRETS[name] = text
        (place.outside / name).write_text(text)
        (place.folder / name).symlink_to(place.outside / name)
    try:
        answer = place.run("fmt", "ugly.nn")
        assert answer.code == 2
        assert "is not written, for it is a link" in answer.err
        assert place.run("check", "--fix", "faulty.nn").code == 2
        assert place.run("fmt", "--check", "ugly.nn").code == 1
    finally:
        del SECRETS["ugly.nn"], SECRETS["faulty.nn"]


def test_migration_writes_nothing_outside(place: Place) -> None:
    place.write(
        "a.cntk",
        network("NDLNetworkBuilder = [ networkDescription = net.ndl ]"),
    )
    place.write(
        "net.ndl",
        "run = N\nN = [ f = Input(2, tag=feature) ; l = Input(2, tag=label)\n"
        "W = Parameter(2, 2) ; z = Times(W, f, tag=output)\n"
        "c = CrossEntropyWithSoftmax(l, z, tag=criterion) ]\n",
    )
    (place.folder / "net.bs").symlink_to(place.outside / "new.bs")
    answer = place.run("migrate", "--write", "--force", ".")
    assert answer.code == 1
    assert "'net.bs' lies outside" in answer.out
    place.write("a.cntk", f"{PLAIN}include=OUT/secret.cntk\n")
    assert place.run("migrate", "--write", ".").code == 2
