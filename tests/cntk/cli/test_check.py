"""`netsharp check` over experiments: runs are analysed once, and files get what is theirs."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.command_line import netsharp
from tests.cntk.cli.experiments import FAULTY_NETWORK, NETWORK, TRAINS, checked, places, write
from tests.cntk.collection import FILES, FOLDER

UNDEFINED = "CK019"
UNKNOWN_NAME = "BS020"


def test_what_a_run_says_goes_to_the_files_that_it_is_about(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, b_dot_cntk=TRAINS, net_dot_bs=FAULTY_NETWORK)
    answer, found = checked(tmp_path, ".")
    assert answer.code == 1
    assert places(found, UNKNOWN_NAME) == [("net.bs", 2, "error")]
    assert places(found, UNDEFINED) == [("a.cntk", 4, "info"), ("b.cntk", 4, "info")]


def test_a_named_configuration_brings_the_files_that_it_reads(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=FAULTY_NETWORK)
    _, found = checked(tmp_path, "a.cntk")
    assert places(found, UNKNOWN_NAME) == [("net.bs", 2, "error")]
    _, found = checked(tmp_path.parent, f"{tmp_path.name}/a.cntk")
    assert places(found, UNKNOWN_NAME) == [(f"{tmp_path.name}/net.bs", 2, "error")]


def test_a_file_of_a_network_alone_gets_hints(tmp_path: pathlib.Path) -> None:
    write(tmp_path, net_dot_bs=FAULTY_NETWORK)
    answer, found = checked(tmp_path, "net.bs")
    assert answer.code == 0
    assert places(found, UNKNOWN_NAME) == [("net.bs", 2, "hint")]


def test_a_variable_is_an_error_only_where_someone_says_how_it_is_run(
    tmp_path: pathlib.Path,
) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=NETWORK)
    assert places(checked(tmp_path, "a.cntk")[1], UNDEFINED) == [("a.cntk", 4, "info")]
    _, found = checked(tmp_path, "a.cntk", "--set", "x=1")
    assert places(found, UNDEFINED) == [("a.cntk", 4, "error")]
    _, found = checked(tmp_path, "a.cntk", "--set", "OutDir=out")
    assert places(found, UNDEFINED) == []
    write(tmp_path, netsharp_dot_toml='[[cntk.run]]\nfiles = ["a.cntk"]\n')
    assert places(checked(tmp_path, "a.cntk")[1], UNDEFINED) == [("a.cntk", 4, "error")]
    write(tmp_path, netsharp_dot_toml='[cntk]\ndefines = ["outdir"]\n')
    assert places(checked(tmp_path, "a.cntk")[1], UNDEFINED) == []


def test_declared_runs_layer_their_files_and_set_values(tmp_path: pathlib.Path) -> None:
    layers = 'files = ["a.cntk", "b.cntk"]\nset = ["OutDir=o"]\ndirectory = "work"\n'
    write(
        tmp_path,
        netsharp_dot_toml=f"[[cntk.run]]\n{layers}",
        a_dot_cntk_in_work=TRAINS.replace("net.bs", "$Net$.bs"),
        b_dot_cntk_in_work="Net = net\n",
        net_dot_bs_in_work=FAULTY_NETWORK,
    )
    answer, found = checked(tmp_path, ".")
    assert answer.code == 1
    assert places(found, UNDEFINED) == []
    assert places(found, UNKNOWN_NAME) == [("work/net.bs", 2, "error")]
    assert places(checked(tmp_path, "work/net.bs")[1], UNKNOWN_NAME) == places(found, UNKNOWN_NAME)


def test_a_declared_run_without_its_file_cannot_be_checked(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=NETWORK)
    run = '[[cntk.run]]\nfiles = ["lost.cntk"]\n'
    write(tmp_path, netsharp_dot_toml=f"{run}{run}set = ['A=1']\n")
    answer, _ = checked(tmp_path, ".")
    assert answer.code == 2
    assert answer.err.count("cntk.run names lost.cntk, which is not in") == 1


def test_scripts_are_read_as_runs_and_never_executed(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=NETWORK)
    write(tmp_path, run_dot_sh="touch executed\ncntk configFile=a.cntk OutDir=out\n")
    assert places(checked(tmp_path, ".")[1], UNDEFINED) == []
    write(tmp_path, run_dot_sh="cntk configFile=a.cntk x=1\n")
    assert places(checked(tmp_path, ".")[1], UNDEFINED) == [("a.cntk", 4, "error")]
    write(tmp_path, run_dot_sh='cntk configFile=a.cntk x=1 "$@"\n')
    assert places(checked(tmp_path, ".")[1], UNDEFINED) == [("a.cntk", 4, "info")]
    assert not (tmp_path / "executed").exists()


def test_layers_are_one_run(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=FAULTY_NETWORK, b_dot_cntk="OutDir = out\n")
    _, found = checked(tmp_path, "a.cntk+b.cntk")
    assert places(found, UNDEFINED) == []
    assert places(found, UNKNOWN_NAME) == [("net.bs", 2, "error")]
    answer, _ = checked(tmp_path, "a.cntk+lost.cntk")
    assert (answer.code, "lost.cntk: cannot be read" in answer.err) == (2, True)


def test_stdin_is_what_its_name_or_a_flag_says(tmp_path: pathlib.Path) -> None:
    write(tmp_path, net_dot_bs=FAULTY_NETWORK)
    text = TRAINS.encode()
    _, found = checked(tmp_path, "-", "--stdin-filename", "a.cntk", stdin=text)
    assert places(found, UNDEFINED) == [("a.cntk", 4, "info")]
    assert places(found, UNKNOWN_NAME) == [("net.bs", 2, "error")]
    _, found = checked(tmp_path, "-", "--language", "cntk", stdin=text)
    assert places(found, UNDEFINED) == [("<stdin>", 4, "info")]
    _, found = checked(tmp_path, "-", "--language", "brainscript", stdin=FAULTY_NETWORK.encode())
    assert places(found, UNKNOWN_NAME) == [("<stdin>", 2, "hint")]


def test_a_walk_takes_what_files_say_they_are(tmp_path: pathlib.Path) -> None:
    write(
        tmp_path,
        app_dot_config="<?xml version='1.0'?>\n<a/>\n",
        labels_dot_mlf_dot_cntk="#!MLF!#\n",
        rocket_dot_bs="sub Main()\nend sub\n",
        old_dot_config=TRAINS,
        net_dot_bs=NETWORK,
    )
    answer, found = checked(tmp_path, ".", "--verbose")
    assert {one["file"] for one in found} == {"old.config"}
    assert answer.err.splitlines() == [
        "netsharp: app.config: left out, it is XML.",
        "netsharp: labels.mlf.cntk: left out, it is a label file of HTK.",
        "netsharp: rocket.bs: left out, it is BrightScript.",
    ]
    assert checked(tmp_path, ".")[0].err == ""
    named = ("app.config", "rocket.bs", "old.config")
    assert {one["file"] for one in checked(tmp_path, *named)[1]} == {"rocket.bs", "old.config"}
    assert {one["file"] for one in checked(tmp_path, *named, "--skip-others")[1]} == {"old.config"}


def test_fixes_reach_every_file_of_a_run(tmp_path: pathlib.Path) -> None:
    old_record = NETWORK + "sizes = [ a = 1 ]\nq = sizes.a\n"
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=old_record)
    answer = netsharp("check", ".", "--fix", "--diff", "--select", "BS076", cwd=tmp_path)
    assert answer.code == 1
    assert "-sizes = [ a = 1 ]\n+sizes = { a = 1 }\n" in answer.out
    assert (tmp_path / "net.bs").read_text() == old_record
    answer, found = checked(tmp_path, ".", "--fix", "--select", "BS076")
    assert (answer.code, found) == (0, [])
    assert "net.bs: fixed BS076 1x." in answer.err
    assert (tmp_path / "net.bs").read_text() == old_record.replace("[ a = 1 ]", "{ a = 1 }")


def test_fixing_leaves_files_alone_that_no_one_named(tmp_path: pathlib.Path) -> None:
    old_record = NETWORK + "sizes = [ a = 1 ]\nq = sizes.a\n"
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=old_record)
    _, found = checked(tmp_path, "a.cntk", "--fix", "--select", "BS076")
    assert places(found, "BS076") == [("net.bs", 6, "info")]
    assert (tmp_path / "net.bs").read_text() == old_record


def test_what_is_not_utf8_is_fixed_in_its_own_code_page(tmp_path: pathlib.Path) -> None:
    text = "# caf\u00e9\r\n" + NETWORK.replace("\n", "\r\n") + "s = [ a = 1 ]\r\nq = s.a\r\n"
    (tmp_path / "net.bs").write_bytes(text.encode("cp1252"))
    netsharp("check", "net.bs", "--fix", "--select", "BS076", cwd=tmp_path)
    fixed = text.replace("[ a = 1 ]", "{ a = 1 }")
    assert (tmp_path / "net.bs").read_bytes() == fixed.encode("cp1252")


@pytest.mark.parametrize("name", ["lost.cntk", "lost.bs", "lost.ndl", "lost.mel"])
def test_a_missing_file_is_a_sentence(tmp_path: pathlib.Path, name: str) -> None:
    answer = netsharp("check", name, cwd=tmp_path)
    assert (answer.code, answer.out) == (2, "0 files checked, nothing found.\n")
    assert answer.err == f"netsharp: {name}: cannot be read: No such file or directory.\n"


@pytest.mark.parametrize("name", ["a.cntk", "a.bs", "a.ndl", "a.mel"])
def test_what_holds_a_nul_is_binary_to_every_command(tmp_path: pathlib.Path, name: str) -> None:
    data = b"x  =  1\na\0b\n"
    (tmp_path / name).write_bytes(data)
    sentence = f"netsharp: {name}: The file is binary: byte 9 is NUL. Name a text file."
    for command in (["check"], ["fmt"], ["fmt", "--check"]):
        answer = netsharp(*command, name, cwd=tmp_path)
        assert (answer.code, answer.err.splitlines()[0]) == (2, sentence), command
        given = ["--stdin-filename", name, "-"]
        piped = netsharp(*command, *given, cwd=tmp_path, stdin=data)
        assert piped.code == 2
        assert "The file is binary: byte 9 is NUL." in piped.err
    assert (tmp_path / name).read_bytes() == data


def test_a_binary_file_that_is_named_is_a_sentence(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.cntk").write_bytes(b"a = 1\0\n")
    answer = netsharp("check", "a.cntk", cwd=tmp_path)
    assert answer.code == 2
    assert answer.err.startswith("netsharp: a.cntk: The file is binary: byte 5 is NUL.")


def test_suppressions_baselines_and_settings_hold_as_for_other_files(
    tmp_path: pathlib.Path,
) -> None:
    silenced = FAULTY_NETWORK.replace("(f)\n", f"(f) // netsharp: ignore[{UNKNOWN_NAME}]\n", 1)
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=silenced)
    assert places(checked(tmp_path, ".")[1], UNKNOWN_NAME) == []
    write(tmp_path, net_dot_bs=FAULTY_NETWORK)
    write(tmp_path, netsharp_dot_toml=f'[per-file-ignores]\n"*.bs" = ["{UNKNOWN_NAME}"]\n')
    assert places(checked(tmp_path, ".")[1], UNKNOWN_NAME) == []
    write(tmp_path, netsharp_dot_toml="")
    netsharp("check", ".", "--baseline", "known.json", "--update-baseline", cwd=tmp_path)
    assert checked(tmp_path, ".", "--baseline", "known.json")[1] == []


def test_many_runs_in_several_processes_say_what_each_says_alone(tmp_path: pathlib.Path) -> None:
    write(tmp_path, net_dot_bs=FAULTY_NETWORK, use_dot_ndl="x = Foo(1)\n")
    for number in range(60):
        text = TRAINS.replace("OutDir", f"Out{number}")
        (tmp_path / f"a{number:02}.cntk").write_text(text)
    _, found = checked(tmp_path, ".")
    assert places(found, UNKNOWN_NAME) == [("net.bs", 2, "error")]
    undefined = [one for one in found if one["code"] == UNDEFINED]
    assert [one["file"] for one in undefined] == [f"a{number:02}.cntk" for number in range(60)]
    alone = checked(tmp_path, "a07.cntk")[1]
    assert [one for one in found if one["file"] in ("a07.cntk", "net.bs")] == alone
    assert any(one["file"] == "use.ndl" for one in found)


def test_related_places_carry_the_names_that_people_know(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "deep"
    write(folder, a_dot_cntk=TRAINS.replace("dim = 4", "dim = 5"), net_dot_bs=NETWORK)
    _, found = checked(tmp_path, "deep")
    (fault,) = [one for one in found if one["code"] == "CK108"]
    (related,) = fault["related"]
    assert (fault["file"], related["file"]) == ("deep/a.cntk", "deep/net.bs")
    assert related["start"] == {"line": 1, "column": 12}


@pytest.mark.costly
def test_the_whole_collection_can_be_checked_in_every_form(tmp_path: pathlib.Path) -> None:
    answer, found = checked(FOLDER, ".", "--isolated")
    assert answer.code == 1
    named = {one["file"] for one in found}
    assert len(named) > 40
    assert named <= {file.name for file in FILES}
    again = checked(FOLDER, ".", "--isolated")[1]
    assert [json.dumps(one) for one in found] == [json.dumps(one) for one in again]
    assert netsharp("check", ".", "--isolated", "--format", "text", cwd=FOLDER).code == 1


COUNTED = """\
command = Train
Train = {
    action = "train"
    modelPath = "net.dnn"
    BrainScriptNetworkBuilder = { include "net.bs" }
    SGD = { maxEpochs = $n$ ; learningRatesPerSample = 0.1 }
    reader = {
        readerType = "CNTKTextFormatReader" ; file = "$data$/t.txt"
        input = {
            features = { dim = 4 ; format = "dense" }
            labels = { dim = 3 ; format = "dense" }
        }
    }
}
"""


@pytest.mark.parametrize(
    ("name", "variable", "line"),
    [
        ("r.sh", "$epochs", "cntk configFile=a.cntk n={} data=$1"),
        ("r.cmd", "%epochs%", "cntk configFile=a.cntk n={} data=%1"),
        ("r", "$epochs", "#!/bin/sh\n. $HERE/common.sh\nstart a.cntk n={} data=${{DATA:-.}}"),
    ],
)
def test_what_a_script_does_not_say_sets_off_nothing(
    tmp_path: pathlib.Path, name: str, variable: str, line: str
) -> None:
    files = {"a.cntk": COUNTED, "net.bs": NETWORK}
    files["common.sh"] = 'start() { cfg=$1; shift; mpirun cntk configFile=$DIR/$cfg "$@"; }\n'
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    attributes = {}
    for value in (variable, "3", "many"):
        (tmp_path / name).write_text(line.format(value) + "\n")
        _, found = checked(tmp_path, ".")
        attributes[value] = [one for one in found if one["severity"] in ("error", "warning")]
    assert attributes[variable] == attributes["3"] == []
    (one,) = attributes["many"]
    (related,) = one["related"]
    assert (one["file"], one["start"]["line"]) == ("a.cntk", 6)
    assert (related["file"], related["start"]["line"]) == (name, line.count("\n") + 1)


def test_common_parts_of_scripts_are_looked_for_in_the_folders_above(
    tmp_path: pathlib.Path,
) -> None:
    one = tmp_path / "tests" / "one"
    (one / "fast").mkdir(parents=True)
    write(one, a_dot_cntk=COUNTED, net_dot_bs=NETWORK)
    (tmp_path / "tests" / "common").write_text(
        "#!/bin/sh\nstart() { cntk configFile=$DIR/$1 data=$DATA currentDirectory=$DATA $2; }\n"
    )
    # Both take in a file of the same name, each from a folder that only their caller knows.
    (one / "common").write_text("#!/bin/sh\n. $ROOT/common\nDIR=$HERE/..\n")
    (one / "fast" / "run").write_text("#!/bin/sh\n. $HERE/../common\n\nstart a.cntk n=many\n")
    _, found = checked(tmp_path, ".")
    (wrong,) = (it for it in found if it["severity"] == "error")
    assert wrong["file"].replace("\\", "/") == "tests/one/a.cntk"
    assert [(it["file"], it["start"]["line"]) for it in wrong["related"]] == [
        ("tests/one/fast/run", 4)
    ]


def test_a_folder_that_only_the_script_knows_is_reported_as_that(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=COUNTED, net_dot_bs=NETWORK)
    (tmp_path / "r.sh").write_text("cntk configFile=a.cntk n=1 data=. currentDirectory=$DATA\n")
    _, found = checked(tmp_path, ".")
    (one,) = (it for it in found if it["code"] == "CK119")
    assert (one["file"], one["start"]["line"]) == ("a.cntk", 8)
    assert one["message"].startswith("'./t.txt' is relative to the folder in which CNTK is started")
    assert not places(found, "CK117")
    (tmp_path / "t.txt").write_text("|features 1 2 3 4 |labels 1 0 0\n")
    assert not places(checked(tmp_path, ".")[1], "CK119")


def test_a_wrong_argument_stands_where_the_script_gives_it(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=COUNTED, net_dot_bs=NETWORK)
    text = "cd .\ncntk configFile=a.cntk n=1 data=$1 traceLevel=x\n"
    (tmp_path / "r.sh").write_text(text)
    _, found = checked(tmp_path, ".")
    wrong = [one for one in found if one["severity"] == "error"]
    assert [(one["file"], one["start"]) for one in wrong] == [("r.sh", {"line": 2, "column": 36})]


def test_what_a_script_does_points_at_its_line(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=NETWORK)
    (tmp_path / "r.sh").write_text("#!/bin/sh\n\ncntk configFile=a.cntk x=$1\n")
    _, found = checked(tmp_path, ".")
    assert places(found, UNDEFINED) == [("a.cntk", 4, "error")]
    (one,) = (one for one in found if one["code"] == UNDEFINED)
    related = [(it["file"], it["start"]["line"], it["message"]) for it in one["related"]]
    assert related == [("r.sh", 3, "It is run here.")]


def test_old_records_are_reported_once_a_file_and_fixed_together(tmp_path: pathlib.Path) -> None:
    old_records = NETWORK + "s = [ a = [ b = 1 ] ]\nt = [ c = 2 ]\nq = s.a.b + t.c\n"
    write(tmp_path, a_dot_cntk=TRAINS, net_dot_bs=old_records)
    _, found = checked(tmp_path, ".")
    assert places(found, "BS076") == [("net.bs", 6, "info")]
    (one,) = (one for one in found if one["code"] == "BS076")
    assert "and of 2 more in this file" in one["message"]
    checked(tmp_path, ".", "--fix", "--select", "BS076")
    assert (tmp_path / "net.bs").read_text() == NETWORK + (
        "s = { a = { b = 1 } }\nt = { c = 2 }\nq = s.a.b + t.c\n"
    )


def test_a_name_that_the_library_has_elsewhere_is_a_warning_in_a_file_alone(
    tmp_path: pathlib.Path,
) -> None:
    write(tmp_path, net_dot_bs="f (x) = OnesLike (x) + Nowhere (x)\n")
    _, found = checked(tmp_path, "net.bs")
    severities = [one["severity"] for one in found if one["code"] == UNKNOWN_NAME]
    assert severities == ["warning", "hint"]


def test_only_what_is_repaired_counts_as_repaired(tmp_path: pathlib.Path) -> None:
    """A file that a run reads but no argument names is left as it is."""
    network = "run = net\nnet = [\n    f = Input(2, tag=feature)\n    OutputNodes = (f)\n]\n"
    misspelt = network.replace("Input", "Inptu")
    builder = 'NDLNetworkBuilder = { networkDescription = "n.ndl" }'
    write(
        tmp_path,
        a_dot_cntk=f'command = T\nT = {{ action = "train" ; modelPath = "m" ; {builder} }}\n',
        n_dot_ndl=misspelt,
    )
    assert "--fix repairs" not in netsharp("check", "a.cntk", cwd=tmp_path).out
    netsharp("check", "a.cntk", "--fix", cwd=tmp_path)
    assert (tmp_path / "n.ndl").read_text() == misspelt
    both = netsharp("check", "a.cntk", "n.ndl", cwd=tmp_path)
    assert "--fix repairs 1 of them." in both.out
    netsharp("check", "a.cntk", "n.ndl", "--fix", cwd=tmp_path)
    assert (tmp_path / "n.ndl").read_text() == network
