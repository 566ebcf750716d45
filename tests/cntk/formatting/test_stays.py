"""What formatting leaves in its place: exemptions, columns, suppressions, number signs."""

from __future__ import annotations

import random

import pytest

from netsharp_lsp.cntk.formatting import format_text
from tests.cntk.collection import FILES, CntkFile

IGNORE = b"# netsharp: ignore[CK012]"


def formatted(text: bytes, language: str = "cntk") -> bytes:
    result = format_text(text, language)
    assert result.failure is None
    assert format_text(result.text, language).text == result.text
    return result.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Brackets keep their kind, and open with their content.
        (b"a=[x=1]", b"a = [ x = 1 ]\n"),
        (b"a={x=1;y=2\n}", b"a = {\n    x = 1; y = 2\n}\n"),
        (b"a=[x=1,y=2]z=3", b"a = [ x = 1, y = 2 ]z = 3\n"),
        (b"a [ ]\nb = {\n}", b"a []\nb = {\n}\n"),
        # A character that could be the list's own separator is not moved.
        (b"a=(;c:\\x;d:\\y)", b"a = (;c:\\x;d:\\y)\n"),
        (b"a={~1~2}\nb=[ ~1~2]", b"a = {~1~2}\nb = [ ~1~2]\n"),
        (b"y=f(_x,z)\nz=f( _x,z)", b"y = f(_x,z)\nz = f( _x, z)\n"),
        # Text, and lists in one line, are as they are written.
        (b"a = b   c\nd=( 1:2 ,3)", b"a = b   c\nd = ( 1:2 ,3)\n"),
        (b'a="x  =  1"\nb = "over\n  lines"', b'a = "x  =  1"\nb = "over\n  lines"\n'),
        (b"a = $b$$c$/d$ e$", b"a = $b$$c$/d$ e$\n"),
        # Text outside comments does not become a comment, and a comment stays one.
        (b"a=1#INF  # no comment", b"a = 1#INF  # no comment\n"),
        (b"a=[ _x=1\nb=2]", b"a = [ _x = 1\n    b = 2\n]\n"),
        (b"a=1;#x\nb=[\nc=1];#y", b"a = 1;#x\nb = [\n    c = 1\n];#y\n"),
        (b"a=1 \t# one", b"a = 1  # one\n"),
        # A line that includes a file begins in the first column, and no other does.
        (b"a=[\ninclude=b.cntk \n x=1]", b"a = [\ninclude=b.cntk \n    x = 1\n]\n"),
        (b" include=b.cntk", b"include = b.cntk\n"),
        (b"x=1\n include=b # fmt: skip", b"x = 1\n include=b # fmt: skip\n"),
        # A mark at the start of a line is dropped only there.
        (
            b"x=1\n\xef\xbb\xbfa=[\n\xef\xbb\xbfb=2]",
            b"x = 1\n\xef\xbb\xbfa = [\n\xef\xbb\xbfb = 2\n]\n",
        ),
    ],
)
def test_configurations(before: bytes, after: bytes) -> None:
    assert formatted(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x=2.*a;y=2. *a;z=2 .*a", b"x = 2.* a; y = 2. * a; z = 2 .* a\n"),
        (b"a[i:0..n - 1]=b[i-1];c=1:2:-3", b"a[i:0..n-1] = b[i-1]; c = 1:2:-3\n"),
        (b"f(x)=\n{\ny=x\n}.y", b"f (x) = {\n    y = x\n}.y\n"),
        # A continuation of the member above is not hidden: the checker reports it.
        (b"a = f\n(b)\nc = d\n-e", b"a = f\n(b)\nc = d\n- e\n"),
        (b"a = f\n (b)\nc = d\n -e", b"a = f\n    (b)\nc = d\n    - e\n"),
        (b"  r={ a = f\n  (b)\n}", b"r = {\n    a = f\n        (b)\n}\n"),
        (b"r={\n   a = f\n  [b]\n}", b"r = {\n    a = f\n    [b]\n}\n"),
        (b"a = 1b = 2", b"a = 1b = 2\n"),
        (b"x = '  a  '\ny = \"a\n b\"", b"x = '  a  '\ny = \"a\n b\"\n"),
        (b"a=1/* one */b=2 // two", b"a = 1 /* one */b = 2  // two\n"),
        (b"f(-x)+g( -x)", b"f(-x)+g( -x)\n"),
        (b"y = f(-x)+g( -x)", b"y = f (-x) + g ( -x)\n"),
    ],
)
def test_brainscript(before: bytes, after: bytes) -> None:
    assert formatted(before, "brainscript") == after


