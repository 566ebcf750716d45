"""The R package of `r/`: its own tests by R, its scores beside Python's, its tables beside ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netsharp
from netsharp.microsoftml import rx_neural_network, rx_predict, sgd_optimizer
from netsharp_engine.host_arguments import ARGUMENTS, OPTIMIZERS
from netsharp_lsp.microsoftml.refused import FUNCTIONS
from tests.conftest import SEED
from tests.r.page import BLOCK, PAGE, updated

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "r"
EXPORTS = set(re.findall(r"^export\((\w+)\)$", (PACKAGE / "NAMESPACE").read_text("utf-8"), re.M))


def _reason() -> str:
    """Why R cannot be tried here; nothing where it can."""
    if shutil.which("Rscript") is None:
        return "there is no Rscript (make r installs it)"
    asked = ["Rscript", "-e", 'quit(status = !requireNamespace("reticulate", quietly = TRUE))']
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        return "R has no package reticulate (make r installs it)"
    return ""


REASON = _reason()
R = pytest.mark.skipif(bool(REASON), reason=REASON)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of R with the package in it, built from a copy: R writes beside its sources."""
    folder = tmp_path_factory.mktemp("library")
    source = shutil.copytree(PACKAGE, tmp_path_factory.mktemp("source") / "r")
    install = ["R", "CMD", "INSTALL", f"--library={folder}", str(source)]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def run_r(
    library: Path, folder: Path, *arguments: str, python: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """Run Rscript in a folder, with a Python that has our package unless another is named."""
    environment = {**os.environ, "R_LIBS": str(library), "RETICULATE_PYTHON": python}
    return subprocess.run(
        ["Rscript", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@R
@pytest.mark.costly
@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "tests").glob("*.R")), ids=lambda path: path.stem
)
def test_its_own_tests(path: Path, library: Path, tmp_path: Path) -> None:
    shutil.copytree(path.parent, tmp_path / "tests")
    done = run_r(library, tmp_path / "tests", path.name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SKIPPED" not in done.stdout


def rows() -> pd.DataFrame:
    """60 rows: two numbers, one of which is missing at times, texts, a truth, and labels."""
    random = np.random.default_rng(SEED)
    frame = pd.DataFrame(
        {
            "a": random.normal(size=60).round(3),
            "b": random.integers(0, 9, size=60).astype(float),
            "place": random.choice(["wood", "field", "shore"], size=60),
            "wet": random.random(60) < 0.5,
        }
    )
    frame["number"] = (2 * frame["a"] - frame["b"]).round(3)
    frame["kind"] = np.select([frame["b"] < 3, frame["b"] < 6], ["low", "mid"], "high")
    frame["large"] = frame["b"] > 4
    frame.loc[[5, 17], "a"] = np.nan
    return frame


LEVELS = ["mid", "high", "low"]
CALLS = {
    "large": ("binary", "", {}),
    "kind": (
        "multiClass",
        ", optimizer = sgd(learningRate = 0.05, momentum = 0.5, nag = TRUE)",
        {"optimizer": sgd_optimizer(learning_rate=0.05, momentum=0.5, nag=True)},
    ),
    "number": (
        "regression",
        ', normalize = "no", numHiddenNodes = 7, initWtsDiameter = 0.4, miniBatchSize = 4',
        {"normalize": "No", "num_hidden_nodes": 7, "init_wts_diameter": 0.4, "mini_batch_size": 4},
    ),
}


def _words(labels: pd.Series[Any]) -> list[str]:
    """Labels as texts, of R and of Python alike."""
    return ["" if pd.isna(one) else str(one).lower() for one in labels]


@R
@pytest.mark.costly
@pytest.mark.filterwarnings("ignore:.*no better than:UserWarning")
@pytest.mark.parametrize("label", CALLS)
def test_scores_are_those_of_python(label: str, library: Path, tmp_path: Path) -> None:
    method, in_r, in_python = CALLS[label]
    frame = rows()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    script = f"""
    library(netsharp)
    rows <- read.csv("rows.csv")
    rows$wet <- rows$wet == "True"
    rows$large <- rows$large == "True"
    rows$kind <- factor(rows$kind, levels = c({", ".join(f"'{level}'" for level in LEVELS)}))
    network <- rxNeuralNet({label} ~ a + b + place + wet, rows, type = "{method}",
                           numIterations = 8, verbose = 0{in_r})
    scores <- rxPredict(network, rows, suffix = ".nn")
    for (name in names(scores)) {{
      if (is.numeric(scores[[name]])) scores[[name]] <- sprintf("%.17g", scores[[name]])
    }}
    write.csv(scores, "scores.csv", row.names = FALSE, quote = FALSE)
    """
    (tmp_path / "script.R").write_text(script)
    done = run_r(library, tmp_path, "script.R")
    assert done.returncode == 0, done.stderr
    frame["kind"] = pd.Categorical(frame["kind"], categories=LEVELS)
    arguments: dict[str, Any] = {"num_iterations": 8, "verbose": 0, **in_python}
    network = rx_neural_network(f"{label} ~ a + b + place + wet", frame, method, **arguments)
    expected = rx_predict(network, frame, suffix=".nn")
    found = pd.read_csv(tmp_path / "scores.csv")
    places = [f"Score.{place}.nn" for place in range(len(LEVELS))]
    names = dict(zip(places, [f"Score.{level}.nn" for level in LEVELS], strict=True))
    assert list(found) == [names.get(name, name) for name in expected]
    for name in expected:
        values = found[names.get(name, name)]
        if name == "PredictedLabel.nn":
            assert _words(values) == _words(expected[name])
        else:
            np.testing.assert_allclose(values, expected[name], rtol=1e-12, atol=0)
    assert found.isna().any(axis=1).sum() == 2


@R
def test_a_python_without_the_package_is_reported_in_a_sentence(
    library: Path, tmp_path: Path
) -> None:
    script = 'netsharp::rxNeuralNet(rating ~ ., attitude, "regression")'
    for python, reported in (
        ("/nowhere/python", "Error: R finds no Python, "),
        ("", "has no package"),
    ):
        if not python:
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", "empty"], cwd=tmp_path)
            python = str(tmp_path / "empty" / "bin" / "python")
        done = run_r(library, tmp_path, "-e", script, python=python)
        assert done.returncode == 1
        first, *rest = done.stderr.splitlines()
        assert reported in first
        assert "Install it with 'pip install netsharp'" in first
        assert rest == ["Execution halted"]


@R
def test_arguments_and_defaults_are_the_originals(library: Path, tmp_path: Path) -> None:
    script = """
    plain <- function(given) {
      pairs <- lapply(names(given), function(name) {
        value <- tryCatch(eval(given[[name]]), error = function(e) NULL)
        simple <- is.numeric(value) || is.logical(value) || is.character(value)
        shown <- if (simple) deparse(tolower(value[1])) else "null"
        sprintf('"%s": %s', name, shown)
      })
      cat("{", paste(pairs, collapse = ", "), "}\\n", sep = "")
    }
    library(netsharp)
    for (f in list(rxNeuralNet, sgd, adaDeltaSgd)) plain(formals(f))
    """
    (tmp_path / "script.R").write_text(script)
    done = run_r(library, tmp_path, "script.R")
    network, descent, adadelta = map(json.loads, done.stdout.splitlines())
    assert list(network)[:3] == ["formula", "data", "type"]
    assert set(network) == {row.r for row in ARGUMENTS if row.r}
    assert [*descent, *adadelta] == [row.r for row in OPTIMIZERS]
    rules = {"learningRate": "0.001", "momentum": "0", "nag": "false", "weightDecay": "0"}
    rules |= {"lRateRedRatio": "1", "lRateRedFreq": "100", "lRateRedErrorRatio": "0"}
    assert descent == rules
    assert adadelta == {"decay": "0.95", "conditioningConst": "1e-06"}
    reported = {row.r: row.default for row in ARGUMENTS if row.r and row.default is not None}
    # The optimiser is a call.
    del reported["optimizer"]
    assert {name: network[name] for name in reported} == {
        name: str(default).lower() for name, default in reported.items()
    }


@R
@pytest.mark.costly
def test_the_page_shows_what_r_prints(library: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) >= 5
    assert updated(text, library) == text


def test_the_version_is_that_of_the_python_package() -> None:
    version = re.search(r"^Version: (\S+)$", (PACKAGE / "DESCRIPTION").read_text("utf-8"), re.M)
    assert version is not None
    assert version[1] == netsharp.__version__


def test_other_learners_of_the_original_are_there_to_refuse() -> None:
    parts = [name.split("_") for name in FUNCTIONS if name.startswith("rx_")]
    learners = {"rx" + "".join(one.capitalize() for one in rest) for _, *rest in parts}
    assert len(learners) >= 7
    assert {name.lower() for name in learners} <= {name.lower() for name in EXPORTS}


def test_every_function_has_a_help_page() -> None:
    pages = "\n".join(path.read_text("utf-8") for path in (PACKAGE / "man").glob("*.Rd"))
    assert set(re.findall(r"\\alias\{(\w+)\}", pages)) >= EXPORTS
    assert len(EXPORTS) > 50
