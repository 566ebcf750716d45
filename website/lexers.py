"""Colours the examples of the site by the grammars' own queries.

What an editor colours, the site colours: no second description of the languages is kept here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Token
from tree_sitter import Language, Parser, Query, QueryCursor

GRAMMAR = Path(__file__).parents[1] / "grammar"
#: The grammar that reads each language.
GRAMMARS = {
    "netsharp": "netsharp",
    "brainscript": "brainscript",
    "cntk": "cntk",
    "ndl": "cntk",
    "mel": "cntk",
}
#: What Pygments calls a capture; the longest prefix counts.
TOKENS: dict[str, Any] = {
    "comment": Comment,
    "keyword": Keyword,
    "string": String,
    "string.escape": String.Escape,
    "number": Number,
    "boolean": Keyword.Constant,
    "constant": Name.Constant,
    "constant.builtin": Keyword.Constant,
    "function": Name.Function,
    "function.builtin": Name.Builtin,
    "type": Name.Class,
    "variable": Name.Variable,
    "variable.parameter": Name.Variable,
    "property": Name.Attribute,
    "operator": Operator,
    "punctuation": Punctuation,
}


class GrammarLexer(Lexer):  # type: ignore[misc]
    """Reads a text by a grammar; what its query does not capture stays plain."""

    grammar: ClassVar[str]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Give each stretch of the text with its token, in order and without gaps."""
        at = 0
        for token, piece in _pieces(self.grammar, text.encode("utf-8")):
            if piece:
                yield at, token, piece
            at += len(piece)


def lexers() -> dict[str, type[Lexer]]:
    """Return a lexer for each language by the name that fences have."""
    return {
        name: type(f"{name.title()}Lexer", (GrammarLexer,), {"name": name, "grammar": grammar})
        for name, grammar in GRAMMARS.items()
    }


def _pieces(grammar: str, data: bytes) -> Iterator[tuple[Any, str]]:
    """Yield the spans of a text in order, each with its colour."""
    at = 0
    for start, end, token in _captures(grammar, data):
        if start >= at:
            yield Token.Text, data[at:start].decode("utf-8")
            yield token, data[start:end].decode("utf-8")
            at = end
    yield Token.Text, data[at:].decode("utf-8")


def _captures(grammar: str, data: bytes) -> list[tuple[int, int, Any]]:
    """Return the coloured stretches of a text, the outer one of two that overlap first."""
    parser, query = _reader(grammar)
    found = QueryCursor(query).captures(parser.parse(data).root_node)
    return sorted(
        ((node.start_byte, node.end_byte, _token(name)) for name in found for node in found[name]),
        key=lambda one: (one[0], -one[1]),
    )


def _token(capture: str) -> Any:
    while capture and capture not in TOKENS:
        capture = capture.rpartition(".")[0]
    return TOKENS.get(capture, Token.Text)


@lru_cache(maxsize=3)
def _reader(grammar: str) -> tuple[Parser, Query]:
    language = Language(import_module(f"netsharp_grammar._{grammar}").language())
    queries = (GRAMMAR / grammar / "queries" / "highlights.scm").read_text(encoding="utf-8")
    return Parser(language), Query(language, queries)
