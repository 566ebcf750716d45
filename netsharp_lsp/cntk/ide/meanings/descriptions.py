"""Descriptions of functions and kinds of nodes by name, in Markdown."""

from __future__ import annotations

from netsharp_lsp.cntk.library.documentation import of, of_node
from netsharp_lsp.cntk.mel.functions import meant
from netsharp_lsp.cntk.ndl.functions import function_of


def of_library(name: str) -> str:
    """Return a function of BrainScript's library with its form; empty for any other name."""
    entry = of(name)
    return entry.markdown if entry is not None else ""


def of_operation(operation: str) -> str:
    """Return the description of a native node type; empty for any other name."""
    entry = of_node(operation)
    return entry.markdown if entry is not None else ""


def of_edit(name: str) -> str:
    """Return the description of a function of MEL, or of NDL within MEL."""
    edit = meant(name)
    return edit.documentation if edit is not None else of_ndl(name)


def of_ndl(name: str) -> str:
    """Return the description of the node that a function of NDL creates."""
    function = function_of(name)
    return of_operation(function.operation) if function is not None else ""


def described(name: str) -> str:
    """Return the description of a called function, without its signature."""
    entry = of(name)
    if entry is not None:
        return entry.text
    return of_edit(name)
