"""The arguments of commands that look at runs of CNTK."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def add_experiment_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says how configurations are run; they may be layers, too: a.cntk+b.cntk."""
    group = parser.add_argument_group("what is known around a configuration of CNTK")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=_assignment,
        metavar="KEY=VALUE",
        help="an assignment behind all files; may be repeated",
    )


def _assignment(text: str) -> str:
    from argparse import ArgumentTypeError

    key, equals, _ = text.partition("=")
    if not equals or not key.strip().isidentifier():
        raise ArgumentTypeError(f"must be KEY=VALUE, found '{text}'")
    return text
