"""Calls that train in named scripts, read with the files that they name.

Imported for hosts alone; what arguments mean is not known here.
"""

from __future__ import annotations

import os
import re

from netsharp_lsp.cli.inputs.files import named_input, read_source
from netsharp_lsp.importing.scripts import calls_in
from netsharp_lsp.importing.translation import imported
from netsharp_lsp.outcome import ReadError
from netsharp_lsp.project.roots import ANYWHERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netsharp_lsp.cli.inputs.files import Input
    from netsharp_lsp.importing.translation import ImportedCall
    from netsharp_lsp.project.roots import Roots

_UNSAFE = re.compile(r"[^\w.-]+")


class ReadScript:
    """The calls of a script with a name for each, and the lines where its Python is none."""

    __slots__ = ("broken", "calls", "names")

    def __init__(self, item: Input, calls: Sequence[ImportedCall], broken: Sequence[int]) -> None:
        self.calls = calls
        self.broken = broken
        self.names = _names(calls, os.path.splitext(os.path.basename(item.name))[0])


def read_script(item: Input, text: bytes, roots: Roots = ANYWHERE) -> ReadScript | str:
    """Return the calls of a host text, or why it cannot be read, as a sentence.

    Of the files that it names those inside the roots are read.
    """
    try:
        calls, broken = calls_in(item.host or "", text)
    except RecursionError:
        return f"{item.name}: holds brackets within each other, too deep to be read."
    reads = _reader(os.path.dirname(os.path.abspath(item.name)), roots)
    return ReadScript(item, [imported(call, reads) for call in calls], broken)


def _reader(folder: str, roots: Roots) -> Callable[[str], str | None]:
    def read(path: str) -> str | None:
        if not roots.holds(os.path.join(folder, path)):
            return None
        source = read_source(named_input(os.path.join(folder, path)))
        known = source is not None and not isinstance(source, ReadError)
        return source.text.decode() if known else None  # type: ignore[union-attr]

    return read


def _names(calls: Sequence[ImportedCall], stem: str) -> list[str]:
    """Return a name for each call: its variable, else the script's; numbered where it is taken.

    Of several calls none has the script's name alone: its run file would be that of all.
    """
    names: list[str] = []
    for place, call in enumerate(calls, 1):
        wanted = _UNSAFE.sub("_", call.target or stem).strip(".") or "network"
        if len(calls) > 1 and wanted.lower() == stem.lower():
            wanted = f"{wanted}_{place}"
        name, number = wanted, 2
        while name.lower() in {one.lower() for one in names}:
            name, number = f"{wanted}_{number}", number + 1
        names.append(name)
    return names
