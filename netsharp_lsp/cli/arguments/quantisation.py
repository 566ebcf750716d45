"""The arguments that choose the integers of a compiled network."""

from __future__ import annotations

import argparse

from netsharp_compile.calibrating.ranges import RANGES, USUAL_PERCENT
from netsharp_compile.judging.gate import USUAL_DROP, USUAL_ERROR
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


def add_quantisation(parser: argparse._ActionsContainer) -> None:
    """Add these arguments."""
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
        default=ACTIVATIONS[0],
        metavar="|".join((*ACTIVATIONS, "uint10", "int16/12", "...")),
        help="type and bits of features and hidden values; after / those that index the lookup "
        "tables (default: %(default)s)",
    )
    add(
        "--layer",
        action="append",
        default=[],
        metavar="NAME=WIDTH",
        help="the same for one layer or input; may be repeated",
    )
    add(
        "--weights",
        choices=WEIGHTS,
        default=WEIGHTS[0],
        help="type of the weights, with a scale for each node or (-tensor) layer",
    )
    add(
        "--requant",
        choices=REQUANTISATIONS,
        default=REQUANTISATIONS[0],
        help="how sums are rescaled: by a multiplier, or by a shift alone, for which the scales of "
        "the weights are chosen; auto uses shifts where that loses no accuracy",
    )
    add(
        "--transfer",
        choices=TRANSFERS,
        default=TRANSFERS[0],
        help="how activations are computed: by lookup tables, or by fixed-point formulas, for "
        "comparison",
    )
    add("--big-tables", action="store_true", help="allow tables of more than 4,096 entries")
    add("--logits", choices=LOGITS, default=LOGITS[0], help="the type of the outputs")
    add(
        "--share-tables",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="give bounded activations the same range, so that layers share a table",
    )
    add(
        "--range",
        default=RANGES[0],
        metavar="|".join((*RANGES[:2], f"{RANGES[2]}:{USUAL_PERCENT:g}", *RANGES[3:])),
        help="how a range is taken from the measured values (default: %(default)s)",
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
        help="if more is lost, choose the cheapest wider types that pass",
    )
    add(
        "--force",
        action="store_true",
        help="write the files even if more is lost or they do not fit",
    )


def settings_of(args: argparse.Namespace) -> CompileSettings:
    """Return the settings that they choose; CompileError for invalid ones."""
    layers = []
    for given in args.layer:
        name, equals, width = given.rpartition("=")
        if not (name and equals and width):
            raise CompileError(f"--layer {given}: NAME=WIDTH is expected, as in Hidden=uint10.")
        layers.append((name, width))
    return CompileSettings(
        activations=args.activations,
        weights=args.weights,
        logits=args.logits,
        share_tables=args.share_tables,
        range=args.range,
        layers=tuple(layers),
        requant=args.requant,
        big_tables=args.big_tables,
        transfer=args.transfer,
    )


def quantisation_flags(args: argparse.Namespace) -> list[str]:
    """Return the flags whose values are not their defaults."""
    plain = argparse.ArgumentParser(add_help=False)
    add_quantisation(plain)
    known = [(one.dest, one.option_strings[0]) for one in plain._actions]
    return [flag for name, flag in known if getattr(args, name) != plain.get_default(name)]
