"""Any text in any literal: what is read is what the host's evaluation says, also after edits."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.embedded.regions import Region
from netsharp_lsp.text.edits import Edit, apply_edits
from tests.embedded.hosts import read_r

TEXTS = st.text(alphabet="ab;[]{}()'\"\\\n\t x0n#%-`é😀", max_size=24)
EXAMPLES = settings(max_examples=120, deadline=None, derandomize=True)
BETWEEN = (" ", "\n  ", " # why\n")
QUOTES = ("'", '"', "'''", '"""')


def python_literal(text: str, quotes: str, prefix: str, draw: st.DrawFn) -> str:
    """A literal that may say the text: some characters by escapes that are not needed."""
    if "r" in prefix:
        return f"{prefix}{quotes}{text}{quotes}"
    written = ""
    for character in text:
        if character == "\\" or character == quotes[0]:
            written += f"\\{character}"
        elif character == "\n":
            written += draw(st.sampled_from(["\\n", "\n" if len(quotes) == 3 else "\\x0a"]))
        elif "f" in prefix and character in "{}":
            written += character * 2
        else:
            forms = [character, character, f"\\U{ord(character):08x}"]
            forms += [f"\\{ord(character):03o}"] if ord(character) < 256 else []
            written += draw(st.sampled_from(forms))
        written += draw(st.sampled_from(["", "", "", "", "\\\n"]))
    return f"{prefix}{quotes}{written}{quotes}"


@st.composite
def python_hosts(draw: st.DrawFn) -> str:
    prefix = draw(st.sampled_from(["", "r", "R", "u", "f", "rf", "F"]))
    literal = python_literal(draw(TEXTS), draw(st.sampled_from(QUOTES)), prefix, draw)
    return f"x = 1\n# language=Net#\nname = {literal}  # end\n"


def python_value(host: str) -> str | None:
    """What the variable of a host is, None if it is not Python or the value is not constant."""
    try:
        statements = ast.parse(host).body
    except (SyntaxError, ValueError):
        return None
    value = statements[1].value if len(statements) == 2 else None  # type: ignore[attr-defined]
    if isinstance(value, ast.JoinedStr):
        if not all(isinstance(part, ast.Constant) for part in value.values):
            return None
        return "".join(part.value for part in value.values)  # type: ignore[attr-defined]
    return value.value if isinstance(value, ast.Constant) else None


def only(language: str, host: str) -> Region:
    (region,) = find_regions(language, host.encode())
    return region


@EXAMPLES
@given(python_hosts())
def test_python_says_what_is_read(host: str) -> None:
    value = python_value(host)
    assume(value is not None)
    region = only("python", host)
    assert region.text.decode() == value
    assert_offsets(region, host.encode())


@EXAMPLES
@given(python_hosts(), st.data())
def test_an_edited_python_host_says_the_edited_text(host: str, data: st.DataObject) -> None:
    assume(python_value(host) is not None)
    region = only("python", host)
    edits = draw_edits(region.text, data)
    made = region.outer_edits(edits)
    if made is not None:
        after = apply_edits(host.encode(), made).decode()
        assert python_value(after) == apply_edits(region.text, edits).decode()
        assert len(ast.parse(after).body) == 2


@st.composite
def several_literals(draw: st.DrawFn) -> tuple[list[str], str]:
    texts = draw(st.lists(TEXTS, min_size=2, max_size=3))
    literals = [
        python_literal(
            text, draw(st.sampled_from(QUOTES)), draw(st.sampled_from(["", "r", "f"])), draw
        )
        for text in texts
    ]
    return (
        texts,
        f"x = 1\n# language=Net#\nname = ({draw(st.sampled_from(BETWEEN)).join(literals)})\n",
    )


@EXAMPLES
@given(several_literals(), st.data())
def test_what_lies_in_one_of_several_literals_can_be_changed(
    several: tuple[list[str], str], data: st.DataObject
) -> None:
    texts, host = several
    assume(python_value(host) == "".join(texts))
    region = only("python", host)
    assert region.text.decode() == "".join(texts)
    assert not region.editable
    edits = draw_edits(region.text, data)
    made = region.outer_edits(edits)
    if made is not None:
        after = apply_edits(host.encode(), made).decode()
        assert python_value(after) == apply_edits(region.text, edits).decode()
        assert len(ast.parse(after).body) == 2


