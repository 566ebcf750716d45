"""The error of training that cannot start: a sentence for people."""

from __future__ import annotations


class TrainingError(ValueError):
    """Network, data and settings do not fit, or a run diverged; ``str(error)`` says what to do.

    Since
    -----
    0.1
    """
