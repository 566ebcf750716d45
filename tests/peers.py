"""Marks of tests that need a package which an installation may lack: one place for the reasons."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def needs(package: str, reason: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test where a package is not installed."""
    return pytest.mark.skipif(find_spec(package) is None, reason=reason)


TORCH = needs("torch", "PyTorch is in the dependency group 'peers'")
ONNX_RUNTIME = needs("onnxruntime", "onnxruntime is in the dependency group 'peers'")
