"""What is said and done about texts from Python: check, format, describe; it trains nothing."""

from __future__ import annotations

import os
from typing import Any

from netsharp_lsp.language import language_by_id, main_language
from netsharp_lsp.specification import (
    Diagnostic,
    findings,
    known_context,
    read_specification,
    refuse_errors,
)


def check(
    specification: str | os.PathLike[str],
    *,
    features: int | None = None,
    hidden_nodes: int | None = None,
    outputs: int | None = None,
    task: str | None = None,
    host: str | None = None,
) -> list[Diagnostic]:
    """Everything that is to be said about a specification, in the order of the text.

    ``specification`` is Net# text, or a path object of a file.  The other arguments turn `auto`
    into numbers: ``task`` is "binary", "multiclass" or "regression", ``host`` "studio", "rx" or
    "tlc".  Raises ValueError for a file that is no text.
    """
    context = known_context(features, hidden_nodes, outputs, task, host)
    return findings(read_specification(specification), context)


def format(specification: str | os.PathLike[str]) -> str:
    """The specification in the one style; broken regions stay as they are.

    Raises ValueError for a file that is no text, and where the formatter's own proof fails.
    """
    from netsharp_lsp.layout.options import FormatOptions

    language = language_by_id(main_language())
    result = language.format(read_specification(specification), FormatOptions())
    if result.failure is not None:
        raise ValueError(result.failure)
    return result.text.decode()


def describe(
    specification: str | os.PathLike[str],
    *,
    features: int | None = None,
    hidden_nodes: int | None = None,
    outputs: int | None = None,
    task: str | None = None,
    host: str | None = None,
) -> dict[str, Any]:
    """What the network is: layers, bundles, parameters, connections, multiply-adds, memory.

    The dictionary is the JSON of `netsharp describe`; what is unknown is None.  Raises
    SpecificationError for a specification with errors.
    """
    data = read_specification(specification)
    context = known_context(features, hidden_nodes, outputs, task, host)
    refuse_errors(data, context)
    return language_by_id(main_language()).describe(data, context)
