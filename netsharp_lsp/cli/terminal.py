"""What is known of the terminal: whether to colour, how wide it is, and how to complain on it."""

from __future__ import annotations

import os
import sys

from netsharp_lsp.cli.outlet import Outlet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

#: Columns of source shown where nobody's terminal sets a limit.
DEFAULT_WIDTH = 120


def uses_color(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants colour (NO_COLOR and TERM=dumb refuse it)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def source_width(stream: TextIO) -> int:
    """Return how many columns of a source line fit beside a gutter."""
    if not stream.isatty():
        return DEFAULT_WIDTH
    try:
        return max(40, os.get_terminal_size(stream.fileno()).columns - 10)
    except OSError:
        return DEFAULT_WIDTH


def complain(message: str) -> None:
    """Print a sentence about the command itself, not about a specification, to stderr."""
    text = f"netsharp: {message}\n"
    outlet = Outlet(sys.stderr)
    outlet.write(text.encode(outlet.encoding, "backslashreplace").decode(outlet.encoding))
