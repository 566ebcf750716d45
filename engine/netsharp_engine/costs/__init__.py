"""The cost of training on this machine, in seconds and bytes, without training: rates that are
measured once and kept, and the work of a run by kinds.

It knows graphs and settings, and must not know languages or rows of data.
"""

from __future__ import annotations

from netsharp_engine.costs.calibration import Calibration, Machine, calibrated
from netsharp_engine.costs.prediction import LayerCost, Prediction, predict

__all__ = ["Calibration", "LayerCost", "Machine", "Prediction", "calibrated", "predict"]
