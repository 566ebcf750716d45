"""The formatter of Net#: one style, which changes neither tokens nor comments.

It never imports the checker, so that it formats specifications with any meaning or none.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.formatting.formatter import format_text

__all__ = ["format_text"]
