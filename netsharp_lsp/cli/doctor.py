"""`netsharp doctor`: how a training would start; without a specification, what computes here.

With a specification it is `netsharp run --examine` under another name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_engine.backends import survey
from netsharp_lsp.cli import run as training
from netsharp_lsp.cli.arguments.settings import add_settings_arguments
from netsharp_lsp.cli.arguments.training import add_setting_arguments
from netsharp_lsp.cli.console.terminal import complain, say
from netsharp_lsp.diagnostics.reports import FORMATS

if TYPE_CHECKING:
    import argparse

DONE, FAILED = 0, 2
#: What `run` asks for that has no effect where nothing is trained.
_WITHOUT_EFFECT: dict[str, Any] = {
    **dict.fromkeys(("model", "log", "plot", "cntk_log", "model_format")),
    **dict.fromkeys(("resume", "show_settings", "allow_commands", "events", "rx_log"), False),
    "cd": "",
    "items": [],
    "set": [],
    "quiet": True,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp doctor` understands: the settings of a run, and how to say it."""
    add = parser.add_argument
    add("specification", metavar="SPEC", nargs="?", help="the specification to examine")
    add("--data", dest="train", metavar="FILE", nargs="+", help="the table it would be trained on")
    add("--format", choices=FORMATS, default="text", help="the format of the report")
    add("--stdin-filename", metavar="NAME", help="the file name to report for '-'")
    add("--run-file", metavar="FILE", help="settings; by default the .toml beside SPEC")
    add_settings_arguments(parser)
    add_setting_arguments(parser, ("data", "train"))
    parser.set_defaults(**_WITHOUT_EFFECT)


def run(args: argparse.Namespace) -> int:
    """Look; 0 nothing found, 1 something found, 2 could not look."""
    if args.specification is None:
        if args.train:
            complain("Data needs a specification: netsharp doctor SPEC --data FILE.")
            return FAILED
        say(survey())
        return DONE
    args.examine = True
    return training.run(args)
