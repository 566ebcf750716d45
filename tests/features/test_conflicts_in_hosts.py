"""Merge conflicts of a host between its specifications, and such as break a notebook's JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netsharp_lsp.text.lines import LineIndex
from tests.cli.command_line import netsharp
from tests.server.wire import serving

UNUSED = "input I [3];\nhidden H [2] from I all;\noutput O [1] from I all;\n"
CONFLICT = "<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> topic\n"
NOTEBOOK = '{{"cells": [\n{cells}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}\n'


def cell(text: str) -> str:
    source = json.dumps(text.splitlines(keepends=True))
    return f'{{"cell_type": "markdown", "metadata": {{}}, "source": {source}}}'


def conflict(ours: str, theirs: str) -> str:
    return CONFLICT.format(ours=ours, theirs=theirs)


FENCE = f"```netsharp\n{UNUSED}```\n"
LINES, CODE = conflict("one\n", "two\n"), conflict("a = 1\n", "a = 2\n")
CELLS = conflict(cell("ours") + ",\n", cell("theirs") + ",\n") + cell(FENCE)
HOSTS = {
    "a.md": f"# A\n\n{LINES}\n{FENCE}",
    "a.Rmd": f"# A\n\n{FENCE}\n{LINES}",
    "a.py": f'{CODE}net = """\n{UNUSED}"""\n',
    "a.R": 'net <- "\n' + UNUSED + '"\n' + conflict("a <- 1\n", "b <- (\n"),
    "a.ipynb": NOTEBOOK.format(cells=CELLS),
}


def found_in(name: str, text: str, folder: Path) -> list[dict[str, object]]:
    (folder / name).write_text(text, encoding="utf-8")
    answer = netsharp("check", "--format", "json", name, cwd=folder)
    assert answer.code == 1, (answer.out, answer.err)
    assert "JSON" not in answer.err
    return list(json.loads(answer.out)["diagnostics"])


@pytest.mark.parametrize("name", HOSTS)
def test_a_conflict_beside_a_specification(name: str, tmp_path: Path) -> None:
    text = HOSTS[name]
    found = found_in(name, text, tmp_path)
    at = LineIndex(text.encode()).line_at(text.encode().index(b"<<<<<<<")) + 1
    reported = [(one["code"], one["start"]["line"]) for one in found]  # type: ignore[index]
    assert ("NS131", at) in reported
    # The faults of the specification are reported as well.
    assert sorted(code for code, _ in reported) == ["NS058", "NS124", "NS131"], reported
    (one,) = (one for one in found if one["code"] == "NS131")
    assert "'=======' is " in str(one["message"])
    assert len(one["related"]) == 2  # type: ignore[arg-type]


def test_a_specification_on_one_side_alone(tmp_path: Path) -> None:
    text = "# A\n\n" + conflict(FENCE, "gone\n")
    assert [one["code"] for one in found_in("a.md", text, tmp_path)] == ["NS131"]
    text = NOTEBOOK.format(cells=conflict(cell("a") + "\n", cell(FENCE) + "\n"))
    assert [one["code"] for one in found_in("a.ipynb", text, tmp_path)] == ["NS131"]


@pytest.mark.parametrize("mark", ["<<<<<<< HEAD\n", ">>>>>>> topic\n"])
def test_a_mark_that_was_left_in_a_notebook(mark: str, tmp_path: Path) -> None:
    text = NOTEBOOK.format(cells=f"{mark}{cell(FENCE)}\n")
    found = found_in("a.ipynb", text, tmp_path)
    assert sorted(str(one["code"]) for one in found) == ["NS058", "NS124", "NS131"]


@pytest.mark.parametrize("name", ["a.md", "a.py"])
def test_what_is_quoted_is_no_conflict(name: str, tmp_path: Path) -> None:
    quoted = '"""\n>>>>>>> seven times quoted\n"""\n'
    text = quoted + HOSTS[name].replace(LINES, "").replace(CODE, "")
    assert [one["code"] for one in found_in(name, text, tmp_path)] == ["NS058", "NS124"]


def test_a_host_without_a_specification_is_left_to_others(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(conflict("a\n", "b\n"), encoding="utf-8")
    answer = netsharp("check", "--embedded", ".", cwd=tmp_path)
    assert (answer.code, "NS131" in answer.out) == (0, False)


def test_other_commands_explain_why_a_notebook_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(HOSTS["a.ipynb"], encoding="utf-8")
    answer = netsharp("fmt", "a.ipynb", cwd=tmp_path)
    assert "is not a notebook: it holds a merge conflict, at line 2, that" in answer.err


@pytest.mark.parametrize("name", ["a.md", "a.Rmd", "a.py", "a.R"])
def test_an_editor_shows_it_too(name: str, tmp_path: Path) -> None:
    languages = {"a.md": "markdown", "a.Rmd": "rmd", "a.py": "python", "a.R": "r"}
    uri = (tmp_path / name).as_uri()
    with serving() as wire:
        wire.open(uri, HOSTS[name], languages[name])
        codes = [one.get("code") for one in wire.published(uri)]
        assert codes.count("NS131") == 1, codes
