"""The cell magic `%%netsharp`: a cell of Net# is checked, drawn and, with data, trained."""

from __future__ import annotations

import ast
import shlex
from functools import partial
from typing import Any

from netsharp._training import train
from netsharp_lsp.notebooks.shown import Specification

USAGE = "%%netsharp [NAME] [x=FEATURES y=LABELS] [SETTING=VALUE ...]"


def register(shell: Any) -> None:
    """Give a notebook's shell the magic `%%netsharp`."""
    shell.register_magic_function(partial(run_cell, shell), "cell", "netsharp")


def run_cell(shell: Any, line: str, cell: str) -> Any:
    """Show the specification in a cell and train it where data is named; return the model, or else
    the specification, which NAME becomes in the notebook if the line begins with one.

    A value is a literal, else the name of a variable, else a text.  SpecificationError and the
    other errors of `netsharp.train` come through.
    """
    words = shlex.split(line)
    name = words.pop(0) if words and "=" not in words[0] else None
    given = [word.partition("=") for word in words]
    wrong = [word for word, mark, _ in given if not mark or not word.isidentifier()]
    if name is not None and not name.isidentifier():
        wrong = [name]
    if wrong:
        raise ValueError(f"'{wrong[0]}' is not a setting. Usage: {USAGE}")
    settings = {key: _value(shell.user_ns, text) for key, _, text in given}
    specification = Specification(cell if "\n" in cell else f"{cell}\n")
    made: Any = specification
    if "x" in settings or "train" in settings:
        import IPython.display

        show: Any = IPython.display.display
        show(specification)
        made = train(specification, **{"verbose": True, **settings})
    if name is not None:
        shell.user_ns[name] = made
    return made


def _value(names: dict[str, Any], text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return names.get(text, text)
