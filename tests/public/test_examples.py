"""Every example is in order, trains by its own run file, and learns what it should."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: What the validation rows must reach: accuracy, or R2 for a regression.
FLOORS = {
    "digits": ("accuracy", 0.96),
    "iris": ("accuracy", 0.9),
    "diabetes": ("r2", 0.3),
    "siamese": ("accuracy", 0.88),
    "vision": ("accuracy", 0.9),
}


def netsharp(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "netsharp_lsp", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_all_are_in_order() -> None:
    assert netsharp("fmt", "--check", ".", folder=EXAMPLES).returncode == 0
    done = netsharp("check", ".", folder=EXAMPLES)
    assert done.returncode == 0, done.stdout


@pytest.mark.costly
@pytest.mark.parametrize("name", FLOORS)
def test_it_learns(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    log = folder / "run.jsonl"
    done = netsharp("run", f"{name}.nn", "--log", log.name, folder=folder)
    assert done.returncode == 0, done.stderr
    end = json.loads(log.read_text().splitlines()[-1])
    assert end["event"] == "end"
    key, floor = FLOORS[name]
    assert end["validation"][key] >= floor


@pytest.mark.costly
def test_the_guides_digit_network_learns() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "digits29" / "train.py"), "2"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout.split()[2].rstrip("%")) >= 95


@pytest.mark.costly
def test_the_patents_network_learns_one_by_one_and_in_batches() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "puri" / "train.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    shares = [float(line.split(": ")[1].split("%")[0]) for line in done.stdout.splitlines()]
    assert len(shares) == 2
    assert min(shares) >= 95


def test_made_tables_are_what_their_script_makes(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    made = [
        tmp_path / "examples" / path for path in ("siamese/pairs.csv.gz", "vision/scenes.csv.gz")
    ]
    for path in made:
        path.unlink()
    script = tmp_path / "examples" / "make_tables.py"
    subprocess.run([sys.executable, str(script)], check=True)
    for path in made:
        original = EXAMPLES / path.relative_to(tmp_path / "examples")
        assert gzip.decompress(path.read_bytes()) == gzip.decompress(original.read_bytes())


def test_every_data_set_names_source_and_licence() -> None:
    for data in EXAMPLES.rglob("*.csv*"):
        text = (data.parent / "SOURCE.md").read_text()
        assert "Licence" in text or "licence" in text
