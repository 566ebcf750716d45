"""Every report format, over files with wide characters, tabs and every line end."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.model import Diagnostic, Edit, Fix, Related
from netsharp_lsp.diagnostics.reports import (
    FORMATS,
    FileFindings,
    Style,
    render,
    render_statistics,
)
from netsharp_lsp.text.lines import LineIndex
from tests.diagnostics.toy import TOY

LAW = settings(max_examples=100, deadline=None, derandomize=True)
PLAIN = Style(version="1.2.3", title_of=lambda code: f"Title of {code}")


def report(format_name: str, *files: FileFindings, style: Style = PLAIN) -> str:
    return "".join(render(format_name, files, style))


def findings(text: str, name: str = "a.toy") -> FileFindings:
    data = text.encode()
    return FileFindings(name, LineIndex(data), TOY.check(data, Context()).diagnostics)


def one(text: str, marked: str, **more: object) -> FileFindings:
    data = text.encode()
    start = data.index(marked.encode())
    end = start + len(marked.encode())
    diagnostic = Diagnostic("TY001", "error", "It is bad.", start, end, **more)
    return FileFindings("a.toy", LineIndex(data), [diagnostic])


def excerpt(found: FileFindings, style: Style = PLAIN) -> list[str]:
    """The rows between the place and the summary."""
    return report("text", found, style=style).split("\n\n")[0].split("\n")[2:]


@pytest.mark.parametrize(
    ("text", "marked", "rows"),
    [
        ("input bad;", "bad", ["  |", "1 | input bad;", "  |       ^^^"]),
        ("数据 bad;", "bad", ["  |", "1 | 数据 bad;", "  |      ^^^"]),
        ("bad 数据;", "数据", ["  |", "1 | bad 数据;", "  |     ^^^^"]),
        ("\tx\tbad", "bad", ["  |", "1 |     x   bad", "  |         ^^^"]),
        ("e\u0301 bad", "bad", ["  |", "1 | e\u0301 bad", "  |   ^^^"]),
        ("a\r\nbad\rc", "bad", ["  |", "2 | bad", "  | ^^^"]),
        ("a\u2028bad", "bad", ["  |", "1 | a\\u2028bad", "  |        ^^^"]),
        ("x [3,\n 4];", "[3,\n 4]", ["  |", "1 | x [3,", "  |   ^^^ … to line 2"]),
        ("x", "", ["  |", "1 | x", "  | ^"]),
    ],
)
def test_carets_stand_under_what_is_wrong(text: str, marked: str, rows: list[str]) -> None:
    assert excerpt(one(text, marked)) == rows


def test_an_empty_span_at_the_end_has_one_caret() -> None:
    lines = LineIndex(b"abc")
    found = FileFindings("a", lines, [Diagnostic("TY001", "error", "m", 3, 3)])
    assert excerpt(found) == ["  |", "1 | abc", "  |    ^"]


def test_a_long_line_is_cut_around_the_span() -> None:
    text = "1, " * 300 + "bad" + ", 2" * 300
    rows = excerpt(one(text, "bad"), Style(width=40))
    assert len(rows[1]) == len("1 | ") + 40
    column = rows[2].index("^")
    assert rows[1][column : column + 3] == "bad"
    assert rows[2].count("^") == 3
    assert rows[1].startswith("1 | …")
    assert rows[1].endswith("…")


def test_related_places_and_fixes_follow() -> None:
    fix = Fix("Write good", True, [Edit(6, 9, "good")])
    found = one("first\nx bad", "bad", related=[Related("as here", 0, 5)], fix=fix)
    assert report("text", found).split("\n") == [
        "error[TY001]: It is bad.",
        " --> a.toy:2:3",
        "  |",
        "2 | x bad",
        "  |   ^^^",
        "1 | first",
        "  | ----- as here",
        "  = fix: Write good (--fix)",
        "",
        "1 file checked: 1 error. --fix repairs 1 of them.",
        "",
    ]


def test_a_place_already_shown_is_not_shown_again() -> None:
    related = [
        Related("one", 0, 3),
        Related("two", 0, 3),
        Related("three", 4, 5),
        Related("four", 4, 5),
    ]
    assert excerpt(one("bad x", "bad", related=related)) == [
        "  |",
        "1 | bad x",
        "  | ^^^",
        "  = note: one",
        "  = note: two",
        "1 | bad x",
        "  |     - three",
        "  = note: four",
    ]


def test_a_related_place_in_another_file_is_named() -> None:
    found = one("bad", "bad", related=[Related("there", 2, 3, "b.toy")])
    found.others["b.toy"] = LineIndex(b"a\nb")
    assert excerpt(found)[-1] == "  = b.toy:2:1: there"
    (diagnostic,) = json.loads(report("json", found))["diagnostics"]
    assert diagnostic["related"][0]["file"] == "b.toy"
    assert diagnostic["related"][0]["start"] == {"line": 2, "column": 1}


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ([], "0 files checked, nothing found."),
        (["good"], "1 file checked, nothing found."),
        (
            ["bad bad", "worse todo"],
            "2 files checked: 2 errors, 1 warning and 1 hint. --fix repairs 2 of them.",
        ),
        (["worse"], "1 file checked: 1 warning."),
    ],
)
def test_the_last_line_sums_up(files: list[str], sentence: str) -> None:
    assert report("text", *map(findings, files)).splitlines()[-1] == sentence


def test_colour_only_adds_escapes() -> None:
    found = findings("bad worse\n\ttodo")
    colored = report("text", found, style=Style(color=True))
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == report("text", found)


def test_concise_is_one_line_each() -> None:
    assert report("concise", findings("good\n bad worse")) == (
        "a.toy:2:2: error TY001 'bad' is bad. [*]\na.toy:2:6: warning TY002 'worse' is worse.\n"
    )


def test_json_counts_code_points() -> None:
    (diagnostic,) = json.loads(report("json", findings("# 😀\r\n😀 bad")))["diagnostics"]
    assert diagnostic == {
        "file": "a.toy",
        "code": "TY001",
        "severity": "error",
        "message": "'bad' is bad.",
        "start": {"line": 2, "column": 3},
        "end": {"line": 2, "column": 6},
        "related": [
            {
                "file": "a.toy",
                "message": "here",
                "start": {"line": 2, "column": 3},
                "end": {"line": 2, "column": 6},
            }
        ],
        "fix": {
            "title": "Write good",
            "safe": True,
            "edits": [
                {"start": {"line": 2, "column": 3}, "end": {"line": 2, "column": 6}, "text": "good"}
            ],
        },
    }


def test_github_escapes_what_its_commands_need() -> None:
    data = b"x\nbad"
    diagnostic = Diagnostic("TY001", "info", "50 %: a,\nb", 2, 5)
    found = FileFindings("a,b:c.toy", LineIndex(data), [diagnostic])
    assert report("github", found) == (
        "::notice title=netsharp TY001,file=a%2Cb%3Ac.toy,line=2,col=1,endLine=2,endColumn=4"
        "::TY001 50 %25: a,%0Ab\n"
    )


def test_gitlab_fingerprints_outlive_edits_above_and_distinguish_equals() -> None:
    def fingerprints(text: str) -> list[str]:
        issues = json.loads(report("gitlab", findings(text)))
        return [issue["fingerprint"] for issue in issues]

    before = fingerprints("bad bad\nworse")
    assert len(set(before)) == 3
    assert fingerprints("good\n\nbad bad\nworse") == before
    (issue,) = json.loads(report("gitlab", findings("x\nbad", "folder/a.toy")))
    assert issue["location"]["path"] == "folder/a.toy"
    assert issue["location"]["lines"] == {"begin": 2, "end": 2}
    assert issue["severity"] == "critical"


def test_junit_has_a_suite_per_file_and_a_failure_per_diagnostic() -> None:
    odd = FileFindings(
        '<&">.toy', LineIndex(b"x"), [Diagnostic("TY001", "error", "\x00 < \ufffe", 0, 1)]
    )
    root = ElementTree.fromstring(
        report("junit", findings("bad worse"), findings("good", "b.toy"), odd)
    )
    assert (root.get("tests"), root.get("failures")) == ("4", "3")
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["a.toy", "b.toy", '<&">.toy']
    assert [len(suite.findall("testcase/failure")) for suite in suites] == [2, 0, 1]
    assert suites[2].find("testcase/failure").get("message") == "\\x00 < \\ufffe"


def test_sarif_names_rules_places_and_fixes() -> None:
    found = findings("x\nworse bad", "dir name/ü.toy")
    log = json.loads(report("sarif", found, findings("good", "/abs/b.toy")))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["tool"]["driver"]["version"] == "1.2.3"
    assert run["columnKind"] == "unicodeCodePoints"
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TY001", "TY002"]
    assert rules[0]["shortDescription"] == {"text": "Title of TY001"}
    uris = [artifact["location"]["uri"] for artifact in run["artifacts"]]
    assert uris == ["dir%20name/%C3%BC.toy", "file:///abs/b.toy"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == uris[0]
    worse = run["results"][0]
    assert worse["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 2,
        "startColumn": 1,
        "endLine": 2,
        "endColumn": 6,
    }
    (change,) = worse["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "bad"}
    assert worse["relatedLocations"][0]["message"] == {"text": "here"}


def test_statistics_begin_with_the_most_frequent() -> None:
    files = [findings("bad todo"), findings("bad worse")]
    assert list(render_statistics(files, PLAIN)) == [
        "2  TY001  error    Title of TY001\n",
        "1  TY002  warning  Title of TY002\n",
        "1  TY003  hint     Title of TY003\n",
    ]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="no report is called 'yaml'"):
        report("yaml")


PIECES = st.sampled_from(
    [
        "bad",
        "worse",
        "todo",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "é",
        "数",
        "😀",
        "\u2028",
        "\x00",
        "<",
        "]",
    ]
)


@LAW
@given(st.lists(PIECES, max_size=15).map("".join), st.integers(1, 12))
def test_no_text_upsets_a_report(text: str, width: int) -> None:
    found = findings(text)
    for format_name in FORMATS:
        written = report(format_name, found, style=Style(color=True, width=width))
        if format_name in ("json", "sarif", "gitlab"):
            json.loads(written)
        elif format_name == "junit":
            ElementTree.fromstring(written)
        else:
            assert written.count("TY00") >= len(found.diagnostics)