@pytest.mark.parametrize(
    ("language", "host", "old", "new", "after"),
    [
        ("python", "n = ('input A [3];\\n' + \n  \"hidden B\")", "B", 'C"', 'hidden C\\""'),
        ("python", "n = 'input A [3];\\n' 'hidden B'", ";", ";\n", "[3];\\n\\n'"),
        ("r", "n <- paste0('input A [3];', 'hidden B')", "B", "D'", "'hidden D\\''"),
        ("r", "n <- paste('input A [3];', 'hidden B')", "A", "AA", "'input AA [3];'"),
        ("python", "n = 'input A [3];\\n' 'hidden B'", "A [3];\nhidden", "C", None),
        ("r", "n <- paste('input A [3];', 'hidden B')", "; h", "C", None),
    ],
)
def test_a_change_of_several_literals(
    language: str, host: str, old: str, new: str, after: str | None
) -> None:
    region = only(language, f"# language=Net#\n{host}\n")
    start = region.text.decode().index(old)
    made = region.outer_edits([Edit(start, start + len(old), new)])
    if after is None:
        assert made is None
    else:
        assert made is not None
        assert after in apply_edits(f"# language=Net#\n{host}\n".encode(), made).decode()


def r_literal(text: str, draw: st.DrawFn) -> str:
    form = draw(st.sampled_from(["'", '"', "raw"]))
    if form == "raw":
        dashes = draw(st.sampled_from(["", "-", "--"]))
        opening, closing = draw(st.sampled_from(["()", "[]", "{}"]))
        return f'r"{dashes}{opening}{text}{closing}{dashes}"'
    written = ""
    for character in text:
        forms = [character, character, f"\\u{{{ord(character):x}}}"]
        if ord(character) > 0xFFFF:
            forms[2] = f"\\U{{{ord(character):x}}}"
        if character == "\n":
            forms.append("\\n")
        if character in f"\\{form}":
            forms = [f"\\{character}"]
        written += draw(st.sampled_from(forms))
    return f"{form}{written}{form}"


@st.composite
def r_hosts(draw: st.DrawFn) -> tuple[str, str]:
    text = draw(TEXTS)
    return text, f"x <- 1\n# language=Net#\nname <- {r_literal(text, draw)} # end\n"


@EXAMPLES
@given(r_hosts())
def test_r_says_what_is_read(pair: tuple[str, str]) -> None:
    text, host = pair
    assume(read_r_value(host) == text)
    region = only("r", host)
    assert region.text.decode() == text
    assert_offsets(region, host.encode())


@EXAMPLES
@given(r_hosts(), st.data())
def test_an_edited_r_host_says_the_edited_text(pair: tuple[str, str], data: st.DataObject) -> None:
    text, host = pair
    assume(read_r_value(host) == text)
    region = only("r", host)
    edits = draw_edits(region.text, data)
    made = region.outer_edits(edits)
    if made is not None:
        after = apply_edits(host.encode(), made).decode()
        assert read_r_value(after) == apply_edits(region.text, edits).decode()


def read_r_value(host: str) -> str | None:
    """What the one string of a host says, None where there is not just one."""
    try:
        reported = read_r(host.encode())
    except (IndexError, ValueError):
        return None
    whole = reported.rest == "x <- 1\n# language=Net#\nname <- <string> # end\n"
    return reported.strings[0] if whole and len(reported.strings) == 1 else None


