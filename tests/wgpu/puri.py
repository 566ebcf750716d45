"""The network of the patent, exactly, as its example in BrainScript says it; and digits for it."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np

from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cntk.brainscript.building import network

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def puri(*criteria):
    """Its graph, with criteria by name: the first is trained."""
    built = network("{" + (EXAMPLES / "puri" / "puri.bs").read_text(encoding="utf-8") + "}")
    roots = [built.nodes[name] for name in criteria]
    return lowered(built, roots, roots)


@cache
def digits():
    """Pictures [rows, 841] from -1 to 1, and what they show."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        from make_tables import enlarge, read_digits
    finally:
        sys.path.remove(str(EXAMPLES))
    pictures, shown = read_digits()
    pictures, shown = pictures[:600], shown[:600]
    matrix = enlarge(pictures, 29, 29).reshape(len(pictures), -1)
    matrix = matrix - matrix.min()
    return np.float32(2 * matrix / matrix.max() - 1), np.asarray(shown).astype(int)