@pytest.mark.parametrize("language", ["cntk", "brainscript"])
def test_exempted_lines(language: str) -> None:
    text = (
        b"a=1\n# fmt: off\nb=[c=1\n ]\n# fmt: on\nd=1\ne=2 # fmt: skip\nf=[\n# fmt: off\ng=1\n]\n"
    )
    wanted = (
        b"a = 1\n# fmt: off\nb=[c=1\n ]\n# fmt: on\nd = 1\ne=2 # fmt: skip\n"
        b"f = [\n    # fmt: off\ng=1\n]\n"
    )
    assert formatted(text, language) == wanted


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a=1 %b\nb=2", b"a = 1  %b\nb = 2\n"),
        (b"%b\na=[x=1]\nb=2", b"%b\na = [ x = 1 ]\nb = 2\n"),
        (b"a=[ %b\nx=1\n]\nb=2", b"a = [  %b\n    x = 1\n]\nb = 2\n"),
        (b"a=[x=1 %b\ny=2\n]\nb=2", b"a=[x=1 %b\ny=2\n]\nb = 2\n"),
        (b"%b\na=[x=1\ny=2\n]\nb=2", b"%b\na=[x=1\ny=2\n]\nb = 2\n"),
    ],
)
def test_a_suppression_continues_acting_on_the_same(before: bytes, after: bytes) -> None:
    assert formatted(before % IGNORE) == after % IGNORE


def test_a_value_that_a_variable_puts_elsewhere_stays_on_its_line() -> None:
    block = b"{ " + b"; ".join(b"option%d = 1" % number for number in range(20)) + b" }"
    assert formatted(b"a = %b\n" % block).count(b"\n") == 22
    text = b"a = %b\nSGD = $A$\n" % block
    assert formatted(text) == text


def test_what_cannot_be_formatted_is_left_unchanged_and_named() -> None:
    text = b"a=1\nb = [ x=1\n}\n"
    result = format_text(text, "cntk")
    assert (result.text, result.broken, result.failure) == (b"a = 1\nb = [ x=1\n}\n", (4,), None)


def test_branches_within_a_branch_are_distinguished_from_those_around() -> None:
    text = b"""a = if b
then if c
then d
else e
else if f then g
else h
"""
    after = b"""a = if b
    then if c
        then d
        else e
    else if f then g
    else h
"""
    assert formatted(text, "brainscript") == after
    long = b"k =\n    if b\n    then if c then " + b"d" * 60 + b" else " + b"e" * 30 + b"\n"
    assert formatted(long + b"    else f\n", "brainscript").split(b"\n")[2:5] == [
        b"    then if c then " + b"d" * 60,
        b"        else " + b"e" * 30,
        b"    else f",
    ]


def test_aligned_comments_stay_aligned() -> None:
    text = b"a=1    # one\nbcd = 2# no comment\nbc=2   # two\n       # more\n\nd=3    # three\n"
    wanted = b"a = 1  # one\nbcd = 2# no comment\nbc = 2  # two\n        # more\n\nd = 3  # three\n"
    assert formatted(text) == wanted
    tabs = b"a=1\t\t# one\nlong=2\t# two\n"
    assert formatted(tabs) == b"a = 1     # one\nlong = 2  # two\n"


@pytest.mark.parametrize("file", [file for file in FILES if not file.broken], ids=lambda f: f.name)
def test_suppressions_anywhere_go_on_acting_on_the_same(file: CntkFile) -> None:
    chance = random.Random(file.name)
    lines = file.data.removeprefix(b"\xef\xbb\xbf").splitlines()
    free = [n for n, line in enumerate(lines) if line.strip() and not set(line) & set(b"\"'#")]
    for number in sorted(chance.sample(free, min(len(free), 3)), reverse=True):
        if chance.random() < 0.5:
            lines[number] += b" " + IGNORE
        else:
            lines.insert(number, IGNORE)
    text = b"\n".join(lines)
    result = format_text(text, file.id)
    assert result.failure is None
    assert acted_on(result.text) == acted_on(text)


def acted_on(text: bytes) -> list[bytes]:
    """The text on the line of each suppression, or below it, without blanks."""
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines):
        code, mark, _ = line.partition(IGNORE)
        if mark:
            alone = not code.strip()
            following = (one for one in lines[number + 1 :] if not one.strip().startswith(IGNORE))
            found.append(b"".join((next(following, b"") if alone else code).split()))
    return found
