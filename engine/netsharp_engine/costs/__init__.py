"""What training takes on this machine, in seconds and bytes, without training: rates that are
measured once and kept, and what a run would do of each kind of work.

It knows graphs and settings, no language and no row of data.
"""

from __future__ import annotations

from netsharp_engine.costs.calibration import Calibration, Machine, calibrated
from netsharp_engine.costs.prediction import LayerCost, Prediction, predict

__all__ = ["Calibration", "LayerCost", "Machine", "Prediction", "calibrated", "predict"]
