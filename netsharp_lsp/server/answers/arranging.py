"""A formatted specification in its document, for requests and a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from netsharp_lsp.embedded.answers.arrangement import arrange
from netsharp_lsp.server.transport.protocol import RefusedError
from netsharp_lsp.text.line_edits import line_edits

if TYPE_CHECKING:
    from netsharp_lsp.layout.options import FormatOptions
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.text.edits import Edit


def formatted(view: View, options: FormatOptions) -> list[Edit]:
    """Return the edits of a document that format one specification.

    Refuses where the formatter fails; one that its host cannot hold formatted is left unchanged.
    """
    if view.region is not None:
        arranged = arrange(view.region, view.language.format, options)
        edits, failure = arranged.edits, arranged.failure
    else:
        done = view.snapshot.format(options)
        edits, failure = line_edits(view.lines.text, done.text), done.failure
    if failure is not None:
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, failure)
    return edits
