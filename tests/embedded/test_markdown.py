"""Fenced blocks: which are found, what they say, and that a change is written as it must be."""

from __future__ import annotations

import pytest

from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.embedded.regions import Region
from netsharp_lsp.text.edits import Edit, apply_edits

NET = "input X [3];\nhidden H [4] from X all;\noutput Y [1] from H all;\n"


def only(text: str, language: str = "markdown") -> Region:
    (region,) = find_regions(language, text.encode())
    return region


def in_lines(before: str, net: str, after: str, prefix: str) -> str:
    body = "".join(f"{prefix}{line}".rstrip() + "\n" for line in net.splitlines())
    return before + body + after


FORMS = {
    "plain": ("```netsharp\n", "", "```\n"),
    "tilde": ("text\n\n~~~~ Net#\n", "", "~~~~\n"),
    "attribute": ("```{.netsharp #digits}\n", "", "```\n"),
    "engine": ("```{netsharp digits, echo=FALSE}\n", "", "```\n"),
    "quoted": ("> ```nn\n", "> ", "> ```\n"),
    "item": ("1. item\n\n   ```netsharp\n", "   ", "   ```\n"),
    "deep item": ("- a\n\n  - b\n\n    ```netsharp\n", "    ", "    ```\n"),
    "opened by a marker": ("- ```netsharp\n", "  ", "  ```\n"),
    "quote in an item": ("- > ```netsharp\n", "  > ", "  > ```\n"),
    "longer fence": ("````netsharp\n", "", "````\n"),
    "unclosed": ("```netsharp\n", "", ""),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_block_says_its_lines_without_what_precedes_them(form: str, line_end: str) -> None:
    before, prefix, after = FORMS[form]
    net = NET.replace("hidden", "\nhidden")
    text = in_lines(before, net, after, prefix).replace("\n", line_end)
    region = only(text)
    assert region.text.decode() == net
    assert region.editable
    for inner in range(len(region.text) + 1):
        assert region.inner(region.outer(inner)) == inner


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_change_has_what_precedes_each_line(form: str, line_end: str) -> None:
    before, prefix, after = FORMS[form]
    text = in_lines(before, NET, after, prefix).replace("\n", line_end)
    region = only(text)
    cut = NET.index("hidden")
    edits = [Edit(0, 0, "// a\n\n"), Edit(cut, cut + 6, "hidden // b\n"), _append("// c\n")]
    made = region.outer_edits(edits)
    assert made is not None
    changed = "// a\n\n" + NET.replace("hidden", "hidden // b\n") + "// c\n"
    wanted = in_lines(before, changed, after, prefix).replace("\n", line_end)
    assert apply_edits(text.encode(), made).decode() == wanted


def _append(text: str) -> Edit:
    return Edit(len(NET), len(NET), text)


def test_what_would_end_the_block_is_refused() -> None:
    region = only(f"```netsharp\n{NET}```\n")
    assert region.outer_edits([Edit(0, 0, "```\n")]) is None
    assert region.outer_edits([Edit(0, 0, "`` `\n")]) is not None
    assert region.outer_edits([Edit(0, len(NET), "input X [3];")]) is None


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ("netsharp", None),
        ("{netsharp}", None),
        ("{netsharp digits}", "digits"),
        ("{netsharp, echo=FALSE}", None),
        ("{netsharp, label='a-b', echo=FALSE}", "a-b"),
        ("{.netsharp #digits .numberLines}", "digits"),
        ("Net# title", "title"),
    ],
)
def test_labels(info: str, name: str | None) -> None:
    assert only(f"```{info}\n{NET}```\n").name == name


def test_a_label_in_a_comment() -> None:
    assert only(f"```{{netsharp}}\n//| label: digits\n{NET}```\n").name == "digits"


@pytest.mark.parametrize(
    "text",
    [
        f"```text\n{NET}```\n",
        f"````text\n```netsharp\n{NET}```\n````\n",
        f"    ```netsharp\n{NET}    ```\n",
        f"``` netsharp ```\n{NET}",
        f"`netsharp`\n\n{NET}",
        "no fence at all",
        "",
    ],
)
def test_what_is_no_block_of_ours(text: str) -> None:
    assert find_regions("markdown", text.encode()) == []


def test_a_quoted_block_ends_with_the_quote() -> None:
    region = only("> ```netsharp\n> input X [3];\nnot quoted\n")
    assert region.text == b"input X [3];\n"
