"""Training: settings, optimisers, the loop.

It knows graphs and tables, no language, and no files but those that the settings name.  Names are
imported on first use, so that reading settings loads no network.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netsharp_engine.train.examining.start import TrainingStart
    from netsharp_engine.train.failures import TrainingError
    from netsharp_engine.train.interrupt import catch_interrupts
    from netsharp_engine.train.loading.load import load_data
    from netsharp_engine.train.preparation import TrainingData, prepare
    from netsharp_engine.train.report import Report
    from netsharp_engine.train.runlog import RunLog, event_line
    from netsharp_engine.train.session import (
        TrainingResult,
        examine,
        resume,
        settings_to_resume,
        train,
        train_further,
    )
    from netsharp_engine.train.settings import TrainingSettings, read_settings, restore_settings
    from netsharp_engine.train.settings.keys import KEYS, Key
    from netsharp_engine.train.steps.quantizing import TableMaker

__all__ = [
    "KEYS",
    "Key",
    "Report",
    "RunLog",
    "TableMaker",
    "TrainingData",
    "TrainingError",
    "TrainingResult",
    "TrainingSettings",
    "TrainingStart",
    "catch_interrupts",
    "event_line",
    "examine",
    "load_data",
    "prepare",
    "read_settings",
    "restore_settings",
    "resume",
    "settings_to_resume",
    "train",
    "train_further",
]

_HOMES = {
    "examining.start": ("TrainingStart",),
    "failures": ("TrainingError",),
    "interrupt": ("catch_interrupts",),
    "loading.load": ("load_data",),
    "preparation": ("TrainingData", "prepare"),
    "report": ("Report",),
    "runlog": ("RunLog", "event_line"),
    "session": (
        "TrainingResult",
        "examine",
        "resume",
        "settings_to_resume",
        "train",
        "train_further",
    ),
    "settings": ("TrainingSettings", "read_settings", "restore_settings"),
    "settings.keys": ("KEYS", "Key"),
    "steps.quantizing": ("TableMaker",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
