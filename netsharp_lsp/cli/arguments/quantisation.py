"""The arguments that choose the integers of a compiled network."""

from __future__ import annotations

import argparse

from netsharp_compile.calibrating.ranges import RANGES, USUAL_PERCENT
from netsharp_compile.evaluating.gate import USUAL_DROP, USUAL_ERROR
from netsharp_compile.refusal import CompileError
from netsharp_compile.widths import (
    ACTIVATIONS,
    LOGITS,
    REQUANTISATIONS,
    TRANSFERS,
    WEIGHTS,
    CompileSettings,
)
from netsharp_lsp.cli.arguments.parser import not_negative

#: The arguments that are settings by the same name.
_SETTINGS = (
    "activations",
    "weights",
    "logits",
    "share_tables",
    "range",
    "requant",
    "big_tables",
    "transfer",
)


def add_quantisation(parser: argparse._ActionsContainer) -> None:
    """Add these arguments; each is None where it is not given, whatever its default."""
    add = parser.add_argument
    add(
        "--calibrate",
        nargs="+",
        metavar="DATA",
        help="rows to measure value ranges on (default: the training rows)",
    )
    add(
        "--holdout",
        nargs="+",
        metavar="DATA",
        help="labelled rows to evaluate the result on (default: the validation or test rows)",
    )
    add("--label", metavar="COLUMN", help="their label column (default: that of training)")
    add(
        "--run-file",
        metavar="FILE",
        help="a run file that names these rows where the training files are missing (default: "
        "the one beside the model)",
    )
    add(
        "--activations",
        metavar="|".join((*ACTIVATIONS, "uint10", "int16/12", "...")),
        help="type and bits of features and hidden values; after / those that index the lookup "
        f"tables (default: {ACTIVATIONS[0]})",
    )
    add(
        "--layer",
        action="append",
        metavar="NAME=WIDTH",
        help="the same for one layer or input; may be repeated",
    )
    add(
        "--weights",
        choices=WEIGHTS,
        help="type of the weights, with a scale for each node or (-tensor) layer (default: "
        f"{WEIGHTS[0]})",
    )
    add(
        "--requant",
        choices=REQUANTISATIONS,
        help="how sums are rescaled: by a multiplier, or by a shift alone, for which the scales of "
        f"the weights are chosen; {REQUANTISATIONS[0]} (the default) uses shifts where that loses "
        "no accuracy",
    )
    add(
        "--transfer",
        choices=TRANSFERS,
        help="how activations are computed: by lookup tables (the default), or by fixed-point "
        "formulas, for comparison",
    )
    add(
        "--big-tables",
        action="store_true",
        default=None,
        help="allow tables of more than 4,096 entries",
    )
    add("--logits", choices=LOGITS, help=f"the type of the outputs (default: {LOGITS[0]})")
    add(
        "--share-tables",
        action=argparse.BooleanOptionalAction,
        help="give bounded activations the same range, so that layers share a table (the default)",
    )
    add(
        "--range",
        metavar="|".join((*RANGES[:2], f"{RANGES[2]}:{USUAL_PERCENT:g}", *RANGES[3:])),
        help=f"how a range is taken from the measured values (default: {RANGES[0]})",
    )
    add(
        "--max-drop",
        type=not_negative,
        metavar="POINTS",
        help="accuracy that may be lost on the held-out rows, in percentage points (default: "
        f"{USUAL_DROP:g}); for a regression, the error allowed in percent of the labels' spread "
        f"(default: {USUAL_ERROR:g})",
    )
    add(
        "--auto-widths",
        action="store_true",
        default=None,
        help="if more is lost, choose the cheapest wider types that pass",
    )
    add(
        "--force",
        action="store_true",
        default=None,
        help="write the files even if more is lost or they do not fit",
    )


def settings_of(args: argparse.Namespace) -> CompileSettings:
    """Return the settings that they choose; CompileError for invalid ones."""
    layers = []
    for text in args.layer or ():
        name, equals, width = text.rpartition("=")
        if not (name and equals and width):
            raise CompileError(f"--layer {text}: NAME=WIDTH is expected, as in Hidden=uint10.")
        layers.append((name, width))
    given = {name: getattr(args, name) for name in _SETTINGS}
    return CompileSettings(
        layers=tuple(layers), **{name: one for name, one in given.items() if one is not None}
    )


def quantisation_flags(args: argparse.Namespace) -> list[str]:
    """Return the flags that are given, also those with the value of their default."""
    plain = argparse.ArgumentParser(add_help=False)
    add_quantisation(plain)
    known = [(one.option_strings, getattr(args, one.dest)) for one in plain._actions]
    return [
        names[-1] if value is False else names[0] for names, value in known if value is not None
    ]
