"""The places of the table of typed lists as an editor's test takes them: each at a speed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import NamedTuple

from tests.conftest import SEED
from tests.drawing import FULL
from tests.server.typed_places import FILES, HOSTS, PLACES, SPEEDS, Place


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
    """Write the texts, and the places in files of these suffixes with their speeds."""
    chosen = [row for row in typed_places() if row.place.language in languages]
    rows = [{**row.place._asdict(), "milliseconds": row.milliseconds} for row in chosen]
    path.write_text(json.dumps({"files": FILES, "places": rows, "seed": SEED}), encoding="utf-8")
    return path
