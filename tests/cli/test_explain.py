"""`netsharp explain`: every page in every form."""

from __future__ import annotations

import json
import pathlib

import pytest

from netsharp_lsp.diagnostics.pages import PageError
from netsharp_lsp.language import known_codes, rules_with
from tests.cli.command_line import netsharp


def test_a_page_is_shown_without_its_markup(tmp_path: pathlib.Path) -> None:
    answer = netsharp("explain", "ns111", cwd=tmp_path)
    page = rules_with("NS111").page("NS111")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0] == f"NS111 ({page.severity}): {page.title}"
    for markup in ("```", "⟦", "⟧", "## "):
        assert markup not in answer.out
    assert any(line.strip().strip("^") == "" and "^" in line for line in lines)
    for line in page.good.decode().splitlines():
        assert f"    {line}".rstrip() in lines
    assert "\x1b" not in answer.out


def test_every_page_can_be_shown(tmp_path: pathlib.Path) -> None:
    codes = known_codes()
    answer = netsharp("explain", *codes, cwd=tmp_path)
    assert answer.code == 0
    for code in codes:
        assert f"{code} (" in answer.out


def test_json_and_markdown(tmp_path: pathlib.Path) -> None:
    one = json.loads(netsharp("explain", "NS111", "--format", "json", cwd=tmp_path).out)
    assert one["code"] == "NS111"
    assert one["severity"] in ("error", "warning", "info", "hint")
    listed = json.loads(netsharp("explain", "--all", "--format", "json", cwd=tmp_path).out)
    assert [page["code"] for page in listed] == list(known_codes())
    assert one in listed
    markdown = netsharp("explain", "NS111", "--format", "markdown", cwd=tmp_path).out
    assert markdown == rules_with("NS111").text("NS111")


def test_all_lists_codes_with_titles(tmp_path: pathlib.Path) -> None:
    lines = netsharp("explain", "--all", cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in lines] == list(known_codes())
    assert all(len(line.split()) > 1 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["NS9999"], "'NS9999' is not a code."),
        (["NS1111"], "Did you mean 'NS111'?"),
        ([], "explain needs a code"),
    ],
)
def test_what_cannot_be_explained(
    tmp_path: pathlib.Path, arguments: list[str], sentence: str
) -> None:
    answer = netsharp("explain", *arguments, cwd=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err


def test_every_page_has_the_form() -> None:
    faults = []
    for code in known_codes():
        try:
            page = rules_with(code).page(code)
        except PageError as error:
            faults.append(f"{code}: {error}")
        else:
            assert page.code == code
    assert faults == []


def test_an_example_of_several_files_shows_each_with_its_name(tmp_path: pathlib.Path) -> None:
    shown = netsharp("explain", "CK030", cwd=tmp_path).out
    assert "base.cntk (run with configFile=base.cntk+over.cntk):\n    Digits = {" in shown
    assert "over.cntk:\n    Digits = {\n    ^^^^^^\n" in shown
    assert "over.cntk:\n    Digits = [\n" in shown
    page = json.loads(netsharp("explain", "CK030", "--format", "json", cwd=tmp_path).out)
    assert list(page["files"]["bad"]) == list(page["files"]["good"]) == ["base.cntk", "over.cntk"]
