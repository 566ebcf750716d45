"""The error of training that cannot start: a sentence for people."""

from __future__ import annotations


class TrainingError(ValueError):
    """Network, data and settings do not fit; ``str(error)`` says why and what to do."""
