"""The editors' queries: each loads, uses only what every editor knows, and marks the right text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tree_sitter import Language, Parser, Query, QueryCursor

from netsharp_grammar._netsharp import language

NETSHARP = Language(language())
QUERIES = Path(__file__).parents[2] / "grammar" / "netsharp" / "queries"
NAMES = ("folds", "highlights", "indents", "injections", "locals", "tags", "textobjects")
KNOWN = {"eq?", "match?", "any-of?", "set!"}
SAMPLE = b"""// a network
const N = 4;
input Image [N, 8];
hidden Conv [3, 6] rlinear from Image convolve {
  InputShape = [N, 8];
  KernelShape = [2, 3];
}
hidden Some auto { from Conv where (s, d) => abs(s[0]) == d[0] && true; }
output Out [2] { from Some all; }
share { Image => Conv, 1 => Some }
"""


def captures(name: str) -> dict[str, list[str]]:
    query = Query(NETSHARP, (QUERIES / f"{name}.scm").read_text(encoding="utf-8"))
    found = QueryCursor(query).captures(Parser(NETSHARP).parse(SAMPLE).root_node)
    return {key: [str(node.text, "utf-8") for node in nodes] for key, nodes in found.items()}


def test_all_seven_queries_are_there() -> None:
    assert tuple(sorted(path.stem for path in QUERIES.glob("*.scm"))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_only_predicates_that_every_editor_knows(name: str) -> None:
    text = re.sub(r";.*", "", (QUERIES / f"{name}.scm").read_text(encoding="utf-8"))
    assert set(re.findall(r"#([\w-]+[?!])", text)) <= KNOWN


def test_highlights() -> None:
    found = captures("highlights")
    assert found["comment"] == ["// a network"]
    assert set(found["type"]) == {"Image", "Conv", "Some", "Out"}
    assert found["constant"] == ["N"]
    assert found["function.builtin"] == ["rlinear", "abs"]
    assert found["property"] == ["InputShape", "KernelShape"]
    assert found["variable.parameter"] == ["s", "d"]
    assert found["boolean"] == ["true"]
    assert {"const", "input", "from", "convolve", "where", "all", "share"} <= set(found["keyword"])


def test_no_text_is_highlighted_twice() -> None:
    query = Query(NETSHARP, (QUERIES / "highlights.scm").read_text(encoding="utf-8"))
    spans = [
        (node.start_byte, node.end_byte)
        for nodes in QueryCursor(query).captures(Parser(NETSHARP).parse(SAMPLE).root_node).values()
        for node in nodes
    ]
    assert len(spans) == len(set(spans))


def test_every_word_is_highlighted() -> None:
    query = Query(NETSHARP, (QUERIES / "highlights.scm").read_text(encoding="utf-8"))
    found = QueryCursor(query).captures(Parser(NETSHARP).parse(SAMPLE).root_node)
    covered = {at for nodes in found.values() for n in nodes for at in range(*n.byte_range)}
    bare = [at for at, byte in enumerate(SAMPLE) if at not in covered and not chr(byte).isspace()]
    assert {chr(SAMPLE[at]) for at in bare} <= {","}  # those between share items


def test_folds() -> None:
    folds = captures("folds")["fold"]
    assert any(text.startswith("{\n  InputShape") for text in folds)
    assert any(text.startswith("share {") for text in folds)


def test_locals() -> None:
    found = captures("locals")
    assert set(found["local.definition.type"]) == {"Image", "Conv", "Some", "Out"}
    assert found["local.definition.parameter"] == ["s", "d"]
    assert found["local.reference"].count("N") == 2


def test_injections() -> None:
    assert captures("injections")["injection.content"] == ["// a network"]


def test_indents() -> None:
    found = captures("indents")
    assert found["indent.begin"] == found["indent"]
    assert any(text.startswith("{\n  InputShape") for text in found["indent"])
    assert "}" in found["outdent"]


def test_text_objects() -> None:
    found = captures("textobjects")
    assert found["class.outer"] == found["class.around"]
    assert found["function.inner"][0].startswith("{\n  InputShape")
    assert "[2, 3]" in found["parameter.inside"]


def test_tags() -> None:
    found = captures("tags")
    assert len(found["definition.class"]) == 4
    assert found["definition.constant"] == ["N = 4;"]
    assert found["name"].count("Conv") == 3
