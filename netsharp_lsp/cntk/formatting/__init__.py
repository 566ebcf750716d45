"""The formatter of configurations, NDL, MEL and BrainScript; no disk and no command line."""

from netsharp_lsp.cntk.formatting.formatter import format_text

__all__ = ["format_text"]
