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
        help="rows from which ranges are read (default: those of the training)",
    )
    add(
        "--holdout",
        nargs="+",
        metavar="DATA",
        help="labelled rows to evaluate the result on (default: those for validation or test)",
    )
    add("--label", metavar="COLUMN", help="their label column (default: that of the training)")
    add(
        "--run-file",
        metavar="FILE",
        help="what names those rows where the files of the training are missing (default: the "
        "run file beside the model)",
    )
    add(
        "--activations",
        default=ACTIVATIONS[0],
        metavar="|".join((*ACTIVATIONS, "uint10", "int16/12", "...")),
        help="kind and bits of features and hidden operands; after / those by which a table is "
        "looked up (default: %(default)s)",
    )
    add(
        "--layer",
        action="append",
        default=[],
        metavar="NAME=WIDTH",
        help="the same for one layer or input; repeated for others",
    )
    add("--weights", choices=WEIGHTS, default=WEIGHTS[0], help="a scale for each node, or a layer")
    add(
        "--requant",
        choices=REQUANTISATIONS,
        default=REQUANTISATIONS[0],
        help="how sums become codes: by a multiplier, or by a shift alone, which scales of weights "
        "are then chosen for; auto shifts where that loses nothing",
    )
    add(
        "--transfer",
        choices=TRANSFERS,
        default=TRANSFERS[0],
        help="how codes of sums become those of values: by tables, or by formulas in fixed point, "
        "for comparison",
    )
    add("--big-tables", action="store_true", help="allow tables of more than 4,096 entries")
    add("--logits", choices=LOGITS, default=LOGITS[0], help="the answers")
    add(
        "--share-tables",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="the same range for bounded operators, so that layers share a table",
    )
    add(
        "--range",
        default=RANGES[0],
        metavar="|".join((*RANGES[:2], f"{RANGES[2]}:{USUAL_PERCENT:g}", *RANGES[3:])),
        help="what codes cover of what the rows show (default: %(default)s)",
    )
    add(
        "--max-drop",
        type=not_negative,
        metavar="POINTS",
        help="percentage points of accuracy that may be lost on the held-out rows (default: "
        f"{USUAL_DROP:g}); of a regression the percentage of their spread that answers may be off "
        f"(default: {USUAL_ERROR:g})",
    )
    add(
        "--auto-widths",
        action="store_true",
        help="where more is lost, take the cheapest wider operands that pass",
    )
    add("--force", action="store_true", help="write what loses more, or does not fit, too")


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
