"""Small learnable tables."""

from __future__ import annotations

import numpy as np

from netsharp_engine.data import Table

#: Settings of tests whose steps are followed by hand: along the gradient, in the units of the data.
BY_HAND = {"optimizer": "sgd", "batch_size": 1, "normalizer": "minmax", "init": "uniform"}
BY_HAND |= {"scale_label": False}


def blobs(rows=120, classes=3, seed=0, weights=None):
    """Points around one centre per class, in two dimensions plus one of noise."""
    random = np.random.default_rng(seed)
    codes = np.arange(rows) % classes
    angle = 2 * np.pi * codes / classes
    centre = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    names = np.array(["blue", "green", "red", "white"])[codes]
    x = centre + random.normal(scale=0.25, size=(rows, 3))
    return Table.from_arrays(x, names, weights=weights)


def line(rows=100, seed=0, noise=0.05):
    """A number that depends on two features."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, size=(rows, 2))
    y = 3 * x[:, 0] - 2 * x[:, 1] + 1 + random.normal(scale=noise, size=rows)
    return Table.from_arrays(x, y, task="regression")
