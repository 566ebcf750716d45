"""The data sets that decided our defaults (every second one), and that report them (the others).

scikit-learn ships or generates them, or has them as files of its tests (OpenML's, as ARFF); none is
downloaded.  Texts become indicators and gaps means before anybody is measured, so that all
contestants get the same numbers.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn
from sklearn import datasets

Rows = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
FOLDER = os.path.join(os.path.dirname(sklearn.__file__), "datasets", "tests", "data", "openml")
NAMES_OF_PEOPLE = ("name", "ticket", "cabin", "boat", "body", "home.dest")


class DataSet(NamedTuple):
    """A name, "classes" or "numbers", and what makes features [rows, columns] and labels."""

    name: str
    task: str
    load: Callable[[], Rows]


def openml(place: str, label: str, without: tuple[str, ...] = ()) -> Callable[[], Rows]:
    """What reads an ARFF file of scikit-learn's tests."""
    return lambda: _numbers(os.path.join(FOLDER, place), label, without)


def _numbers(path: str, label: str, without: tuple[str, ...]) -> Rows:
    names: list[str] = []
    texts: list[str] = []
    with gzip.open(path, "rt") as stream:
        rows = list(_rows(stream, names, texts))
    frame = pd.DataFrame(rows, columns=names).replace("?", np.nan)
    for name in set(names) - set(texts):
        frame[name] = pd.to_numeric(frame[name])
    frame = frame[frame[label].notna()]
    labels = frame.pop(label).to_numpy()
    frame = frame.drop(columns=list(without))
    coded = pd.get_dummies(frame, columns=[name for name in frame if name in texts]).astype(float)
    return coded.fillna(coded.mean()).to_numpy(), labels


def _rows(stream: Iterator[str], names: list[str], texts: list[str]) -> Iterator[list[str]]:
    """The cells of each row; names of columns, and of those that hold texts, are collected."""
    in_data = False
    for line in map(str.strip, stream):
        if not line or line.startswith("%"):
            continue
        if in_data:
            quote = "'" if "'" in line and '"' not in line else '"'
            yield next(csv.reader([line], quotechar=quote, skipinitialspace=True))
            continue
        in_data = line.lower().startswith("@data")
        found = re.match(r"@attribute\s+('[^']+'|\"[^\"]+\"|\S+)\s+(.*)", line, re.IGNORECASE)
        if found:
            names.append(found[1].strip("'\""))
            if found[2].lower().startswith(("{", "string")):
                texts.append(names[-1])


def _skewed() -> Rows:
    """Features with long tails: most values are small, a few hundreds of times as large."""
    features, labels = datasets.make_classification(800, 10, n_informative=6, random_state=5)
    return np.exp(1.2 * features), labels


def _bundled(name: str, **more: Any) -> Callable[[], Rows]:
    return lambda: getattr(datasets, f"load_{name}")(return_X_y=True, **more)


def _made(name: str, rows: int, seed: int = 1, **more: Any) -> Callable[[], Rows]:
    return lambda: getattr(datasets, f"make_{name}")(n_samples=rows, random_state=seed, **more)


SETS = (
    DataSet("iris", "classes", _bundled("iris")),
    DataSet("wine", "classes", _bundled("wine")),
    DataSet("breast cancer", "classes", _bundled("breast_cancer")),
    DataSet("digits", "classes", _bundled("digits")),
    DataSet("moons", "classes", _made("moons", 500, noise=0.3)),
    DataSet("circles", "classes", _made("circles", 500, noise=0.15, factor=0.5)),
    DataSet("blobs", "classes", _made("blobs", 600, n_features=10, centers=8, cluster_std=6)),
    DataSet("clusters", "classes", _made("classification", 1000, n_informative=5, n_classes=3)),
    DataSet("shells", "classes", _made("gaussian_quantiles", 1000, n_features=5, n_classes=3)),
    DataSet("hastie", "classes", _made("hastie_10_2", 2000)),
    DataSet("wide", "classes", _made("classification", 200, n_features=100, n_informative=10)),
    DataSet("skewed", "classes", _skewed),
    DataSet(
        "titanic",
        "classes",
        openml("id_40945/data-v1-dl-16826755.arff.gz", "survived", NAMES_OF_PEOPLE),
    ),
    DataSet("penguins", "classes", openml("id_42585/data-v1-dl-21854866.arff.gz", "species")),
    DataSet("chess", "classes", openml("id_3/data-v1-dl-3.arff.gz", "class")),
    DataSet("glass", "classes", openml("id_40675/data-v1-dl-4965250.arff.gz", "class")),
    DataSet("diabetes", "numbers", _bundled("diabetes", scaled=False)),
    DataSet("cpu", "numbers", openml("id_561/data-v1-dl-52739.arff.gz", "class")),
    DataSet("linear", "numbers", _made("regression", 500, n_features=20, noise=10)),
    DataSet("friedman 1", "numbers", _made("friedman1", 500, noise=1)),
    DataSet("friedman 2", "numbers", _made("friedman2", 500, noise=50)),
    DataSet("friedman 3", "numbers", _made("friedman3", 500, noise=0.1)),
    DataSet("three numbers", "numbers", _made("regression", 500, 6, n_features=10, n_targets=3)),
    DataSet("swiss roll", "numbers", _made("swiss_roll", 600, noise=1)),
)
#: Half of the sets decided the defaults; the others were held out.
DECIDING, REPORTED = SETS[::2], SETS[1::2]
