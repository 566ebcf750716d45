"""Merge conflicts in every language: reported once, and around them what holds for both sides."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.text.conflicts import conflicts_in, one_side
from netsharp_lsp.text.edits import Edit, apply_edits, difference
from netsharp_lsp.text.lines import LineIndex
from tests.cli.command_line import netsharp

#: The text before a conflict, its two sides, and the text after it.
TEXTS = {
    "netsharp": (
        "input I [3];\n",
        "hidden H [10] from I all;\n",
        "hidden H [20] from I all;\nhidden K [5] from H all;\n",
        "output O [1] sigmoid from H all;\n",
    ),
    "cntk": ('command = T\nT = {\naction = "train"\n', "a = 2\n", "a = 3\nb = {\n", "}\n"),
    "brainscript": ("a = 1\n", "x = 2\n", "x = 3 +\n", "b = a + x\n"),
    "ndl": (
        'F = InputValue(3, tag="feature")\n',
        "W = Parameter(2, 3)\n",
        "W = Parameter(4, 3)\n",
        'Z = Times(W, F, tag="output")\n',
    ),
    "mel": (
        "m = LoadModel(x)\n",
        "RemoveNode(m.a)\n",
        "RemoveNode(m.b)\nRemoveNode(m.c)\n",
        "SaveModel(m, y)\n",
    ),
}


def code_of(language: str) -> str:
    return "NS131" if language == "netsharp" else "CK123"


def reported(language: str, text: str) -> list[tuple[str, str]]:
    data = text.encode()
    found = language_by_id(language).check(data, Context()).diagnostics
    return [(one.code, data[one.start : one.end].decode()) for one in found]


def marked(language: str, base: str = "", end: str = "\n") -> str:
    before, ours, theirs, after = TEXTS[language]
    conflict = f"<<<<<<< HEAD\n{ours}{base}=======\n{theirs}>>>>>>> topic\n"
    return (before + conflict + after).replace("\n", end)


@pytest.mark.parametrize("base", ["", "||||||| 1234567\nhidden = [\n", "|||||||\n"])
@pytest.mark.parametrize(
    ("language", "end"),
    [("netsharp", "\r"), *((language, end) for language in TEXTS for end in ("\n", "\r\n"))],
)
def test_a_conflict_is_one_error(language: str, base: str, end: str) -> None:
    before, ours, _, after = TEXTS[language]
    found = reported(language, marked(language, base, end))
    assert (code_of(language), "<<<<<<< HEAD") in found
    around = reported(language, (before + after).replace("\n", end))
    around += reported(language, (before + ours + after).replace("\n", end))
    assert [one for one in found if one[0] != code_of(language)] == [
        one for one in found if one in around and one[0] != code_of(language)
    ]


@pytest.mark.parametrize("language", TEXTS)
def test_many_conflicts_are_as_many_errors(language: str) -> None:
    one = "<<<<<<< a\n\n=======\n\n>>>>>>> b\n"
    before, ours, _, after = TEXTS[language]
    found = reported(language, before + one * 50 + ours + one * 50 + after)
    assert sum(code == code_of(language) for code, _ in found) == 100


@pytest.mark.parametrize("language", TEXTS)
def test_what_holds_for_both_sides_is_reported(language: str) -> None:
    # A fault that has nothing to do with the conflict.
    faults = {
        "netsharp": "hidden V [3 from I all;\n",
        "cntk": "c = $unknownVariable$\n",
        "brainscript": "u = 1 +\n",
        "ndl": "U = NoSuchFunction(F)\n",
        "mel": "NoSuchFunction(m.a)\n",
    }
    before, ours, _, after = TEXTS[language]
    alone = reported(language, before + ours + after)
    with_fault = reported(language, before + ours + after + faults[language])
    new = [one for one in with_fault if one not in alone]
    assert new
    assert set(new) <= set(reported(language, marked(language) + faults[language]))


@pytest.mark.parametrize("language", TEXTS)
def test_fmt_moves_no_mark_and_explains_why(language: str) -> None:
    data = marked(language).encode()
    formatted = language_by_id(language).format(data, FormatOptions())
    assert formatted.text == data
    assert formatted.broken == (data.index(b"<<<<<<<"),)


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("mark", ["<<<<<<< a", "<<<<<<<", ">>>>>>> b", "=======\n>>>>>>> b"])
def test_a_mark_that_was_left_is_an_error(language: str, mark: str) -> None:
    before, ours, _, after = TEXTS[language]
    found = reported(language, f"{before}{mark}\n{ours}{after}")
    at_mark = (code_of(language), mark.split("\n")[0])
    assert found.count(at_mark) == 1
    sound = reported(language, before + ours + after)
    assert sorted(found) == sorted([at_mark, *sound])


@pytest.mark.parametrize(
    "text",
    [
        "=======\n",
        "|||||||\n",
        " <<<<<<< x\n=======\n",
        "<<<<<<<x\n",
        "<<<<<<<< x\n",
        "a <<<<<<< x\n",
        ">>>>>>>>\n",
    ],
)
def test_no_conflict(text: str) -> None:
    assert conflicts_in(text.encode()) == ()


def test_a_heading_between_the_marks_belongs_to_a_side() -> None:
    text = b"a\n<<<<<<< x\n=======\nb\n=======\nc\n>>>>>>> y\nd\n"
    (one,) = conflicts_in(text)
    assert one.is_whole
    assert one_side(text, [one], ours=True).split() == [b"a", b"d"]
    assert one_side(text, [one], ours=False).split() == [b"a", b"b", b"=======", b"c", b"d"]


def test_the_lines_are_reported() -> None:
    (one,) = conflicts_in(b"a\n<<<<<<< x\nb\n=======\nc\nd\n>>>>>>> y\n")
    assert "'=======' is 2 lines below, '>>>>>>>' is 5 lines below" in one.message


def test_no_suppression_is_idle_for_what_a_conflict_hides(tmp_path: Path) -> None:
    text = marked("netsharp") + "hidden V [3] from I all; // netsharp: ignore[NS033, NS058]\n"
    found = netsharp("check", "--format", "json", "-", cwd=tmp_path, stdin=text.encode())
    codes = [one["code"] for one in json.loads(found.out)["diagnostics"]]
    assert codes == ["NS131"]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.py", 'net = """\n', '"""\n'),
        ("a.R", 'net <- "\n', '"\n'),
        ("a.md", "# A\n\n```netsharp\n", "```\n"),
    ],
)
def test_a_conflict_inside_a_specification_of_a_host(
    name: str, before: str, after: str, tmp_path: Path
) -> None:
    text = before + marked("netsharp") + after
    (tmp_path / name).write_text(text)
    found = netsharp("check", "--format", "json", name, cwd=tmp_path)
    (one,) = json.loads(found.out)["diagnostics"]
    assert (one["code"], one["start"]["line"]) == (
        "NS131",
        LineIndex(text.encode()).line_at(text.index("<<<<<<<")) + 1,
    )


@pytest.mark.costly
def test_an_edited_text_with_conflicts_is_checked_as_a_fresh_one(seed: int) -> None:
    print("seed", seed)
    chance = random.Random(seed)
    language = language_by_id("netsharp")
    text = (marked("netsharp") * 3).encode()
    snapshot = language.open(text, Context())
    pieces = ["<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "\n", "x", "hidden H [3] from I all;\n"]
    for _ in range(120):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([0, 0, 1, 30]))
        edit = Edit(start, end, chance.choice(pieces))
        after = apply_edits(text, [edit])
        snapshot = snapshot.edited(after, [difference(text, after)])
        text = after
        if chance.random() < 0.7:
            fresh = language.check(text, Context())
            assert snapshot.check().diagnostics == fresh.diagnostics, text


@pytest.mark.parametrize("sign", ["<", ">"])
def test_a_mark_may_be_typed_letter_by_letter(sign: str) -> None:
    language = language_by_id("netsharp")
    text = "\n".join(TEXTS["netsharp"]).encode()
    snapshot = language.open(text, Context())
    line = text.index(b"\n\n") + 1
    there = [Edit(line + i, line + i, sign) for i in (0, 1, 0, 2, 1, 5, 6, 7)]
    back = [Edit(line + i, line + i + 1, "") for i in (7, 0, 5, 0, 0, 2, 0, 0)]
    reported = []
    for edit in (*there, *back, *there, *back):
        text = apply_edits(text, [edit])
        snapshot = snapshot.edited(text, [edit])
        found = snapshot.check().diagnostics
        assert found == language.check(text, Context()).diagnostics, text
        reported.append("NS131" in [one.code for one in found])
    assert [i for i, found in enumerate(reported) if found] == [6, 8, 22, 24]
