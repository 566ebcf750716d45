"""`netsharp check` in real processes: files, folders, stdin, exit codes, reports, context."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest

import netsharp_lsp
from tests.cli.command_line import Answer, clean_environment, netsharp

SCHEMA = json.loads(
    (pathlib.Path(netsharp_lsp.__file__).parent / "schemas/check.json").read_text("utf-8")
)
CLEAN = "input A [3];\noutput R [2] softmax from A all;\n"
FAULTY = "input A [0];\noutput R [2] softmax from A all;\n"
WARNED = "input A [7 / 2];\noutput R [2] softmax from A all;\n"
IDLE = "input A [3]; // netsharp: ignore[NS050]\noutput R [2] softmax from A all;\n"


def write(folder: pathlib.Path, **files: str) -> None:
    """Write files; `__` in a name stands for a folder, the suffix is .nn."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.nn"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def reported(answer: Answer) -> list[tuple[str, str]]:
    data = json.loads(answer.out)
    jsonschema.validate(data, SCHEMA)
    return [(d["file"], d["code"]) for d in data["diagnostics"]]


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_clean_file_exits_0(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=CLEAN)
    answer = netsharp("check", "a.nn", cwd=tmp_path)
    assert (answer.code, answer.out, answer.err) == (0, "1 file checked, nothing found.\n", "")


def test_a_fault_is_shown_and_exits_1(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY)
    answer = netsharp("check", "a.nn", "--select", "NS050", cwd=tmp_path)
    assert answer.code == 1
    lines = answer.out.splitlines()
    assert lines[0].startswith("error[NS050]: ")
    assert lines[1:5] == [" --> a.nn:1:10", "  |", "1 | input A [0];", "  |          ^"]
    assert "\x1b" not in answer.out


@pytest.mark.parametrize(
    ("environment", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_for_terminals(
    tmp_path: pathlib.Path, environment: dict[str, str], colored: bool
) -> None:
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    write(tmp_path, a=FAULTY)
    main_end, terminal = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "netsharp_lsp", "check", "a.nn"],
        cwd=tmp_path,
        stdout=terminal,
        check=False,
        env=clean_environment() | {"TERM": "xterm"} | environment,
    )
    os.close(terminal)
    written = os.read(main_end, 1 << 16)
    os.close(main_end)
    assert b"NS050" in written
    assert (b"\x1b[" in written) == colored


def test_json_follows_the_schema(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY, b=CLEAN, c=WARNED)
    answer = netsharp("check", "--format", "json", "--select", "NS05,NS049", cwd=tmp_path)
    assert reported(answer) == [("a.nn", "NS050"), ("c.nn", "NS049")]
    assert json.loads(answer.out)["diagnostics"][0]["start"] == {"line": 1, "column": 10}


@pytest.mark.parametrize("format_name", ["sarif", "gitlab", "junit", "github", "concise"])
def test_other_formats_are_well_formed(tmp_path: pathlib.Path, format_name: str) -> None:
    write(tmp_path, a=FAULTY)
    answer = netsharp("check", "a.nn", "--select", "NS050", "--format", format_name, cwd=tmp_path)
    assert answer.code == 1
    if format_name == "junit":
        assert ElementTree.fromstring(answer.out).get("failures") == "1"
    elif format_name in ("sarif", "gitlab"):
        assert "NS050" in json.dumps(json.loads(answer.out))
    else:
        assert answer.out.count("NS050") >= 1
        assert answer.out.count("\n") == 1


def test_the_report_can_be_a_file(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY)
    answer = netsharp(
        "check", "a.nn", "--format", "json", "--output-file", "report.json", cwd=tmp_path
    )
    assert (answer.code, answer.out) == (1, "")
    jsonschema.validate(json.loads((tmp_path / "report.json").read_text()), SCHEMA)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.nn", "report.json"]


@pytest.mark.parametrize(
    ("fail_on", "code"), [(None, 1), ("error", 0), ("warning", 1), ("info", 1), ("hint", 1)]
)
def test_fail_on_decides_the_exit_code(
    tmp_path: pathlib.Path, fail_on: str | None, code: int
) -> None:
    write(tmp_path, a=WARNED)
    flag = [] if fail_on is None else ["--fail-on", fail_on]
    assert netsharp("check", "a.nn", "--select", "NS049", *flag, cwd=tmp_path).code == code
    if fail_on is not None:
        (tmp_path / "netsharp.toml").write_text(f'fail-on = "{fail_on}"')
        assert netsharp("check", "a.nn", "--select", "NS049", cwd=tmp_path).code == code


