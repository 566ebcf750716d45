"""The calls that train in a script, wherever they are in its layers of hosts.

Knows which reader a language has; reads no disk.
"""

from __future__ import annotations

import re

from netsharp_lsp.embedded.finding import code_in
from netsharp_lsp.importing.arguments import TRAINERS
from netsharp_lsp.importing.python_calls import calls_in_python
from netsharp_lsp.importing.r_calls import calls_in_r
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.importing.values import HostCall

_HINT = re.compile(rb"\b(?:" + "|".join(TRAINERS).encode() + rb")\b")


def calls_in(host: str, data: bytes) -> tuple[list[HostCall], list[int]]:
    """Return the calls that train in a host text, in order, and the lines where Python that may
    hold some cannot be read.

    Raises RecursionError for what is nested too deep.
    """
    calls: list[HostCall] = []
    broken: list[int] = []
    lines = LineIndex(data)
    for group in code_in(host, data, _HINT):
        for layer in group.layers:
            if _HINT.search(layer.text) is None:
                continue
            line_of = layer.line_counter(lines)
            if group.language == "r":
                calls += calls_in_r(layer.text, line_of, TRAINERS)
                continue
            found = calls_in_python(layer.text, line_of, TRAINERS)
            if isinstance(found, int):
                broken.append(found)
            else:
                calls += found
    return sorted(calls, key=lambda call: call.line), broken
