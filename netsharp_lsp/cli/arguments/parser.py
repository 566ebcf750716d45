"""Reads a subcommand's arguments; what it cannot read it says in one sentence, without usage."""

from __future__ import annotations

import argparse
import math

from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.text.numbers import BEYOND, MOST_DIGITS, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

UNKNOWN = "unrecognized arguments: "
REQUIRED = "the following arguments are required: "


def positive(text: str) -> int:
    """Return a whole number of at least 1.  ArgumentTypeError, a sentence, for any other."""
    number = whole_number(text)
    if not number or number == BEYOND:
        most = f" and at most {MOST_DIGITS} digits" if number else ""
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least 1{most}, found '{text}'"
        )
    return number


def level(text: str) -> int:
    """Return a whole number of at least 0; of those with too many digits, one beyond all.

    ArgumentTypeError, a sentence, for any other.
    """
    number = whole_number(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, found '{text}'")
    return number


def not_negative(text: str) -> float:
    """Return a number of at least 0.  ArgumentTypeError, a sentence, for any other."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, found '{text}'")
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
            here = _of_hosts(word)
            if here and self._has_settings():
                return f"'{word}' is not an option: {here}"
            options = [name for action in self._actions for name in action.option_strings]
            return f"'{word}' is not an option.{suggestion(word, options) or f' {help_hint}'}"
        return f"{message}. {help_hint}"

    def _has_settings(self) -> bool:
        """Return whether settings of a run are among the options."""
        return "--epochs" in self._option_string_actions


def _of_hosts(option: str) -> str:
    """Return the flag of a run for an argument of the hosts, "" for other options."""
    from netsharp_engine.host_arguments import known_here

    found = known_here(option)
    if found is None:
        return ""
    key, why = found
    if not key:
        return f"it has no counterpart here: {why}."
    return f"this is '--{key.replace('_', '-')}' here."
