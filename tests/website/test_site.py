"""The site: what is gathered for it, and that a link which leads nowhere is found.

`make site` builds all of it; what needs no generator is tried here.
"""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path, PurePosixPath

import pytest

from netsharp_lsp import __version__
from netsharp_lsp.cntk.library.documentation import GROUPS, documented
from netsharp_lsp.language import known_codes, rules_with, title_of
from website.collecting import FAMILIES, ROOT, collect, linked

SUPPORT = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
INSTALLATION = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    collect(folder)
    return folder


def test_every_code_has_a_page_and_a_row(sources: Path) -> None:
    index = (sources / "rules" / "index.md").read_text()
    for code in known_codes():
        page = (sources / "rules" / f"{code}.md").read_text()
        assert f"# {code}: {title_of(code)}" in page
        assert "⟦" not in page
        assert "{code-block}" in page
        assert f"[{code}]({code}.md)" in index
    assert all(f"## {title}\n" in index for title in FAMILIES.values())


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "website" / "index.md").read_text().splitlines()
    assert [
        page.stem for page in (ROOT / "docs").glob("*.md") if f"docs/{page.stem}" not in menu
    ] == []


def test_the_line_at_fault_is_marked(sources: Path) -> None:
    page = (sources / "rules" / "NS074.md").read_text()
    assert "```{code-block} netsharp\n:emphasize-lines: 2-2\n" in page


def test_every_function_has_an_entry(sources: Path) -> None:
    pages = "".join(path.read_text() for path in (sources / "library").glob("*.md"))
    names = [name for group in GROUPS for name in documented(group)]
    assert len(names) > 200
    assert [name for name in names if f"## `{name}`" not in pages] == []


def test_links_to_what_the_site_has_not_become_names() -> None:
    taken = frozenset({"docs/a.md", "README.md"})
    place = PurePosixPath("docs/b.md")
    for text, wanted in (
        ("[a](a.md#x) [r](../README.md)", "[a](a.md#x) [r](../README.md)"),
        ("[the licence](../LICENSE)", "the licence (`LICENSE`)"),
        ("[out](https://example.org/a.md)", "[out](https://example.org/a.md)"),
        ("[wrong](nowhere.md)", "[wrong](nowhere.md)"),
        ("![picture](loss.svg)", "![picture](loss.svg)"),
        ("```\n[x](../LICENSE)\n```", "```\n[x](../LICENSE)\n```"),
    ):
        assert linked(text, place, taken) == wanted


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    building = pytest.importorskip("website.building", reason="sphinx is in the group 'site'")
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#there">b</a><a href="#top">up</a>'
        '<a href="https://example.org/x.html">out</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there"></p>')
    assert building.dangling(tmp_path) == []
    (tmp_path / "b.html").write_text('<p id="elsewhere"></p><img src="none.png">')
    assert building.dangling(tmp_path) == [
        "a.html: 'b.html#there' names a place that its page does not have.",
        "b.html: there is no 'none.png'.",
    ]


def test_a_folder_with_something_else_is_left_unchanged(tmp_path: Path) -> None:
    building = pytest.importorskip("website.building", reason="sphinx is in the group 'site'")
    (tmp_path / "mine.txt").write_text("mine")
    assert building.main(tmp_path) == 2
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert building.is_free(tmp_path / "new")


@pytest.mark.parametrize("name", ["netsharp", "brainscript", "cntk", "ndl", "mel"])
def test_colours_leave_every_letter(name: str) -> None:
    lexers = pytest.importorskip("website.lexers", reason="pygments is in the group 'site'")
    lexer = lexers.lexers()[name](stripnl=False, ensurenl=False)
    for code in known_codes():
        for block in rules_with(code).page(code).good_blocks:
            if block.language == name:
                text = block.text.decode("utf-8")
                pieces = list(lexer.get_tokens_unprocessed(text))
                assert "".join(piece for _, _, piece in pieces) == text
                assert [at for at, _, _ in pieces] == sorted(at for at, _, _ in pieces)


def test_the_matrix_has_every_target_and_python() -> None:
    targets = runpy.run_path(str(ROOT / "packaging" / "targets.py"))
    named = [target.name for target in targets["TARGETS"]]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", SUPPORT, re.MULTILINE)
    assert rows == named
    assert len(named) == 6
    assert all(python in SUPPORT for python in targets["PYTHONS"])


def test_the_page_of_installation_has_every_extra_and_editor() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in project["optional-dependencies"]:
        assert f"| `{extra}` |" in INSTALLATION, extra
    table = (ROOT / "editors" / "README.md").read_text()
    for editor in re.findall(r"^\| ([A-Z]\w+)", table, re.MULTILINE):
        assert editor in INSTALLATION, editor
        assert editor in SUPPORT, editor


def test_the_citation_has_the_version() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
