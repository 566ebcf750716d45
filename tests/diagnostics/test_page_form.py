"""Rule pages are read by one form; a page that departs from it is refused with its line."""

from __future__ import annotations

import pathlib

import pytest

from netsharp_lsp.diagnostics.page_blocks import FORMS
from netsharp_lsp.diagnostics.pages import PageError, RuleBook, parse_page

PAGE = """\
# TY001: A title: with a colon

severity: error
fix: unsafe

## What
It is `bad`.

Twice.

## Why
Because.

## Bad
```toy features=4 hidden-nodes=7 task=multiclass host=rx
数 ⟦bad⟧ x
## no heading
```

## Good
```toy
good
```

## Guide
Section "One".
"""


def test_a_page_is_read() -> None:
    page = parse_page(PAGE)
    assert (page.code, page.title) == ("TY001", "A title: with a colon")
    assert (page.severity, page.fix, page.language) == ("error", "unsafe", "toy")
    assert (page.what, page.why) == ("It is `bad`.\n\nTwice.", "Because.")
    assert page.guide == 'Section "One".'
    assert page.bad.decode() == "数 bad x\n## no heading\n"
    assert page.bad[page.bad_start : page.bad_end] == b"bad"
    assert page.good == b"good\n"
    expected = {"features": 4, "hidden_nodes": 7, "task": "multiclass", "host": "rx"}
    assert page.context.known() == expected
    assert page.good_context == page.context


def test_the_good_example_may_have_its_own_context() -> None:
    page = parse_page(PAGE.replace("```toy\n", "```toy outputs=3\n"))
    assert page.good_context.known() == {"outputs": 3}


def test_a_span_may_be_empty() -> None:
    page = parse_page(PAGE.replace("⟦bad⟧", "⟦⟧"))
    assert page.bad_start == page.bad_end == 4


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("# TY001:", "TY001:", 1, "first line"),
        ("severity: error", "severity: fatal", 2, "'severity:' must be one of"),
        ("fix: unsafe", "", 2, "'fix:' must be one of"),
        ("## Why", "## Reason", 1, "sections must be What, Why"),
        ("Because.", "", 11, "section is empty"),
        ("```toy\n", "```\n", 21, "must name its language"),
        ("task=multiclass", "task=guess", 15, "'task=guess' is not a context"),
        ("features=4", "features=-4", 15, "is not a context"),
        ("⟦bad⟧", "bad", 14, "must mark one span"),
        ("⟦bad⟧", "bad⟧", 14, "must mark one span"),
        ("```toy\n", "```toy as=ebcdic\n", 21, "is not a context"),
        ("```toy\n", "```toy title=\n", 21, "is not a context"),
        ("⟦bad⟧", "⟦bad⟧ ⟦x⟧", 14, "must mark one span"),
        ("good\n```", "good\n```\n```x\n```", 20, "exactly one fenced block"),
    ],
)
def test_a_departure_from_the_form_names_its_line(
    old: str, new: str, line: int, words: str
) -> None:
    assert old in PAGE
    with pytest.raises(PageError, match="line") as error:
        parse_page(PAGE.replace(old, new, 1))
    assert words in error.value.message
    assert error.value.line == line


FILES = """\
```toy title=a.toy run=a.toy run=Size=3
one
```
```toyer title=b.toyer as=utf-16
⟦é⟧
```
"""


def test_a_page_may_hold_the_files_of_a_project() -> None:
    bad = PAGE.index("```toy features"), PAGE.index("\n## Good")
    page = parse_page(PAGE[: bad[0]] + FILES + PAGE[bad[1] :])
    first, second = page.bad_blocks
    assert (first.title, first.language, first.runs) == ("a.toy", "toy", ("a.toy", "Size=3"))
    assert (first.data, first.span) == (b"one\n", None)
    assert (second.text, second.span) == ("é\n".encode(), (0, 2))
    assert second.data == b"\xff\xfe\xe9\0\n\0"
    assert (page.bad, page.language) == (second.text, "toyer")
    assert (page.good, len(page.good_blocks)) == (b"good\n", 1)


@pytest.mark.parametrize(("old", "new"), [("title=b.toyer", ""), ("b.toyer", "a.toy")])
def test_several_blocks_have_a_title_each(old: str, new: str) -> None:
    bad = PAGE.index("```toy features"), PAGE.index("\n## Good")
    text = PAGE[: bad[0]] + FILES.replace(old, new) + PAGE[bad[1] :]
    with pytest.raises(PageError, match="titled ones"):
        parse_page(text)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_file_may_be_stored_as_no_page_shows_it(form: str) -> None:
    page = parse_page(PAGE.replace("```toy\n", f"```toy as={form}\n").replace("good\n", "a\nb\n"))
    (block,) = page.good_blocks
    assert block.text == b"a\nb\n"
    assert (block.data == block.text) == (form == "windows-1252")


def test_a_book_is_a_folder_of_pages(tmp_path: pathlib.Path) -> None:
    (tmp_path / "TY001.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    book = RuleBook(str(tmp_path))
    assert book.codes == ("TY001",)
    assert book.title("TY001") == "A title: with a colon"
    assert book.title("TY009") == "TY009"
    assert book.page("TY001").code == "TY001"
    with pytest.raises(KeyError):
        book.page("TY009")
