"""What is said and done about texts from Python: check, format, describe; it trains nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from netsharp_lsp.language import language_by_id, main_language
from netsharp_lsp.specification import (
    Diagnostic,
    findings,
    known_context,
    read_specification,
    refuse_errors,
)

if TYPE_CHECKING:
    from netsharp._settings import Host, Task


def check(
    specification: str | os.PathLike[str],
    *,
    features: int | None = None,
    hidden_nodes: int | None = None,
    outputs: int | None = None,
    task: Task | None = None,
    host: Host | None = None,
) -> list[Diagnostic]:
    """Find everything that is to be said about a specification.

    Parameters
    ----------
    specification : str or path object
        Net# text, or the path of its file.
    features : int, optional
        Columns of the data after encoding: the nodes of an `auto` input.
    hidden_nodes : int, optional
        The nodes of an `auto` hidden layer.
    outputs : int, optional
        The nodes that the task needs: those of an `auto` output.
    task : {"binary", "multiclass", "regression"}, optional
        What the network is for.
    host : {"studio", "rx", "tlc"}, optional
        The program whose rules and defaults are meant.

    Returns
    -------
    list of Diagnostic
        The findings in the order of the text; empty where there is nothing to say.

    Raises
    ------
    ValueError
        The file is no text, or an argument cannot be.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
    """
    context = known_context(features, hidden_nodes, outputs, task, host)
    return findings(read_specification(specification), context)


def format(specification: str | os.PathLike[str]) -> str:
    """Write a specification in the one style; broken regions stay as they are.

    Parameters
    ----------
    specification : str or path object
        Net# text, or the path of its file, which is not changed.

    Returns
    -------
    str
        The text, with the line ends that most of its lines have.

    Raises
    ------
    ValueError
        The file is no text, or the formatter's own proof that nothing is lost failed.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
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
    task: Task | None = None,
    host: Host | None = None,
) -> dict[str, Any]:
    """Describe a network: layers, bundles, parameters, connections, multiply-adds, memory.

    Parameters
    ----------
    specification : str or path object
        Net# text, or the path of its file.
    features : int, optional
        Columns of the data after encoding: the nodes of an `auto` input.
    hidden_nodes : int, optional
        The nodes of an `auto` hidden layer.
    outputs : int, optional
        The nodes that the task needs: those of an `auto` output.
    task : {"binary", "multiclass", "regression"}, optional
        What the network is for.
    host : {"studio", "rx", "tlc"}, optional
        The program whose rules and defaults are meant.

    Returns
    -------
    dict
        The JSON of `netsharp describe --format json`: "layers", "parameters", "connections",
        "multiply_adds", "memory_bytes"; what is unknown is None.

    Raises
    ------
    SpecificationError
        The specification has errors.
    ValueError
        The file is no text, or an argument cannot be.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
    """
    data = read_specification(specification)
    context = known_context(features, hidden_nodes, outputs, task, host)
    refuse_errors(data, context)
    return language_by_id(main_language()).describe(data, context)