def test_select_and_ignore(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY + WARNED)

    def codes(*flags: str) -> set[str]:
        answer = netsharp("check", "a.nn", "--format", "json", *flags, cwd=tmp_path)
        return {code for _, code in reported(answer)}

    assert codes("--select", "NS05") & {"NS049", "NS050"} == {"NS050"}
    assert codes("--select", "NS049", "--select", "NS050") == {"NS049", "NS050"}
    assert codes("--ignore", "NS050") & {"NS049", "NS050"} == {"NS049"}
    (tmp_path / "netsharp.toml").write_text('select = ["NS049", "NS050"]\nignore = ["NS049"]')
    assert codes() == {"NS050"}
    assert codes("--select", "NS04") <= {"NS040", "NS041"}
    assert codes("--ignore", "NS05") == set()
    assert codes("--isolated") >= {"NS049", "NS050"}
    (tmp_path / "other.toml").write_text('select = ["NS049"]')
    assert codes("--config", "other.toml") == {"NS049"}


def test_per_file_ignores_and_exclude(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY, old__b=FAULTY, tests__c=FAULTY)
    (tmp_path / "netsharp.toml").write_text(
        'select = ["NS050"]\nexclude = ["old"]\n[per-file-ignores]\n"tests/**" = ["NS05"]\n'
    )
    answer = netsharp("check", "--format", "json", cwd=tmp_path)
    assert reported(answer) == [("a.nn", "NS050")]
    named = netsharp("check", "--format", "json", "old/b.nn", cwd=tmp_path)
    assert reported(named) == [("old/b.nn", "NS050")]


def test_each_file_has_its_nearest_settings(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY, sub__b=FAULTY)
    (tmp_path / "netsharp.toml").write_text('select = ["NS050"]')
    (tmp_path / "sub" / "netsharp.toml").write_text('ignore = ["ALL"]')
    assert reported(netsharp("check", "--format", "json", cwd=tmp_path)) == [("a.nn", "NS050")]


