"""The places of the table of typed lists as an editor's test takes them: each at a speed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import NamedTuple

from tests.conftest import SEED
from tests.drawing import FULL
from tests.server.typed_places import FILES, HOSTS, PLACES, SPEEDS, Place

#: A notebook for VS Code, whose only cell has the text of a file of Python.
NOTEBOOK, CELL = "cells.ipynb", "host.py"


class Typed(NamedTuple):
    """A place and how many milliseconds lie between two of its keys."""

    place: Place
    milliseconds: int


def typed_places() -> list[Typed]:
    """Return every place at one of the speeds, by the printed seed, or with FULL=1 at each."""
    if FULL:
        return [Typed(place, speed) for place in (*PLACES, *HOSTS) for speed in SPEEDS]
    drawn = random.Random(SEED)
    return [Typed(place, drawn.choice(SPEEDS)) for place in (*PLACES, *HOSTS)]


def write_files(folder: Path) -> dict[Path, str]:
    """Write the texts of the table below a folder; return each by its path."""
    texts = {folder / name: text for name, text in FILES.items()}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return texts


def written_table(path: Path, languages: tuple[str, ...]) -> Path:
    """Write the texts, and the places in files of these suffixes with their speeds; `ipynb` are
    those of a notebook's cell.
    """
    chosen = [row for row in typed_places() if row.place.language in languages]
    if "ipynb" in languages:
        cell = [row for row in typed_places() if row.place.file == CELL]
        chosen += [Typed(place._replace(file=NOTEBOOK), speed) for place, speed in cell]
    rows = [{**row.place._asdict(), "milliseconds": row.milliseconds} for row in chosen]
    files = {**FILES, NOTEBOOK: json.dumps(notebook(FILES[CELL]))}
    path.write_text(json.dumps({"files": files, "places": rows, "seed": SEED}), encoding="utf-8")
    return path


def notebook(text: str) -> dict[str, object]:
    """Return a notebook of Python with this text in its cell, as Jupyter stores it."""
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    return {
        "cells": [{**cell, "source": text.rstrip("\n").splitlines(keepends=True)}],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
