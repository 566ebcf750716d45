"""`python -m tests.editors.pictures` puts the best of the last `make editors` into docs/."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TAKEN = ROOT / "out" / "editors"
#: The picture of the documents, and the one that a scenario takes.
PICTURES = {
    "editor-hover.png": "editing/hover.png",
    "editor-fix.png": "editing/quick-fix.png",
    "editor-python.png": "editing/python.png",
    "editor-network.png": "views/network-cursor.png",
    "editor-training.png": "views/training.png",
    "editor-device.png": "device/report.png",
    "editor-cntk.png": "experiment/network.png",
}


def main() -> int:
    """Copy every picture, or none and say which is missing."""
    missing = [taken for taken in PICTURES.values() if not (TAKEN / taken).exists()]
    if missing:
        print(f"{', '.join(missing)}: not taken yet. Run 'make editors' first.", file=sys.stderr)
        return 1
    for name, taken in PICTURES.items():
        shutil.copy(TAKEN / taken, ROOT / "docs" / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