@pytest.mark.parametrize(
    ("flags", "settings", "sentence"),
    [
        (["--select", "NS7"], "", "'NS7' is not a code, nor the start of one."),
        (
            ["--ignore", "NS0500"],
            "",
            "'NS0500' is not a code, nor the start of one. Did you mean 'NS050'?",
        ),
        ([], 'selct = ["NS0"]', "netsharp.toml:1: unknown key 'selct'. Did you mean 'select'?"),
        ([], 'ignore = ["NS0500"]', "'NS0500' is not a code"),
        ([], f"select = {'[' * 5000}", "netsharp.toml: is not valid TOML: "),
        (["--config", "missing.toml"], "", "missing.toml: cannot be read: No such file"),
        (["--config", "a.nn", "--isolated"], "", "not allowed with argument"),
        (["--features", "0"], "", "must be a whole number of at least 1, found '0'"),
        (["--update-baseline"], "", "--update-baseline needs --baseline FILE"),
        (["--baseline", "none.json"], "", "the baseline cannot be read: No such file"),
        (["--baseline", "no/b.json", "--update-baseline"], "", "b.json: the baseline cannot be wr"),
        (["--output-file", "no/report"], "", "no/report: the report cannot be written: No such"),
        (["--watch", "-"], "", "--watch cannot watch stdin."),
    ],
)
def test_what_cannot_run_exits_2_with_a_sentence(
    tmp_path: pathlib.Path, flags: list[str], settings: str, sentence: str
) -> None:
    write(tmp_path, a=CLEAN)
    if settings:
        (tmp_path / "netsharp.toml").write_text(settings)
    answer = netsharp("check", "a.nn", *flags, cwd=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err


def test_a_missing_file_does_not_hide_the_others(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY)
    answer = netsharp(
        "check", "b.nn", "a.nn", "--select", "NS050", "--format", "json", cwd=tmp_path
    )
    assert answer.code == 2
    assert answer.err == "netsharp: b.nn: cannot be read: No such file or directory.\n"
    assert reported(answer) == [("a.nn", "NS050")]


def test_a_folder_means_its_specifications(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY, d__b=FAULTY, d__e__c=FAULTY)
    (tmp_path / "d" / "x.netsharp").write_text(FAULTY)
    (tmp_path / "d" / "UPPER.NN").write_text(FAULTY)
    (tmp_path / "d" / "other.txt").write_text(FAULTY)
    (tmp_path / "d" / ".hidden.nn").write_text(FAULTY)
    (tmp_path / ".secret").mkdir()
    (tmp_path / ".secret" / "s.nn").write_text(FAULTY)
    (tmp_path / "binary.nn").write_bytes(b"\x7fELF\0\0\xff")
    (tmp_path / "wide.nn").write_bytes(b"\xff\xfe" + FAULTY.encode("utf-16-le"))
    answer = netsharp("check", ".", "a.nn", "--select", "NS050", "--format", "json", cwd=tmp_path)
    assert [file for file, _ in reported(answer)] == [
        "a.nn",
        "d/UPPER.NN",
        "d/b.nn",
        "d/e/c.nn",
        "d/x.netsharp",
        "wide.nn",
    ]
    assert answer.code == 1


def test_a_folder_without_specifications_is_mentioned(tmp_path: pathlib.Path) -> None:
    answer = netsharp("check", cwd=tmp_path)
    assert answer.code == 0
    assert answer.err == (
        "netsharp: .: no .nn, .netsharp, .cntk, .config, .bs, .ndl or .mel "
        "file below this folder.\n"
    )


def test_ignored_files_of_every_work_tree_are_left_out(tmp_path: pathlib.Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    write(tmp_path, a=FAULTY, build__b=FAULTY, sub__c=FAULTY, sub__own=FAULTY, build__kept=FAULTY)
    for folder, ignored in ((tmp_path, "build\n"), (tmp_path / "sub", "own.nn\n")):
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True, env=clean_environment())
        (folder / ".gitignore").write_text(ignored)
    add = ["git", "add", "-f", "build/kept.nn"]
    subprocess.run(add, cwd=tmp_path, check=True, env=clean_environment())
    hook = {"GIT_DIR": str(tmp_path / "nowhere"), "GIT_INDEX_FILE": "none"}
    answer = netsharp(
        "check", "--select", "NS050", "--format", "json", cwd=tmp_path, environment=hook
    )
    assert [file for file, _ in reported(answer)] == ["a.nn", "build/kept.nn", "sub/c.nn"]
    named = netsharp("check", "--select", "NS050", "--format", "json", "build/b.nn", cwd=tmp_path)
    assert reported(named) == [("build/b.nn", "NS050")]


def test_stdin_has_the_name_it_is_given(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "netsharp.toml").write_text('select = ["NS050"]')
    flags = ("check", "-", "--format", "json")
    unnamed = netsharp(*flags, "--select", "NS050", cwd=tmp_path, stdin=FAULTY.encode())
    assert reported(unnamed) == [("<stdin>", "NS050")]
    named = netsharp(
        *flags, "--stdin-filename", "sub/x.nn", cwd=tmp_path, stdin=(FAULTY + WARNED).encode()
    )
    assert set(reported(named)) == {("sub/x.nn", "NS050")}


def test_bytes_that_are_no_text_are_an_error_with_the_offset(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.nn").write_bytes(b"input A [3];\n// caf\xe9\n")
    answer = netsharp("check", "a.nn", cwd=tmp_path)
    assert answer.code == 2
    assert answer.err == (
        "netsharp: a.nn: Byte 19 (0xE9, on line 2) is not UTF-8; save the file as UTF-8.\n"
    )


def test_utf16_is_read_with_a_warning(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.nn").write_bytes(b"\xfe\xff" + CLEAN.encode("utf-16-be"))
    answer = netsharp("check", "a.nn", cwd=tmp_path)
    assert answer.code == 0
    assert answer.err.startswith("netsharp: a.nn: The file is UTF-16 BE;")


def test_suppressions_work_and_idle_ones_are_reported(tmp_path: pathlib.Path) -> None:
    write(
        tmp_path,
        a=FAULTY.replace("\n", " // netsharp: ignore[NS050]\n", 1),
        b=f"// netsharp: ignore[NS050]\n{FAULTY}",
        c=IDLE,
        d=IDLE.replace("NS050", "NS999"),
    )
    answer = netsharp("check", "--select", "NS050,NS12", "--format", "json", cwd=tmp_path)
    assert reported(answer) == [("c.nn", "NS126"), ("d.nn", "NS127")]
    assert answer.code == 1


def test_statistics_follow_the_report(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY + FAULTY.replace("A", "B").replace("R", "S"))
    flags = ("check", "a.nn", "--select", "NS050", "--statistics", "--format")
    lines = netsharp(*flags, "concise", cwd=tmp_path).out.splitlines()
    assert lines[-1].split()[:3] == ["2", "NS050", "error"]
    answer = netsharp(*flags, "json", cwd=tmp_path)
    assert len(reported(answer)) == 2
    assert answer.err.split()[:3] == ["2", "NS050", "error"]


def test_many_files_are_checked_in_order(tmp_path: pathlib.Path) -> None:
    write(tmp_path, **{f"f{number:03}": FAULTY for number in range(60)})
    answer = netsharp("check", "--select", "NS050", "--format", "json", cwd=tmp_path)
    assert reported(answer) == [(f"f{number:03}.nn", "NS050") for number in range(60)]


def test_context_comes_from_flags_then_data_then_run_file_then_settings(
    tmp_path: pathlib.Path,
) -> None:
    write(tmp_path, a="input A [4];\noutput R [3] softmax from A all;\n")
    rows = {5: "a.csv", 6: "other.csv"}
    for columns, name in rows.items():
        names = ",".join(f"x{number}" for number in range(columns))
        lines = [f"{names},label", *("1," * columns + kind for kind in "uvw")]
        (tmp_path / name).write_text("\n".join(lines) + "\n")

    def features(*flags: str) -> str:
        answer = netsharp(
            "check", "a.nn", "--select", "NS081", "--format", "concise", *flags, cwd=tmp_path
        )
        assert answer.code == (1 if answer.out else 0), answer.err
        return answer.out

    assert features() == ""
    (tmp_path / "netsharp.toml").write_text("features = 9")
    assert "9 features" in features()
    (tmp_path / "a.toml").write_text('[data]\ntrain = "a.csv"\n')
    assert "5 features" in features()
    assert "6 features" in features("--data", "other.csv")
    assert "7 features" in features("--data", "other.csv", "--features", "7")
    assert features("--features", "4") == ""
    assert "5 features" in features("--isolated")


def test_a_broken_run_file_is_reported_and_the_rest_is_checked(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY)
    (tmp_path / "a.toml").write_text("[data\n")
    answer = netsharp("check", "a.nn", "--select", "NS050", "--format", "json", cwd=tmp_path)
    assert answer.code == 2
    assert "a.toml: is not valid TOML" in answer.err
    assert reported(answer) == [("a.nn", "NS050")]


def test_data_that_cannot_be_read_is_a_sentence(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=CLEAN)
    answer = netsharp("check", "a.nn", "--data", "none.csv", cwd=tmp_path)
    assert answer.code == 2
    assert "none.csv" in answer.err


@pytest.mark.parametrize(
    "format_name", ["text", "concise", "json", "sarif", "github", "gitlab", "junit"]
)
def test_any_file_name_and_any_terminal_will_do(tmp_path: pathlib.Path, format_name: str) -> None:
    name = os.fsdecode(b"caf\xe9 <1>,\xe6\x95\xb0.nn")
    try:
        (tmp_path / name).write_text("input 数据 [0];\n", encoding="utf-8")
    except OSError:
        pytest.skip("this file system wants names in UTF-8")
    ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    answer = netsharp("check", "--format", format_name, cwd=tmp_path, environment=ascii_only)
    assert (answer.code, answer.err) == (1, "")
    assert "NS001" in answer.out
    missing = netsharp("check", name + "x", cwd=tmp_path, environment=ascii_only)
    assert missing.code == 2
    assert "cannot be read" in missing.err


def test_options_may_stand_between_files(tmp_path: pathlib.Path) -> None:
    write(tmp_path, a=FAULTY, b=FAULTY)
    answer = netsharp(
        "check", "a.nn", "--select", "NS050", "b.nn", "--format", "json", cwd=tmp_path
    )
    assert reported(answer) == [("a.nn", "NS050"), ("b.nn", "NS050")]


@pytest.mark.costly
def test_the_report_of_the_whole_corpus_follows_the_schema(tmp_path: pathlib.Path) -> None:
    corpus = pathlib.Path(__file__).parent.parent / "corpus"
    answer = netsharp("check", str(corpus), "--isolated", "--format", "json", cwd=tmp_path)
    assert {"NS010", "NS035"} <= {code for _, code in reported(answer)}
