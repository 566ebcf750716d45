"""Peers that tests compare with and an installation may lack: marks and imports that skip, in one
place, with the same reason everywhere.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

REASONS = {
    "torch": "PyTorch is in the dependency group 'peers'",
    "onnxruntime": "onnxruntime is in the dependency group 'peers'",
}


def peer(package: str) -> Any:
    """Return a module of a peer; skip the test, or the file of tests, without it."""
    return pytest.importorskip(package, reason=REASONS[package.partition(".")[0]])


def _needs(package: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_spec(package) is None, reason=REASONS[package])


needs_torch, needs_runtime = map(_needs, REASONS)
