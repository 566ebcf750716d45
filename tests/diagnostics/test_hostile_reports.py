"""Reports over names and messages that would forge, hide or clear the text around them."""

from __future__ import annotations

import json
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.diagnostics.model import Diagnostic, Edit, Fix, Related
from netsharp_lsp.diagnostics.reports import FORMATS, FileFindings, Style, render
from netsharp_lsp.text.json_text import to_json
from netsharp_lsp.text.lines import LineIndex
from netsharp_lsp.text.visible import encodable, visible, visible_lines

LAW = settings(max_examples=60, deadline=None, derandomize=True)
#: What acts in a terminal, ends lines, opens commands or markup, or cannot be encoded.
CHARACTERS = [*"ab:,%=[]<>&\"'\\/#|`*", *map(chr, range(32)), "\x7f", "\x85", "\x9b", "\xa0", "é"]
CHARACTERS += [
    "\u2028",
    "\u2029",
    "\u202e",
    "\u2066",
    "\u200b",
    "\ufeff",
    "\ufffe",
    "数",
    "\U0001f9e0",
]
CHARACTERS += ["\U000e0041", "\udc80", "\udcff", "\ud800"]
PIECES = ["\x1b[2J", "\x1b]0;title\x07", "\r\n", "\n::error file=a.nn::forged", "::warning::x"]
PIECES += ["##[error]x", "a.nn:1:1: error NS001 forged\n", "]]>", "</testsuite>"]
HOSTILE = st.lists(st.sampled_from([*CHARACTERS, *PIECES]), max_size=8).map("".join)
NAMES = HOSTILE.filter(bool)
FORMATS_OF_LINES = ("concise", "github")


@st.composite
def files(draw: st.DrawFn) -> list[FileFindings]:
    """A few files of hostile names, texts, messages, labels and fixes."""
    found = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        data = draw(HOSTILE).encode("utf-8", "replace") + b" bad"
        fix = Fix(draw(HOSTILE), True, [Edit(0, 0, draw(HOSTILE))])
        elsewhere = Related(draw(HOSTILE), 0, 0, draw(NAMES))
        related = [Related(draw(HOSTILE), 0, 1), elsewhere]
        end = len(data)
        one = Diagnostic("TY001", "error", draw(HOSTILE), end - 3, end, related, fix)
        two = Diagnostic("TY002", "hint", draw(HOSTILE), 0, end)
        others = {str(elsewhere.file): LineIndex(data)}
        found.append(FileFindings(name, LineIndex(data), [one, two], others))
    return found


def report(form: str, found: list[FileFindings]) -> str:
    return "".join(render(form, found, Style(version="1")))


def acting(text: str) -> list[str]:
    """The characters of a text that act instead of being shown, except line feeds."""
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return [one for one in text if one != "\n" and unicodedata.category(one) in kinds]


@LAW
@given(files())
@pytest.mark.parametrize("form", FORMATS)
def test_no_format_lets_anything_act(form: str, found: list[FileFindings]) -> None:
    text = report(form, found)
    assert not acting(text)
    text.encode()


@LAW
@given(files())
@pytest.mark.parametrize("form", FORMATS_OF_LINES)
def test_a_finding_is_a_line(form: str, found: list[FileFindings]) -> None:
    lines = report(form, found).split("\n")
    assert lines.pop() == ""
    assert len(lines) == sum(len(one.diagnostics) for one in found)
    for line in lines:
        if form == "github":
            assert re.match(r"::(error|notice) title=netsharp TY00[12],file=[^,:]*,line=\d+,", line)
        else:
            assert not line.startswith(("::", "##"))


@LAW
@given(files())
def test_no_line_of_the_text_is_forged(found: list[FileFindings]) -> None:
    for line in report("text", found).split("\n"):
        assert re.match(
            r"(error\[TY001\]: |hint\[TY002\]: | *-->| *\d* \|| *= |\d+ files? c|$)", line
        )


@LAW
@given(files())
def test_json_gives_everything_back_that_utf8_holds(found: list[FileFindings]) -> None:
    (first, second, *_) = json.loads(report("json", found))["diagnostics"]
    one = found[0].diagnostics[0]
    assert first["file"] == second["file"] == encodable(found[0].file)
    assert first["message"] == encodable(one.message)
    assert [it["message"] for it in first["related"]] == [
        encodable(it.message) for it in one.related
    ]
    issues = json.loads(report("gitlab", found))
    assert issues[0]["location"]["path"] == encodable(found[0].file)
    for document in (first, issues):
        json.dumps(document, ensure_ascii=False).encode()


@pytest.mark.costly
@LAW
@given(files())
def test_sarif_has_the_names_as_addresses(found: list[FileFindings]) -> None:
    log = json.loads(report("sarif", found))
    json.dumps(log, ensure_ascii=False).encode()
    for artifact, one in zip(log["runs"][0]["artifacts"], found, strict=True):
        uri = artifact["location"]["uri"]
        assert uri.isascii()
        assert not acting(uri)
        path = unquote(urlsplit(uri).path, errors="surrogateescape")
        wanted = one.file.replace("\\", "/")
        if "\ud800" not in wanted:
            assert path.removeprefix("//") == wanted.removeprefix("./").removeprefix("//")


@LAW
@given(files())
def test_junit_is_xml_with_visible_names(found: list[FileFindings]) -> None:
    suites = ElementTree.fromstring(report("junit", found)).findall("testsuite")
    for suite, one in zip(suites, found, strict=True):
        name = suite.get("name") or ""
        assert not [it for it in acting(name) if it != "\t"]
        assert name == visible_lines(one.file).replace("\ufffe", "\\ufffe")


@given(HOSTILE)
@LAW
def test_what_is_visible_is_one_line_and_stays_so(text: str) -> None:
    shown = visible(text)
    assert not acting(shown)
    assert "\n" not in shown
    assert visible(shown) == shown
    assert visible_lines(text).count("\n") == text.count("\n")
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 数", "plain é 数"),
        ("a\x1b[2Jb\x07\r\n\t", "a\\x1b[2Jb\\x07\\r\\n\\t"),
        ("\x9b2J\x7f", "\\x9b2J\\x7f"),
        ("a\u202eb\u2066\u2028", "a\\u202eb\\u2066\\u2028"),
        ("\udcff.nn", "\\xff.nn"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_how_characters_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_json_of_half_a_character_is_still_utf8() -> None:
    text = to_json({"na\udcffme": ["\ud800", "🧠"], "n": 1.5})
    assert json.loads(text) == {"na\\xffme": ["\\ud800", "🧠"], "n": 1.5}
