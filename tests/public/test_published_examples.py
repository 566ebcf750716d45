"""The examples of the hosts' reference in each form: by the calls, from scripts of Python, R and
SQL, as files, and beside the published log.
"""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas", reason="pandas is not installed: group 'test'")

import netsharp
from tests.cli.command_line import netsharp as command

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMPARE = runpy.run_path(str(EXAMPLES / "microsoftml" / "compare.py"))
#: A seed whose errors are within 10 % of the published ones, and what is scored of each call.
CALLS = {
    "cases": (1, ["isCase", "PredictedLabel", "Score", "Probability"]),
    "flowers": (4, ["species", "PredictedLabel", "Score.0", "Score.1", "Score.2"]),
    "ratings": (1, ["rating", "Score"]),
}
#: How each is run: from a script, or from the files that import writes.
FORMS = ("published.py::{}", "published.R::{}", "published.sql::{}", "{}.nn")
TABLES = {"cases": "infert.csv", "flowers": "../iris/iris.csv", "ratings": "attitude.csv"}

pytestmark = pytest.mark.filterwarnings("ignore:.*no better than:UserWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the examples."""
    place = tmp_path_factory.mktemp("examples")
    for name in ("microsoftml", "iris"):
        shutil.copytree(EXAMPLES / name, place / name)
    return place / "microsoftml"


@pytest.fixture(scope="module")
def script(folder: Path) -> dict[str, Any]:
    """What the script leaves behind when it is run in its folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return runpy.run_path("published.py")


@pytest.mark.costly
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CALLS)
def test_every_form_gives_the_network_of_the_call(
    name: str, form: str, script: dict[str, Any], folder: Path
) -> None:
    network = script[name]
    weights = sum(each.size for each in network.model_.tensors.values())
    assert weights == COMPARE["PUBLISHED"][name][0]
    # The rows of a query are exported to a table first.
    flags = ("--train", TABLES[name]) if form == "published.sql::{}" else ()
    stored = ("--root", "..", "--model", "trained.safetensors")
    done = command("run", form.format(name), *flags, *stored, cwd=folder)
    assert done.code == 0, done.err
    kept = netsharp.load(folder / "trained.safetensors").tensors
    assert set(kept) == set(network.model_.tensors)
    for key, values in network.model_.tensors.items():
        np.testing.assert_array_equal(values, kept[key], err_msg=key)


def test_the_files_are_those_that_import_writes(folder: Path) -> None:
    place = folder.parent / "imported"
    shutil.copytree(folder, place)
    kept = {path.name: path.read_bytes() for path in place.iterdir() if path.stem in CALLS}
    assert len(kept) == 6
    for name in kept:
        (place / name).unlink()
    assert command("import", "published.py", cwd=place).code == 0
    assert kept == {name: (place / name).read_bytes() for name in kept}


@pytest.mark.costly
def test_scores_have_the_published_columns(
    script: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"cases": "women", "flowers": "iris", "ratings": "attitude"}
    for name, (_, columns) in CALLS.items():
        scores = script["rx_predict"](
            script[name], script[rows[name]], extra_vars_to_write=columns[:1]
        )
        assert list(scores) == columns
        assert len(scores) == len(script[rows[name]])
    assert capsys.readouterr().out == ""


@pytest.mark.costly
@pytest.mark.parametrize("name", CALLS)
def test_a_seed_of_five_comes_within_ten_percent_of_the_published_log(name: str) -> None:
    published = COMPARE["PUBLISHED"][name]
    here = COMPARE["log_of"](name, CALLS[name][0])
    assert here[:2] == published[:2]
    assert COMPARE["distance"](here, published) < 0.1, here


def test_no_package_holds_the_tables_of_others() -> None:
    manifest = (EXAMPLES.parent / "MANIFEST.in").read_text()
    packages = (EXAMPLES.parent / "pyproject.toml").read_text()
    assert "examples" not in manifest
    assert '"examples' not in packages
