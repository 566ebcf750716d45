"""The small interface that every language answers, and which language a file is in.

Commands and servers go through it; it knows no language's inside and no editor's types.
"""

from __future__ import annotations

from netsharp_lsp.diagnostics.model import Result
from netsharp_lsp.diagnostics.suppression import find_suppressions, suppress

__all__ = [
    "DEFAULT",
    "SUFFIXES",
    "Result",
    "examine",
    "known_codes",
    "language_by_id",
    "language_for",
    "rules_with",
    "title_of",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from netsharp_engine.graph import Graph
    from netsharp_lsp.context import Context
    from netsharp_lsp.description.comparison import Comparison
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.diagnostics.pages import RuleBook
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.layout.options import FormatOptions, Formatted
    from netsharp_lsp.text.lines import LineIndex

    #: A text and what is known around it.
    Text = tuple[bytes, Context]

    class Language(Protocol):
        """One language. Texts are UTF-8 without byte-order mark, offsets are bytes."""

        @property
        def id(self) -> str:
            """The language id that editors use."""

        @property
        def comment(self) -> str:
            """What begins a comment that ends with its line, and so a suppression."""

        @property
        def rules(self) -> RuleBook:
            """The pages of its rules."""

        @property
        def suppression_codes(self) -> tuple[str, str]:
            """Its codes for a suppression that matches nothing and for one of an unknown code."""

        def check(self, data: bytes, context: Context) -> Result:
            """Return what is wrong with a text, and its comments; never raises for any text."""

        def format(self, data: bytes, options: FormatOptions) -> Formatted:
            """Return the text in its one style, or why it is left alone."""

        def describe(self, data: bytes, context: Context) -> dict[str, Any]:
            """Return what the network of a text is, as the JSON of `netsharp describe`."""

        def compare(self, before: Text, after: Text) -> Comparison:
            """Return what differs between the networks of two texts without errors."""

        def build_graph(self, specification: str, known: Mapping[str, Any]) -> Graph:
            """Return the engine's graph; GraphError, a sentence, where there can be none."""


DEFAULT = "netsharp"
_PACKAGES = {"netsharp": "netsharp_lsp.netsharp"}
#: Which suffix belongs to which language.
SUFFIXES = {".nn": "netsharp", ".netsharp": "netsharp"}


def language_by_id(language_id: str) -> Language:
    """Import and return a language; KeyError where none has the id."""
    package = __import__(_PACKAGES[language_id], fromlist=["LANGUAGE"])
    language: Language = package.LANGUAGE
    return language


def language_for(path: str) -> Language:
    """Return the language of a file by its name; files of unknown kinds are Net#."""
    dot = path.rfind(".")
    suffix = path[dot:].lower() if dot >= 0 else ""
    return language_by_id(SUFFIXES.get(suffix, DEFAULT))


def known_codes() -> tuple[str, ...]:
    """Return every code that has a page, of every language."""
    codes: tuple[str, ...] = ()
    for language_id in _PACKAGES:
        codes += language_by_id(language_id).rules.codes
    return codes


def examine(
    language: Language, lines: LineIndex, context: Context, selection: Selection
) -> list[Diagnostic]:
    """Check a text: its diagnostics in order, less those suppressed and those not selected."""
    result = language.check(lines.text, context)
    diagnostics = sorted(result.diagnostics, key=lambda diagnostic: diagnostic.sort_key)
    suppressions = find_suppressions(lines, result.comments, language.comment)
    left = suppress(
        diagnostics,
        lines,
        suppressions,
        lambda: language.rules.codes,
        *language.suppression_codes,
    )
    return selection.filter(left)


def rules_with(code: str) -> RuleBook:
    """Return the pages of the language that a code belongs to; KeyError where it has no page."""
    for language_id in _PACKAGES:
        rules = language_by_id(language_id).rules
        if code in rules.codes:
            return rules
    raise KeyError(code)


def title_of(code: str) -> str:
    """Return the title of a rule by its code; KeyError where it has no page."""
    return rules_with(code).title(code)
