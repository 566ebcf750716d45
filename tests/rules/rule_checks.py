"""How the tests of rules ask: what a text gives, at which words, and what a fix makes of it."""

from __future__ import annotations

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.netsharp.check import check
from netsharp_lsp.text.edits import apply_edits

SEVERE = ("error", "warning")


def diagnostics(text: str, **context: object) -> list[Diagnostic]:
    return check(text.encode(), Context(**context))[1]  # type: ignore[arg-type]


def severe(text: str, **context: object) -> list[tuple[str, str]]:
    """The code and the marked words of every error and warning, in the order of the text."""
    return [(d.code, words(text, d)) for d in diagnostics(text, **context) if d.severity in SEVERE]


def codes(text: str, **context: object) -> set[str]:
    return {diagnostic.code for diagnostic in diagnostics(text, **context)}


def words(text: str, diagnostic: Diagnostic) -> str:
    return text.encode()[diagnostic.start : diagnostic.end].decode()


def only(text: str, code: str, **context: object) -> Diagnostic:
    """The single diagnostic of a code."""
    (found,) = [d for d in diagnostics(text, **context) if d.code == code]
    return found


def notes(diagnostic: Diagnostic) -> list[str]:
    return [related.message for related in diagnostic.related]


def fixed(text: str, code: str, **context: object) -> str:
    """The text after the first fix for a code."""
    found = next(d for d in diagnostics(text, **context) if d.code == code and d.fix is not None)
    assert found.fix is not None
    return apply_edits(text.encode(), list(found.fix.edits)).decode()


def network(middle: str, source: str = "input I [8, 8];", last: str = "C") -> str:
    """A network around one or more hidden layers, without findings at its ends."""
    return f"{source}\n{middle.strip()}\noutput O [2] softmax from {last} all;\n"


def convolution(size: str, *attributes: str, source: str = "input I [8, 8];") -> str:
    """One convolution C over I, one attribute a line."""
    block = "\n".join(f"  {attribute};" for attribute in attributes)
    return network(f"hidden C {size} tanh from I convolve {{\n{block}\n}}", source)
