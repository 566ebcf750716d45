"""The flags of a run, made from the engine's table of settings; they know no run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_engine.train import KEYS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from netsharp_engine.train import Key

TITLES = {"data": "the table", "train": "training", "output": "files to write"}
#: Kinds that are true or false, or something else beside.
TRUTHS = {
    "truth": "true|false",
    "shuffling": "true|false|blocks",
    "operands": "true|false|CODES",
}
#: Kinds whose flag takes several values.
SEVERAL = ("paths", "columns")


def add_setting_arguments(
    parser: argparse.ArgumentParser, sections: Sequence[str], names: Sequence[str] = ()
) -> None:
    """Add a flag for each setting of the sections, or only for those in ``names``."""
    groups = {
        section: parser.add_argument_group(f"{TITLES[section]} ([{section}] in the run file)")
        for section in sections
    }
    for key in KEYS:
        if key.section in groups and (not names or key.name in names):
            _add(groups[key.section], key)


def _add(group: argparse._ArgumentGroup, key: Key) -> None:
    options: dict[str, Any] = {"dest": key.name, "help": key.doc.replace("%", "%%")}
    if key.kind in TRUTHS:
        # `--shuffle`, `--shuffle false` and `--no-shuffle` all read well.
        group.add_argument(key.flag, nargs="?", const="true", metavar=TRUTHS[key.kind], **options)
        negative = "--no-" + key.flag.removeprefix("--")
        group.add_argument(negative, dest=key.name, action="store_const", const="false")
        return
    if key.kind in SEVERAL:
        options["nargs"] = "+"
    metavar = "|".join(key.choices) if key.choices else key.name.upper()
    group.add_argument(key.flag, metavar=metavar, **options)


def given_flags(args: argparse.Namespace) -> dict[str, Any]:
    """Return the values of flags by names of settings; None for a flag that was not given."""
    return {key.name: getattr(args, key.name, None) for key in KEYS}
