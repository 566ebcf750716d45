"""The table of rows; a new row is a module here and one line below."""

from __future__ import annotations

from tests.torture.rows import (
    bombs,
    crowds,
    disks,
    hostile,
    inputs,
    kills,
    models,
    signals,
    storms,
    writers,
)

ROWS = {
    row.name: row
    for row in (
        kills.ROW,
        signals.ROW,
        disks.ROW,
        models.ROW,
        inputs.ROW,
        bombs.ROW,
        storms.ROW,
        writers.ROW,
        crowds.ROW,
        hostile.ROW,
    )
}
