"""Reads a subcommand's arguments; what it cannot read it says in one sentence, without usage."""

from __future__ import annotations

import argparse

from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.text.numbers import BEYOND, MOST_DIGITS, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

UNKNOWN = "unrecognized arguments: "
REQUIRED = "the following arguments are required: "


def positive(text: str) -> int:
    """A whole number of at least 1.  ArgumentTypeError, a sentence, for any other."""
    number = whole_number(text)
    if not number or number == BEYOND:
        most = f" and at most {MOST_DIGITS} digits" if number else ""
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least 1{most}, found '{text}'"
        )
    return number


def level(text: str) -> int:
    """A whole number of at least 0; of those with too many digits, one beyond all.

    ArgumentTypeError, a sentence, for any other.
    """
    number = whole_number(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, found '{text}'")
    return number


class CommandParser(argparse.ArgumentParser):
    """argparse with sentences of our own."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and what to do, and exit with 2."""
        complain(self._sentence(message))
        self.exit(2)

    def _sentence(self, message: str) -> str:
        help_hint = f"'{self.prog} --help' lists the options."
        if message.startswith(REQUIRED):
            return f"{message.removeprefix(REQUIRED)} is missing. {help_hint}"
        if message.startswith(UNKNOWN):
            from netsharp_lsp.diagnostics.nearest import suggestion

            word = message.removeprefix(UNKNOWN).split()[0].partition("=")[0]
            if not word.startswith("-"):
                return f"'{word}' is an argument too many. {help_hint}"
            options = [name for action in self._actions for name in action.option_strings]
            return f"'{word}' is no option.{suggestion(word, options) or f' {help_hint}'}"
        return f"{message}. {help_hint}"
