"""The editors' queries of the CNTK languages: each loads and marks the right text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tree_sitter import Language, Parser, Query, QueryCursor, QueryError

from netsharp_grammar import _brainscript, _cntk
from tests.cntk.collection import FILES

GRAMMARS = Path(__file__).parents[2] / "grammar"
LANGUAGES = {
    "brainscript": Language(_brainscript.language()),
    "cntk": Language(_cntk.language()),
}
NAMES = ("folds", "highlights", "indents", "injections", "locals", "tags")
KNOWN = {"set!"}
KEYWORDS = {"include", "new", "with", "true", "false", "if", "then", "else", "array"}
SAMPLES = {
    "brainscript": b"""# a network
include "shapes.bs"
f (x, n = 2) = { y[i:0..n] = if i == 0 then x else W * y[i-1] /* ** */ }.y
W = new ComputationNode { operation = 'Times' ; inputs = [| a ; b |] }
v = array[0..3] (k => !true && false || $name$) with {}
w = f {-1.5 : +2, n = x => x} >> g
""",
    "cntk": b"""# an experiment
command = Train : "x"
Train = [ action = train ; lr = (0.1:0.2)
  BrainScriptNetworkBuilder = { x = Input {3} }
  FF(x, W) = { z = Times(W, x, tag=output) }, flag
]
""",
}
EVERY = [(language, name) for language in LANGUAGES for name in NAMES]


def query(language: str, name: str) -> Query:
    path = GRAMMARS / language / "queries" / f"{name}.scm"
    return Query(LANGUAGES[language], path.read_text(encoding="utf-8"))


def captures(language: str, name: str) -> dict[str, list[str]]:
    root = Parser(LANGUAGES[language]).parse(SAMPLES[language]).root_node
    found = QueryCursor(query(language, name)).captures(root)
    return {
        key: [str(n.text, "utf-8") for n in sorted(nodes, key=lambda node: node.start_byte)]
        for key, nodes in found.items()
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_queries_are_there_and_named(language: str) -> None:
    folder = GRAMMARS / language
    assert tuple(sorted(path.stem for path in folder.glob("queries/*.scm"))) == NAMES
    (entry,) = json.loads((folder / "tree-sitter.json").read_text("utf-8"))["grammars"]
    for name in ("highlights", "locals", "injections", "tags"):
        assert entry[name] == [f"queries/{name}.scm"]


@pytest.mark.parametrize(("language", "name"), EVERY)
def test_every_query_loads_and_finds_something(language: str, name: str) -> None:
    assert captures(language, name)
    text = (GRAMMARS / language / "queries" / f"{name}.scm").read_text(encoding="utf-8")
    assert set(re.findall(r"#([\w-]+[?!])", re.sub(r";.*", "", text))) <= KNOWN


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_query_with_an_unknown_node_would_not_load(language: str) -> None:
    with pytest.raises(QueryError):
        Query(LANGUAGES[language], "(no_such_node) @x")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_highlighted_twice_and_none_is_left_out(language: str) -> None:
    for source in (SAMPLES[language], *(f.data for f in FILES if f.language == language)):
        root = Parser(LANGUAGES[language]).parse(source).root_node
        found = QueryCursor(query(language, "highlights")).captures(root)
        spans = [node.byte_range for nodes in found.values() for node in nodes]
        assert len(spans) == len(set(spans))
        if source is SAMPLES[language]:
            covered = {at for span in spans for at in range(*span)}
            bare = {at for at in range(len(source)) if not source[at : at + 1].isspace()} - covered
            injected = source.find(b"{ x = Input {3} }")
            assert all(injected <= at < injected + 17 for at in bare), source[min(bare) :][:20]


def test_every_keyword_of_brainscript_is_coloured() -> None:
    found = captures("brainscript", "highlights")
    assert {*found["keyword"], *found["boolean"]} == KEYWORDS
    assert found["variable.parameter"] == ["x", "n", "i", "k", "x"]
    assert found["type"] == ["ComputationNode"]
    assert found["function"] == ["f"]
    assert found["constant.macro"] == ["$name$"]


def test_the_colours_of_a_configuration() -> None:
    found = captures("cntk", "highlights")
    assert found["property"] == ["command", "Train", "action", "lr", "z"]
    assert found["keyword"] == ["BrainScriptNetworkBuilder"]
    assert found["function"] == ["FF"]
    assert found["function.call"] == ["Times"]
    assert found["variable.parameter"] == ["tag"]


def test_brainscript_is_injected_into_its_builder() -> None:
    assert captures("cntk", "injections")["injection.content"][1] == "{ x = Input {3} }"


def test_definitions_are_found() -> None:
    members = captures("brainscript", "tags")
    assert members["definition.function"][0].startswith("f (x, n = 2)")
    assert [text.partition(" ")[0] for text in members["definition.constant"]] == ["W", "v", "w"]
    assert captures("cntk", "tags")["name"] == ["command", "Train", "FF", "Times"]
    assert "x" in captures("brainscript", "locals")["local.reference"]
