"""What the rules say about a text, in a form that tests can compare."""

from __future__ import annotations

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.fixes import fix_all
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.netsharp.check import check
from netsharp_lsp.netsharp.meaning.network import Network


def diagnostics(text: str, **context: object) -> list[Diagnostic]:
    """Everything that is said about a text."""
    return check(text.encode(), Context(**context))[1]


def check_network(text: str, **context: object) -> Network:
    """The network that a text describes in a context."""
    return check(text.encode(), Context(**context))[0]


def codes(text: str, *, severe: bool = False, **context: object) -> list[str]:
    """The codes in the order of the text; only errors and warnings if ``severe``."""
    found = diagnostics(text, **context)
    return [d.code for d in found if not severe or d.severity in ("error", "warning")]


def one(text: str, code: str, **context: object) -> Diagnostic:
    """The only diagnostic of one code."""
    (found,) = (d for d in diagnostics(text, **context) if d.code == code)
    return found


def pointed(text: str, code: str, **context: object) -> list[str]:
    """The pieces of the text at which one code points."""
    data = text.encode()
    found = diagnostics(text, **context)
    return [data[d.start : d.end].decode() for d in found if d.code == code]


def fixed(text: str, **context: object) -> str:
    """The text after every fix, unsafe ones too."""
    result = fix_all(text.encode(), lambda data: check(data, Context(**context))[1], unsafe=True)
    return result.text.decode()
