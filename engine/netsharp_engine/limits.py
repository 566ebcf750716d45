"""The limits of the engine, above which it refuses with a sentence; imports nothing.

`docs/limits.md` shows these rows with those of `netsharp_lsp.limits`; a test compares.
"""

from __future__ import annotations


class Limit:
    """The `most` of something that is accepted: `what` it is, and what happens `beyond`.

    `unit` is the word that people read after the number; bytes are shown in MiB.
    """

    __slots__ = ("beyond", "most", "unit", "what")

    def __init__(self, what: str, most: int, unit: str, beyond: str) -> None:
        self.what = what
        self.most = most
        self.unit = unit
        self.beyond = beyond

    def __str__(self) -> str:
        """Return the amount as sentences and the table of limits have it."""
        if self.unit == "bytes":
            return f"{self.most / 2**20:g} MiB"
        return f"{self.most:,} {self.unit}"


KERNEL_DIMENSIONS = Limit(
    "a kernel, in training and prediction",
    15,
    "dimensions",
    "`run`, `predict` and `evaluate` refuse the network; `check` and `describe` accept it",
)
# A pool over a whole picture of 1000 x 1000 pixels.
KERNEL_CELLS = Limit(
    "a kernel that is processed cell by cell, in training and prediction",
    1_000_000,
    "cells",
    "`run`, `predict` and `evaluate` refuse the network; `check` and `describe` accept it",
)

TABLE_LINE = Limit(
    "a line of a CSV or TSV table", 64 * 1024 * 1024, "bytes", "the table is refused"
)
# The limit of Python's csv module.
TABLE_CELL = Limit("a value of a CSV or TSV table", 131_072, "characters", "the table is refused")

# Each row of the data costs work for every class.
CLASSES = Limit("classes of a network in training", 10_000, "classes", "`run` refuses the table")
CONFUSION_CLASSES = Limit(
    "a confusion matrix in a report",
    1_000,
    "classes",
    "the report has none, but all other figures",
)

DATA_FAULTS = Limit(
    "findings of `check --read-data` in one data file",
    1_000,
    "findings",
    "the others are counted",
)
DATA_FAULTS_BYTES = Limit(
    "lines that `check --read-data` reports in one data file",
    16 * 1024 * 1024,
    "bytes",
    "the others are counted",
)
DATA_LINE = Limit(
    "a line of a data file that a CNTK configuration names",
    64 * 1024 * 1024,
    "bytes",
    "`run` refuses the file, and `check --read-data` reports it",
)

# The numbers of dense samples take some times the bytes of their text.
DATA_HELD = Limit(
    "a file in CNTK's text format that is held in memory",
    1024 * 1024 * 1024,
    "bytes",
    "only the offsets of its sequences are held, some 100 bytes for each, and their lines are "
    "read again when they are needed",
)

IMAGE_BYTES = Limit("an image file", 64 * 1024 * 1024, "bytes", "`run` refuses the image")
# Three channels and the sums of a new size take some 30 bytes a pixel.
IMAGE_PIXELS = Limit("an image", 25_000_000, "pixels", "`run` refuses the image")

#: Every limit of the engine, in the order of the documents.
LIMITS: tuple[Limit, ...] = (
    KERNEL_DIMENSIONS,
    KERNEL_CELLS,
    TABLE_LINE,
    TABLE_CELL,
    CLASSES,
    CONFUSION_CLASSES,
    DATA_FAULTS,
    DATA_FAULTS_BYTES,
    DATA_LINE,
    DATA_HELD,
    IMAGE_BYTES,
    IMAGE_PIXELS,
)
