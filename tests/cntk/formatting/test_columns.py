"""Columns that a person aligned: what keeps them, what ends them, and what they cost."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from netsharp_lsp.cntk.formatting import format_text
from netsharp_lsp.layout.options import FormatOptions
from tests.cli.command_line import netsharp
from tests.cntk.collection import FILES, CntkFile
from tests.costs import assert_in_proportion

LANGUAGES = ("cntk", "brainscript", "ndl", "mel")


def formatted(text: str, language: str = "cntk", **options: object) -> str:
    """The formatted text, which formatting again leaves as it is."""
    chosen = FormatOptions(**options)  # type: ignore[arg-type]
    result = format_text(text.encode(), language, chosen)
    assert result.failure is None
    assert format_text(result.text, language, chosen).text == result.text
    return result.text.decode()


@pytest.mark.parametrize("language", LANGUAGES)
def test_three_that_were_aligned_are_aligned_again(language: str) -> None:
    text = "a       =f(x)\nlong    =  g(x)\nlonger  = h(x)\n"
    wanted = "a      = f(x)\nlong   = g(x)\nlonger = h(x)\n"
    if language == "brainscript":
        wanted = re.sub(r"(\w)\(x\)", r"\1 (x)", wanted)
    assert formatted(text, language) == wanted
    plain = formatted(text, language, keeps_columns=False)
    assert plain == re.sub(" +=", " =", wanted)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Two do not form a column, and neither do three that are not aligned.
        ("a   = 1\nbcd = 2", "a = 1\nbcd = 2\n"),
        ("a = 1\nbcd   = 2\nef = 3", "a = 1\nbcd = 2\nef = 3\n"),
        ("a=1\nbcd=2\nef=3", "a = 1\nbcd = 2\nef = 3\n"),
        # An empty line, another column or a statement without a sign ends one.
        ("a   = 1\nbcd = 2\n\nef  = 3", "a = 1\nbcd = 2\n\nef = 3\n"),
        ("a   = 1\nbcd = 2\nef = 3\ng   = 4", "a = 1\nbcd = 2\nef = 3\ng = 4\n"),
        ("a   = 1\nbcd = 2\nE [ ]\nef  = 3", "a = 1\nbcd = 2\nE []\nef = 3\n"),
        ("a   = 1\nbcd = 2\ne=1; f=2\nef  = 3", "a = 1\nbcd = 2\ne = 1; f = 2\nef = 3\n"),
        # A comment does not, and neither does what a statement holds.
        ("a   = 1\n# one\nbcd = 2\nef  = 3", "a   = 1\n# one\nbcd = 2\nef  = 3\n"),
        (
            "a   = 1\nbcd = [\n\n x=1\n\n\n y  =2\n]\nef  = 3",
            "a   = 1\nbcd = [\n    x = 1\n\n    y = 2\n]\nef  = 3\n",
        ),
        # Each bracket has columns of its own.
        (
            "a=[\n x   = 1\n yyy = 2\n z   = 3\n]\nbb=[\n w   = 4\n]",
            "a = [\n    x   = 1\n    yyy = 2\n    z   = 3\n]\nbb = [\n    w = 4\n]\n",
        ),
        (
            "long = [\n x    = 1\n]\na    = 1\nbc   = 2",
            "long = [\n    x = 1\n]\na    = 1\nbc   = 2\n",
        ),
        # The positions after formatting decide, and the statements were below each other.
        (
            "a=[x   = 1\n   yyy = 2\n   z   = 3]",
            "a = [\n    x   = 1\n    yyy = 2\n    z   = 3\n]\n",
        ),
        # Tabulators of four and of eight columns.
        ("a\t\t= 1\nlonger\t= 2\nbc\t\t= 3", "a      = 1\nlonger = 2\nbc     = 3\n"),
        ("a\t\t= 1\nlongerer\t= 2\nbc\t\t= 3", "a        = 1\nlongerer = 2\nbc       = 3\n"),
        # Without blanks, too; signs of equations are none.
        ("abc=1\nd  =2\nef =3", "abc = 1\nd   = 2\nef  = 3\n"),
        # Comments go with the text before them.
        (
            "a     = 1   # one\nbcd   = 22  # two\nefghi = 3   # three",
            "a     = 1   # one\nbcd   = 22  # two\nefghi = 3   # three\n",
        ),
        # A line that a comment exempts belongs to no column.
        (
            "a   = 1\nbcd = 2\nx     =  3 # fmt: skip\nef  = 4\n",
            "a = 1\nbcd = 2\nx     =  3 # fmt: skip\nef = 4\n",
        ),
    ],
)
def test_what_keeps_a_column_and_what_ends_it(before: str, after: str) -> None:
    assert formatted(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Arguments have no blanks around their signs but in a column, and then all of it has.
        (
            "a=f (\n b   = 1,\n cde = 2,\n fg  = 3)",
            "a = f (\n    b   = 1,\n    cde = 2,\n    fg  = 3)\n",
        ),
        ("a=f (\n b  =1,\n cde=2,\n fg =3)", "a = f (\n    b   = 1,\n    cde = 2,\n    fg  = 3)\n"),
        (
            "a=f {x,\n b   = 1,\n # c\n cde = 2,\n fg  = 3}",
            "a = f {x,\n    b   = 1,\n    # c\n    cde = 2,\n    fg  = 3}\n",
        ),
        # Two are none, and neither are names of one length or some without blanks among others.
        ("a=f (\n b   = 1,\n cde = 2)", "a = f (\n    b=1,\n    cde=2)\n"),
        ("a=f (\n bc  = 1,\n de  = 2,\n fg  = 3)", "a = f (\n    bc=1,\n    de=2,\n    fg=3)\n"),
        ("a=f (\n b   = 1,\n cde =2,\n fg  = 3)", "a = f (\n    b=1,\n    cde=2,\n    fg=3)\n"),
        # An argument without a name ends one, and so does an empty line; what one holds does not.
        (
            "a=f (\n b   = 1,\n cde = 2,\n x,\n fg  = 3)",
            "a = f (\n    b=1,\n    cde=2,\n    x,\n    fg=3)\n",
        ),
        (
            "a=f (\n b   = 1,\n cde = 2,\n\n fg  = 3)",
            "a = f (\n    b=1,\n    cde=2,\n\n    fg=3)\n",
        ),
        (
            "a=f (\n b   = 1 +\n   x,\n cde = g (\n  x   = 1\n ),\n fg  = 3)",
            "a = f (\n    b   = 1 +\n    x,\n    cde = g (\n        x=1\n    ),\n    fg  = 3)\n",
        ),
        # Several in a line: where they begin, and their signs.
        (
            "a=f (\n b   = 1, x = 1,\n cde = 22, yy= 2,\n fg  = 3, z = 3)",
            "a = f (\n    b   = 1, x=1,\n    cde = 22, yy=2,\n    fg  = 3, z=3)\n",
        ),
        (
            "a=f (\n b = 1,  x  = 1,\n cd= 22, yy = 2,\n fg= 3,  z  = 3)",
            "a = f (\n    b=1,   x  = 1,\n    cd=22, yy = 2,\n    fg=3,  z  = 3)\n",
        ),
    ],
)
def test_arguments_keep_their_columns(before: str, after: str) -> None:
    assert formatted(before, "brainscript") == after


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Starts, signs, and both.
        ("a=1;   b=1\ncd=22; e=2\nf=3;   g=3", "a = 1;   b = 1\ncd = 22; e = 2\nf = 3;   g = 3\n"),
        (
            "a=1   ; b=1\ncd=22 ; e=2\nf=3   ; g=3",
            "a = 1;   b = 1\ncd = 22; e = 2\nf = 3;   g = 3\n",
        ),
        (
            "a=1; b   = 1\nc=2; def = 2\ng=3; h   = 3",
            "a = 1; b   = 1\nc = 2; def = 2\ng = 3; h   = 3\n",
        ),
        (
            "a  = 1;   b   = 1\ncd = 22;  def = 2\ng  = 3;   h   = 3",
            "a  = 1;  b   = 1\ncd = 22; def = 2\ng  = 3;  h   = 3\n",
        ),
        # A line without a second statement ends them; two lines do not form a column.
        (
            "a=1;  b=1\ncd=2; e=2\nx=1\nf=3;  g=3",
            "a = 1; b = 1\ncd = 2; e = 2\nx = 1\nf = 3; g = 3\n",
        ),
        # The first may have columns where the second has none.
        ("a   = 1;  b=1\ncd  = 2\nefg = 3;  h=3", "a   = 1; b = 1\ncd  = 2\nefg = 3; h = 3\n"),
    ],
)
def test_second_statements_keep_their_columns(language: str, before: str, after: str) -> None:
    assert formatted(before, language) == after


@pytest.mark.parametrize("name", ["f", "ff", "fff"])
def test_names_of_any_length_below_a_column_do_not_join_it(name: str) -> None:
    column = "a = f (\n    b  = 1,\n    cd = 2,\n    e  = 3,\n"
    rest = "".join(f"    {name}{'x' * number}={number},\n" for number in range(1, 9))
    text = f"{column}{rest}    z=1)\n"
    assert formatted(text, "brainscript") == text


def test_functions_are_aligned_by_their_formatted_heads() -> None:
    text = "f(x)       = x\napply{n,m} = n\ny          = f(1)==2\n"
    wanted = "f (x)        = x\napply {n, m} = n\ny            = f (1) == 2\n"
    assert formatted(text, "brainscript") == wanted


def test_a_value_that_is_too_long_keeps_its_name_in_the_column() -> None:
    call = "Convolution (" + ", ".join(f"argument{n}=1" for n in range(9)) + ")"
    lines = formatted(f"a    = 1\nlong = {call}\nbc   = 2\n", "brainscript").split("\n")
    assert lines[:2] == ["a    = 1", "long = Convolution ("]
    assert lines[-2] == "bc   = 2"


def test_what_a_column_would_put_past_the_width_leaves_it() -> None:
    fits = "x = " + "y" * 93
    rows = ["aaaaaaaa = 1", "bb       = 2", "cc       = 3"]
    text = "\n".join((*rows, fits.replace(" =", "        ="), *rows)) + "\n"
    assert formatted(text) == "\n".join((*rows, fits, *rows)) + "\n"
    first = "\n".join((*rows[:2], fits.replace(" =", "        ="), *rows[:2])) + "\n"
    assert "  =" not in formatted(first)


def test_windows_1252_and_wide_names_count_as_columns() -> None:
    assert formatted("é  = 1\nbcd= 2\nef = 3\n") == "é   = 1\nbcd = 2\nef  = 3\n"


@pytest.mark.parametrize("number", range(5))
def test_one_line_comes_to_stand_as_in_the_whole(number: int) -> None:
    text = "x = 1\n\na  = 1    # one\nlonger=2  # two\n# alone\nbc  = [\n y=1 ]\nd  = 4\n"
    aligned = text.replace("bc ", "bc").replace("longer=", "longer  =").replace("=", "  =")
    for before in (text, aligned):
        whole = formatted(before).split("\n")
        part = format_text(
            before.encode(), "cntk", FormatOptions(ranges=[(3 + number, 3 + number)])
        )
        new = set(part.text.decode().split("\n")) - set(before.split("\n"))
        assert new <= set(whole), new


@pytest.mark.parametrize("file", [file for file in FILES if not file.broken], ids=lambda f: f.name)
def test_columns_anywhere_settle_at_once_and_agree_with_ranges(file: CntkFile) -> None:
    chance = random.Random(file.name)
    text = aligned_anywhere(file.data.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b""), chance)
    whole = format_text(text, file.id)
    assert whole.failure is None
    assert format_text(whole.text, file.id).text == whole.text
    number = chance.randrange(text.count(b"\n") + 1) + 1
    if not whole.broken:
        part = format_text(text, file.id, FormatOptions(ranges=[(number, number)]))
        assert set(part.text.split(b"\n")) <= {*text.split(b"\n"), *whole.text.split(b"\n")}
        again = format_text(whole.text, file.id, FormatOptions(ranges=[(number, number)]))
        assert again.text == whole.text


@pytest.mark.parametrize("file", [file for file in FILES if not file.broken], ids=lambda f: f.name)
def test_what_was_aligned_over_three_lines_is_so_afterwards(file: CntkFile) -> None:
    chance = random.Random(file.name)
    plain = file.data.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"")
    for text in (plain, aligned_anywhere(plain, chance)):
        after = format_text(text, file.id).text.split(b"\n")
        words = [_BLANKS.sub(b"", line) for line in after]
        for run in aligned_runs(text.split(b"\n")):
            wanted = [_BLANKS.sub(b"", line) for line in run]
            starts = (n for n in range(len(words)) if words[n : n + len(run)] == wanted)
            for start in starts:
                signs = [_SIGN.match(line) for line in after[start : start + len(run)]]
                ends = {found.end() for found in signs if found}
                assert len(ends) == 1 or exceeds(after[start : start + len(run)]), run


def aligned_runs(lines: list[bytes]) -> Iterator[list[bytes]]:
    """Three lines or more of one indent whose `=` stand below each other by more than chance."""
    run: list[re.Match[bytes]] = []
    for line in (*lines, b""):
        found = None if b"\t" in line else _SIGN.match(line)
        if run and not (found and _column(found) == _column(run[0])):
            names = [len(one[1]) for one in run]
            if len(run) > 2 and len(set(names)) > 1 and min(names) + 1 < run[0].end() - 1:
                yield [one.string for one in run]
            run = []
        if found:
            run.append(found)


def _column(found: re.Match[bytes]) -> tuple[int, int]:
    return found.end(), len(found[1]) - len(found[1].lstrip())


def exceeds(lines: list[bytes]) -> bool:
    """Whether a line of some would be too long, were the signs of all aligned."""
    signs = [_SIGN.match(line) for line in lines]
    column = max(len(found[1]) for found in signs if found)
    return any(column + len(found.string) - len(found[1]) + 2 > 100 for found in signs if found)


_BLANKS = re.compile(rb"\s+")
_SIGN = re.compile(rb"^(\s*[\w. ]+?(?:\([\w, =]*\))?)[ \t]*=(?!=)")


def aligned_anywhere(text: bytes, chance: random.Random) -> bytes:
    """A text with columns of a few lines each, some with tabulators."""
    lines = text.split(b"\n")
    column, left = 0, 0
    for number, line in enumerate(lines):
        if not left:
            column, left = chance.choice((0, 12, 20, 30, 60, 95)), chance.choice((1, 2, 3, 4, 9))
        left -= 1
        found = _SIGN.match(line)
        if found and column:
            width = len(found[1].expandtabs(4))
            blanks = b" " * max(0, column - width)
            if column == 20:
                blanks = b"\t" * max(1, (column - width + 3) // 4)
            lines[number] = found[1] + blanks + b"=" + line[found.end() :]
    return b"\n".join(lines)


def _one_column(count: int) -> bytes:
    return b"".join(b"%-9s = %d  # c\n" % (b"n" * (n % 9 + 1), n) for n in range(count))


def _columns_in_turn(count: int) -> bytes:
    return b"".join(b"a%s = %d\n" % (b" " * (n // 3 % 2 * 4 + n % 3), n) for n in range(count))


def _brackets_between(count: int) -> bytes:
    rows = (b"a   = [\n b  = 1\n ccc= 2\n d  = 3\n]\n" for _ in range(count // 5))
    return b"".join(rows)


def _one_that_sticks_out(count: int) -> bytes:
    rows = (b"%-9s = %s\n" % (b"n" * (n % 9 + 1), b"1" * (n % 2 * 88)) for n in range(count))
    return b"".join(rows)


def _arguments_in_rows(count: int) -> bytes:
    rows = (b" %-9s = %d, b  = %d,\n" % (b"n" * (n % 9 + 1), n, n) for n in range(count))
    return b"a = f(\n%bx)\n" % b"".join(rows)


@pytest.mark.parametrize(
    "text",
    [
        *(_one_column, _columns_in_turn, _brackets_between, _one_that_sticks_out),
        _arguments_in_rows,
    ],
)
@pytest.mark.parametrize("ranges", [(), [(5, 5)]], ids=["whole", "range"])
@pytest.mark.costly
def test_many_lines_cost_in_proportion(
    text: Callable[[int], bytes], ranges: list[tuple[int, int]]
) -> None:
    options = FormatOptions(self_check=False, ranges=ranges)

    assert_in_proportion(
        lambda count: partial(format_text, text(count), "cntk", options), 2000, 8000
    )


def test_a_setting_takes_columns_away(tmp_path: Path) -> None:
    text = b"a   = 1  # one\nbcd = 22  # two\nef  = 3\n"
    (tmp_path / "a.cntk").write_bytes(text)
    assert netsharp("fmt", "--check", cwd=tmp_path).code == 0
    (tmp_path / "netsharp.toml").write_text("[cntk]\nkeep-columns = false\n")
    assert netsharp("fmt", cwd=tmp_path).code == 0
    assert (tmp_path / "a.cntk").read_bytes() == b"a = 1  # one\nbcd = 22  # two\nef = 3\n"
    (tmp_path / "netsharp.toml").write_text("[cntk]\nkeep-columns = 1\n")
    wrong = netsharp("fmt", cwd=tmp_path)
    assert (wrong.code, "needs true or false for keep-columns" in wrong.err) == (2, True)
