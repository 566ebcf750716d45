"""Facts about the terminal, and the only way to it: sentences, lines, documents, texts.

Foreign text reaches a terminal only through here or through a report.
"""

from __future__ import annotations

import os
import sys

from netsharp_lsp.cli.console.outlet import Outlet
from netsharp_lsp.text.shorten import shortened
from netsharp_lsp.text.visible import visible, visible_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

#: Columns of source shown where no terminal sets a limit.
DEFAULT_WIDTH = 120


def uses_color(stream: TextIO) -> bool:
    """Return whether a stream is a terminal with colour (NO_COLOR and TERM=dumb turn it off)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def source_width(stream: TextIO) -> int:
    """Return the number of columns of a source line that fit beside a gutter."""
    if not stream.isatty():
        return DEFAULT_WIDTH
    try:
        return max(40, os.get_terminal_size(stream.fileno()).columns - 10)
    except OSError:
        return DEFAULT_WIDTH


def complain(message: str) -> None:
    """Print a sentence about the command itself, not about a specification, to stderr."""
    text = f"netsharp: {visible(shortened(message))}\n"
    outlet = Outlet(sys.stderr)
    outlet.write(text.encode(outlet.encoding, "backslashreplace").decode(outlet.encoding))


def remark(line: str) -> None:
    """Print a line about the progress of work to stderr, at once."""
    print(visible(line), file=sys.stderr, flush=True)


def say(lines: Iterable[str], outlet: Outlet | None = None) -> None:
    """Print lines for people, whatever they contain; to stdout by default."""
    stream = sys.stdout if outlet is None else outlet
    for line in lines:
        stream.write(f"{visible(line)}\n")
    if outlet is not None:
        outlet.flush()


def give(document: str | Iterable[str], stream: TextIO | None = None) -> None:
    """Print a document of ours, in which foreign text is visible already; to stdout by default."""
    pieces = (document,) if isinstance(document, str) else document
    (sys.stdout if stream is None else stream).writelines(pieces)


def give_exactly(text: bytes) -> None:
    """Print a foreign text byte by byte; for a terminal, control characters are made visible."""
    sys.stdout.flush()
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(text)
        return
    lines = text.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    sys.stdout.write(visible_lines(lines))
