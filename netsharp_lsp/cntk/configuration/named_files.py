"""A file that a configuration names, as CNTK reads it; does not access the disk.

Comments and empty lines are removed, then variables are substituted in the scope that names the
file.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.comments import code_span
from netsharp_lsp.cntk.configuration.sources import Source, SourcePlace
from netsharp_lsp.cntk.configuration.traced import Traced, Weaver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.scope import Scope

_LINE = re.compile(rb"[^\r\n]+")
_MARK = b"\xef\xbb\xbf"


def file_text(source: Source, scope: Scope | None) -> Traced:
    """Return the text of a file without comments; with variables substituted where a scope is
    given.
    """
    weaver = Weaver()
    for found in _LINE.finditer(source.text):
        at, end = found.span()
        if source.text.startswith(_MARK, at):
            at += len(_MARK)
        low, high = code_span(source.text[at:end])
        if high > low:
            weaver.add(source, at + low, at + high)
            weaver.add_placeholder(b"\n", SourcePlace(source, at + high, at + high))
    if not len(weaver):
        weaver.add(source, 0, 0)
    text = weaver.done()
    return text if scope is None else scope.put(text)
