"""The proof at run time: what it forgives, and what it finds."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.formatting.safety import find_difference


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a=[x=1\ny=2]", b"a = [\n    x = 1\n    y = 2\n]\n"),
        (b"a=1;b=2", b"a = 1;\n\n\nb = 2"),
        (b"a=1 # c\r\nb=2", b"a = 1    # c\nb = 2"),
        (b"a=f(x,y)", b"a = f(\n    x,\n    y\n)"),
        (b"BrainScriptNetworkBuilder={a=1 b=2}", b"BrainScriptNetworkBuilder = {\na = 1\nb = 2\n}"),
    ],
)
def test_what_may_change(before: bytes, after: bytes) -> None:
    assert find_difference(before, after, "cntk") is None


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b"a=1\nb=2", b"a = 1 b = 2", "the end of a line would become 'b'"),
        (b"a=x y", b"a=x\ny", "'y' would become the end of a line"),
        (b"a=[x=1]", b"a={x=1}", "'[' would become '{'"),
        (b"a=(-1)", b"a=( -1)", "'(-' would become '('"),
        (b"a=f( _x)", b"a=f(_x)", "'(' would become '(_'"),
        (b"a=1#x", b"a=1 #x", "'1#x' would become '1'"),
        (b"a=1;#x", b"a=1;\n#x", "'#x' would become nothing"),
        (b"a=1 # x\nb=2", b"a=1 # y\nb=2", "'# x' would become '# y'"),
        (b'a="x  y"', b'a="x y"', "'\"x  y\"' would become '\"x y\"'"),
        (b"include=x", b"include = x", "'include=x' would become nothing"),
        (b" include=x", b"include=x", "nothing would become 'include=x'"),
        (
            b"BrainScriptNetworkBuilder=(a .5)",
            b"BrainScriptNetworkBuilder=(a. 5)",
            "'.5' would become '.'",
        ),
    ],
)
def test_what_may_not_change(before: bytes, after: bytes, words: str) -> None:
    difference = find_difference(before, after, "cntk")
    assert difference is not None
    assert difference.words == words


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"2.*x", b"2 .*x"), (b"1..2", b"1. .2"), (b"a//b\nc", b"a//b c"), (b"'a'", b"'a '")],
)
def test_what_may_not_change_in_brainscript(before: bytes, after: bytes) -> None:
    assert find_difference(before, after, "brainscript") is not None
