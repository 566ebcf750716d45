"""Reads a subcommand's arguments; what it cannot read it says in one sentence, without usage."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

UNKNOWN = "unrecognized arguments: "
REQUIRED = "the following arguments are required: "


class Arguments(argparse.ArgumentParser):
    """argparse with sentences of our own."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and what to do, and exit with 2."""
        self.exit(2, f"netsharp: {self._sentence(message)}\n")

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
