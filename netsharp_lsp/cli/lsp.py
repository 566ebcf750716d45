"""`netsharp lsp`: serve an editor over standard input and output, or over TCP."""

from __future__ import annotations

import sys

from netsharp_lsp.cli.console.streams import was_closed
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

FAILED = 2
LOCAL = "127.0.0.1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp lsp` understands."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--stdio", action="store_true", help="communicate over stdin and stdout (default)"
    )
    how.add_argument(
        "--tcp",
        type=_address,
        metavar="[HOST:]PORT",
        help=f"wait for one connection there; {LOCAL} without a host, any free port for 0",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until the editor says `exit`; 0 after `shutdown`, else 1; 2 where it cannot."""
    from netsharp_lsp.server.turns import launch

    if args.tcp is not None:
        return launch.serve_tcp(*args.tcp)
    for stream in (sys.stdin, sys.stdout):
        if was_closed(stream):
            complain("an editor speaks on standard input and output, of which one is closed.")
            return FAILED
    return launch.serve_stdio()


def _address(text: str) -> tuple[str, int]:
    from argparse import ArgumentTypeError

    host, _, port = text.rpartition(":")
    number = whole_number(port)
    if number is None or number > 65535:
        raise ArgumentTypeError(f"must be HOST:PORT or PORT, found '{text}'")
    return host or LOCAL, number
