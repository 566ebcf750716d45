"""Scripts of our own making in the forms that occur, with what is expected beside the code.

In comments of a script: `@spec NAME` is on the line where a specification begins, `!NS035` on
that of an error, `@call NAME key=value` where a call is that is imported as NAME with these
settings, `@lost ARGUMENT` where an argument is listed, since nothing carries it.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from netsharp_lsp.__main__ import main
from netsharp_lsp.cli.inputs.embedded import ReadHost, examine_host
from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.cli.inputs.scripts import ReadScript, read_script
from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.embedded.hosts import host_of
from netsharp_lsp.importing.run_files import run_file_text
from netsharp_lsp.text.lines import LineIndex
from tests.embedded.laws import (
    assert_formatting_is_stable,
    assert_nothing_outside_changes,
    assert_offsets_go_there_and_back,
    regions_of,
)
from tests.importing.direct import assert_import_then_run_is_the_call

SCRIPTS = Path(__file__).parent / "scripts"
NAMES = sorted(path.name for path in SCRIPTS.iterdir() if host_of(path.name) is not None)
IRIS = Path(__file__).parents[2] / "examples" / "iris" / "iris.csv"
#: What a marker says, as far as the next one and the end of the line.
MARK = re.compile(r"@(spec|call|lost) ([^@\r\n]*)")
ERROR = re.compile(r"!(NS\d+)")
every_script = pytest.mark.parametrize("name", NAMES)


class Expected:
    """The markers of a script: by line, from 1."""

    def __init__(self, text: str, *, notebook: bool) -> None:
        self.specifications: set[tuple[int, str]] = set()
        self.calls: dict[tuple[int, str], dict[str, str]] = {}
        self.lost: set[tuple[int, str]] = set()
        self.errors: set[tuple[int, str]] = set()
        for line, written in enumerate(text.splitlines(), 1):
            shown = written.partition("\\n")[0] if notebook else written
            self.errors |= {(line, code) for code in ERROR.findall(shown)}
            for kind, words in MARK.findall(shown):
                self._take(line, kind, words.strip())

    def _take(self, line: int, kind: str, words: str) -> None:
        if kind == "lost":
            self.lost.add((line, words))
            return
        name, *settings = words.split()
        if kind == "spec":
            self.specifications.add((line, name))
        else:
            self.calls[line, name] = dict(one.split("=", 1) for one in settings)


def expected(name: str) -> Expected:
    text = (SCRIPTS / name).read_text(encoding="utf-8")
    return Expected(text, notebook=name.endswith(".ipynb"))


def script_of(name: str) -> ReadScript:
    path = SCRIPTS / name
    found = read_script(Input(str(path), str(path)), path.read_bytes())
    assert isinstance(found, ReadScript), found
    assert found.broken == []
    return found


def shown(value: Any) -> str:
    """A setting as markers write it."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def test_there_are_forty_scripts_in_every_form() -> None:
    assert len(NAMES) >= 40
    forms = {name.partition("_")[2] for name in NAMES if name.endswith(".sql")}
    assert len(forms) >= 12
    assert {f"{kind}_{form}" for form in forms for kind in ("batch", "procedure")} <= set(NAMES)
    assert {host_of(name) for name in NAMES} == {"sql", "r", "python", "rmd", "ipynb"}


@every_script
def test_what_is_found(name: str) -> None:
    data = (SCRIPTS / name).read_bytes()
    lines = LineIndex(data)
    found = {(lines.line_at(one.start) + 1, str(one.name)) for one in regions_of(name, data)}
    assert found >= expected(name).specifications
    assert len(found) >= len(expected(name).specifications)


@every_script
def test_what_is_checked(name: str) -> None:
    data = (SCRIPTS / name).read_bytes()
    lines = LineIndex(data)
    host = ReadHost(Input(name, None), data)
    found = examine_host(host, (Context(), Context()), Selection((), ()))
    errors = {(lines.line_at(d.start) + 1, d.code) for d in found if d.severity == "error"}
    assert errors == expected(name).errors


@every_script
def test_what_is_imported_and_what_is_listed(name: str) -> None:
    script, wanted = script_of(name), expected(name)
    assert {
        (call.line, called) for called, call in zip(script.names, script.calls, strict=True)
    } == set(wanted.calls)
    for called, call in zip(script.names, script.calls, strict=True):
        table = tomllib.loads(run_file_text(call, name, str))
        settings = {key: shown(value) for rows in table.values() for key, value in rows.items()}
        reported = wanted.calls[call.line, called]
        assert {key: settings.get(key) for key in reported} == reported
    assert {(one.line, one.argument) for call in script.calls for one in call.left} == wanted.lost


@every_script
def test_offsets_go_there_and_back_at_every_byte(name: str) -> None:
    assert_offsets_go_there_and_back(name, (SCRIPTS / name).read_bytes())


@every_script
def test_formatting_changes_nothing_outside(name: str) -> None:
    data = (SCRIPTS / name).read_bytes()
    assert_nothing_outside_changes(name, data)
    assert_formatting_is_stable(name, data)


RUNS = [
    (name, call.line)
    for name in NAMES
    for call in script_of(name).calls
    if call.net is not None and not expected(name).errors & {(call.line, "NS035")}
]


@pytest.mark.parametrize(("name", "line"), RUNS)
def test_import_then_run_is_the_direct_call(
    name: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (SCRIPTS / name, SCRIPTS / "measures.nn", IRIS):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert_import_then_run_is_the_call(tmp_path, f"{name}::{line}", "--train", "iris.csv")


@every_script
def test_import_writes_what_check_and_format_take(name: str, tmp_path: Path) -> None:
    shutil.copy(SCRIPTS / name, tmp_path)
    shutil.copy(SCRIPTS / "measures.nn", tmp_path)
    main(["import", str(tmp_path / name), "--force"])
    written = [
        tmp_path / f"{called}.nn"
        for called, call in zip(script_of(name).names, script_of(name).calls, strict=True)
        if call.net is not None and not expected(name).errors & {(call.line, "NS035")}
    ]
    assert main(["check", *map(str, written), "--select", "NS0"]) == 0
    assert main(["fmt", *map(str, written)]) == 0