@EXAMPLES
@given(TEXTS, st.booleans(), st.sampled_from([None, 1, 2]), st.data())
def test_notebooks_hold_what_cells_hold(
    text: str, ascii_only: bool, indent: int | None, data: st.DataObject
) -> None:
    lines = [f"{line}\n" for line in text.split("\n")]
    whole = "%%netsharp\n" + text
    source: object = whole
    if data.draw(st.booleans()):
        source = ["%%netsharp\n", *lines[:-1], lines[-1][:-1]]
    cell = {"cell_type": "code", "source": source, "outputs": ["input X [3];"]}
    notebook = {"cells": [{"cell_type": "raw", "source": []}, cell], "metadata": {}}
    host = json.dumps(notebook, ensure_ascii=ascii_only, indent=indent)
    region = only("ipynb", host)
    assert region.text.decode() == text
    assert_offsets(region, host.encode())
    edits = draw_edits(region.text, data)
    made = region.outer_edits(edits)
    assert made is not None
    after = json.loads(apply_edits(host.encode(), made))
    wanted = "%%netsharp\n" + apply_edits(region.text, edits).decode()
    assert "".join(after["cells"][1].pop("source")) == wanted
    notebook["cells"][1].pop("source")  # type: ignore[attr-defined]
    assert after == notebook


FENCED = st.text(alphabet="ab;{}>-` \t\né", max_size=30)


@EXAMPLES
@given(FENCED, st.sampled_from(["", "> ", "- > ", "   ", "> - "]), st.data())
def test_an_edited_block_says_the_edited_text(text: str, prefix: str, data: st.DataObject) -> None:
    text = text.rstrip("\n") + "\n"
    following = prefix.replace("-", " ")
    lines = [following + line for line in text.split("\n")[:-1]]
    host = "\n".join([f"{prefix}```netsharp", *lines, f"{following}```", "", "after", ""])
    regions = find_regions("markdown", host.encode())
    assume(len(regions) == 1 and regions[0].text.decode() == text)
    region = regions[0]
    assert_offsets(region, host.encode())
    edits = draw_edits(region.text, data)
    made = region.outer_edits(edits)
    if made is not None:
        after = apply_edits(host.encode(), made)
        (again,) = find_regions("markdown", after)
        assert again.text == apply_edits(region.text, edits)
        assert after[: region.start] == host.encode()[: region.start]
        assert after.endswith(f"{following}```\n\nafter\n".encode())


def assert_offsets(region: Region, host: bytes) -> None:
    """Offsets grow together, and characters that stand for themselves stand where they say."""
    last = region.start
    for inner in range(len(region.text) + 1):
        outer = region.outer(inner)
        assert last <= outer <= region.end
        last = outer
        back = region.inner(outer)
        assert back is not None
        assert back <= inner
        assert region.outer(back) == outer
    at = 0
    for character in region.text.decode():
        start, end = region.outer_span(at, at + len(character.encode()))
        written = host[start:end].decode()
        assert start < end
        assert written == character or written[0] in "\\{}\n\r" or written[0] == character
        at += len(character.encode())


def draw_edits(text: bytes, data: st.DataObject) -> list[Edit]:
    """One or two edits at boundaries of characters."""
    characters = text.decode()
    offsets = [len(characters[:n].encode()) for n in range(len(characters) + 1)]
    places = st.lists(st.sampled_from(offsets), min_size=2, max_size=4, unique=True)
    drawn = sorted(data.draw(places)) if len(offsets) > 1 else [0, 0]
    pairs = [(drawn[0], drawn[1])]
    if len(drawn) == 4:
        pairs.append((drawn[2], drawn[3]))
    return [Edit(start, end, data.draw(TEXTS)) for start, end in pairs]


@pytest.mark.parametrize(
    "literal",
    ['b"input X [3];"', 'f"input X [{n}];"', '"\\ud800"', '"\\x4"', '"open', '"""open', "r'\\'"],
)
def test_literals_that_are_no_text(literal: str) -> None:
    assert find_regions("python", f"# language=Net#\nname = {literal}\n".encode()) == []


@pytest.mark.parametrize("literal", ['"\\q"', '"\\xe9"', '"\\x00"', '"\\u{110000}"', '"open'])
def test_r_literals_that_are_no_text(literal: str) -> None:
    assert find_regions("r", f"# language=Net#\nname <- {literal}\n".encode()) == []
