"""What functions and kinds of nodes do, in Markdown, by their names."""

from __future__ import annotations

from netsharp_lsp.cntk.library.documentation import of, of_node
from netsharp_lsp.cntk.mel.functions import meant
from netsharp_lsp.cntk.ndl.functions import function_of


def of_library(name: str) -> str:
    """A function of BrainScript's library with its form; empty for what is none."""
    entry = of(name)
    return entry.markdown if entry is not None else ""


def of_operation(operation: str) -> str:
    """A native type of node; empty for what is none."""
    entry = of_node(operation)
    return entry.markdown if entry is not None else ""


def of_edit(name: str) -> str:
    """A function of MEL, or of NDL within MEL."""
    edit = meant(name)
    return edit.documentation if edit is not None else of_ndl(name)


def of_ndl(name: str) -> str:
    """What a function of NDL makes."""
    function = function_of(name)
    return of_operation(function.operation) if function is not None else ""


def described(name: str) -> str:
    """What the function of a call does, without its form."""
    entry = of(name)
    if entry is not None:
        return entry.text
    return of_edit(name)
