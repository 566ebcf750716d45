"""Tables of text that are prepared, the data that settings make of them, and all that a training
reads of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from netsharp_engine.data.storage.places import BESIDE
from netsharp_engine.train import TrainingData, load_data, read_settings, train
from tests.engine_training.small_networks import layered

ROWS = 700
SETTINGS = {"epochs": 2, "batch_size": 32, "learning_rate": 0.05}


def rows_of_text(seed: int, rows: int = ROWS) -> list[str]:
    """Rows of numbers, of which some are missing, a colour, a weight, a number and a class."""
    chance = np.random.default_rng(seed)
    values = chance.normal(size=(rows, 3)).round(4)
    lines = []
    for index, (a, b, c) in enumerate(values.tolist()):
        shown = "" if index % 11 == 5 else str(b)
        colour = ("red", "green", "blue")[index % 3 if a > 0 else 0]
        weight = 1 + index % 4
        lines.append(
            f"{a},{shown},{c},{colour},{weight},{2 * a + c + 1000:.4f},{'yes' if a > 0 else 'no'}"
        )
    return lines


HEAD = "a,b,c,colour,weight,number,label"


def written(path: Path, seed: int = 0, rows: int = ROWS) -> str:
    """A table in a file."""
    path.write_text("\n".join((HEAD, *rows_of_text(seed, rows))) + "\n")
    return str(path)


def loaded(folder: Path, *, cache: str, **flags: Any) -> TrainingData:
    """Data as settings want it, kept beside a model in a folder."""
    given = {"train": str(folder / "t.csv"), "label": "label", "missing": "mean", **SETTINGS}
    if given["label"] == "label" and "exclude" not in flags:
        given["exclude"] = "weight, number"
    settings = read_settings({}, {**given, "cache": cache, **flags})
    assert not isinstance(settings, list), settings
    return load_data(settings, model=str(folder / "m.model"))


def bits(data: TrainingData) -> list[Any]:
    """All that a training reads of data, and the weights that it comes to."""
    outputs = data.outputs if data.classes is None else len(data.classes)
    graph = layered(data.features, outputs, last="linear" if data.classes is None else "softmax")
    result = train(graph, data)
    parts = [part for part in (data.train, data.validation) if part is not None]
    return [
        data.fingerprint(),
        data.notes,
        data.encoding,
        data.normalizer.to_json(),
        data.scale,
        [
            None if each is None else (each.dtype, each.shape, each.tobytes())
            for part in parts
            for each in (part.matrix, part.index, part.targets, part.weights)
        ],
        {name: array.tobytes() for name, array in result.model.tensors.items()},
        result.report.metrics,
    ]


def kept_in(folder: Path) -> list[Path]:
    """The files of tables that are kept."""
    return sorted((folder / BESIDE).glob("*.table"))
