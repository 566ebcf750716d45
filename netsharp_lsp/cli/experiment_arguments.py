"""The arguments of commands that look at runs of CNTK, and whether one means such."""

from __future__ import annotations

from netsharp_lsp.cli.files import is_layered, named_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from netsharp_lsp.cli.files import Input


def add_experiment_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what says how configurations are run, and return the group of these arguments."""
    group = parser.add_argument_group("what is known around a configuration of CNTK")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=_assignment,
        metavar="KEY=VALUE",
        help="an assignment behind all files; may be repeated",
    )
    return group


def is_experiment(argument: str, args: argparse.Namespace) -> bool:
    """Whether an argument means something of CNTK, whatever revision it may be of."""
    return is_layered(argument) or meant_input(argument, args).is_cntk


def meant_input(argument: str, args: argparse.Namespace) -> Input:
    """The input that an argument means, with what flags say of stdin and of languages."""
    name, language = getattr(args, "stdin_filename", None), getattr(args, "language", None)
    return named_input(argument, name, language)


def _assignment(text: str) -> str:
    from argparse import ArgumentTypeError

    key, equals, _ = text.partition("=")
    if not equals or not key.strip().isidentifier():
        raise ArgumentTypeError(f"must be KEY=VALUE, found '{text}'")
    return text
