"""Net# and the languages of CNTK from Python: check, format, describe, compare; train and predict.

Everything that users import is here, and `docs/python.md` shows each name.  The package is lazy:
importing it loads neither numpy nor an editor's protocol, each name loads what it needs on first
use.

>>> import netsharp
>>> text = "input Data [4]; hidden H [8] from Data all; output Out [3] softmax from H all;"
>>> netsharp.check(text)
[]
>>> netsharp.describe(text)["parameters"]
67
"""

from __future__ import annotations

from netsharp_lsp import __version__ as __version__

# What follows is for type checkers and editors; below it is how the same names are loaded.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp._compiling import compile as compile
    from netsharp._experiments import experiment as experiment
    from netsharp._experiments import migrate as migrate
    from netsharp._runs import run as run
    from netsharp._settings import TrainSettings as TrainSettings
    from netsharp._texts import check as check
    from netsharp._texts import compare as compare
    from netsharp._texts import describe as describe
    from netsharp._texts import format as format
    from netsharp._training import load as load
    from netsharp._training import predict as predict
    from netsharp._training import save as save
    from netsharp._training import train as train
    from netsharp._values import Command as Command
    from netsharp._values import CommandResult as CommandResult
    from netsharp._values import Comparison as Comparison
    from netsharp._values import Difference as Difference
    from netsharp._values import Experiment as Experiment
    from netsharp._values import Migration as Migration
    from netsharp._values import Network as Network
    from netsharp._values import Node as Node
    from netsharp._values import Value as Value
    from netsharp_compile.compiled import CompiledNetwork as CompiledNetwork
    from netsharp_compile.refusal import CompileError as CompileError
    from netsharp_compile.schemes import QuantizationScheme as QuantizationScheme
    from netsharp_compile.tables import TransferTable as TransferTable
    from netsharp_compile.tables import transfer_table as transfer_table
    from netsharp_engine.data import DataError as DataError
    from netsharp_engine.model import Model as Model
    from netsharp_engine.model import ModelError as ModelError
    from netsharp_engine.model import Predictions as Predictions
    from netsharp_engine.train import Report as Report
    from netsharp_engine.train import TrainingError as TrainingError
    from netsharp_lsp.estimators import NetSharpClassifier as NetSharpClassifier
    from netsharp_lsp.estimators import NetSharpRegressor as NetSharpRegressor
    from netsharp_lsp.notebooks.shown import Specification as Specification
    from netsharp_lsp.specification import Diagnostic as Diagnostic
    from netsharp_lsp.specification import SpecificationError as SpecificationError
else:
    #: The module that each public name comes from.
    _HOMES = {
        "netsharp._compiling": ("compile",),
        "netsharp._experiments": ("experiment", "migrate"),
        "netsharp._runs": ("run",),
        "netsharp._settings": ("TrainSettings",),
        "netsharp._texts": ("check", "compare", "describe", "format"),
        "netsharp._training": ("load", "predict", "save", "train"),
        "netsharp._values": (
            *("Command", "CommandResult", "Comparison", "Difference", "Experiment"),
            *("Migration", "Network", "Node", "Value"),
        ),
        "netsharp_compile.compiled": ("CompiledNetwork",),
        "netsharp_compile.refusal": ("CompileError",),
        "netsharp_compile.schemes": ("QuantizationScheme",),
        "netsharp_compile.tables": ("TransferTable", "transfer_table"),
        "netsharp_engine.data": ("DataError",),
        "netsharp_engine.model": ("Model", "ModelError", "Predictions"),
        "netsharp_engine.train": ("Report", "TrainingError"),
        "netsharp_lsp.estimators": ("NetSharpClassifier", "NetSharpRegressor"),
        "netsharp_lsp.notebooks.shown": ("Specification",),
        "netsharp_lsp.specification": ("Diagnostic", "SpecificationError"),
    }
    _HOME = {name: home for home, names in _HOMES.items() for name in names}
    _NEED_SKLEARN = _HOMES["netsharp_lsp.estimators"]

    def __getattr__(name):
        if name == "__all__":
            return _names()
        if name == "load_ipython_extension":  # What `%load_ext netsharp` asks for.
            from netsharp._notebook import register

            return register
        if name not in _HOME:
            raise AttributeError(f"module 'netsharp' has no attribute '{name}'")
        from importlib import import_module

        try:
            value = getattr(import_module(_HOME[name]), name)
        except ImportError as error:
            missing = (error.name or "").partition(".")[0]
            if name not in _NEED_SKLEARN or missing != "sklearn":
                raise
            raise ImportError(
                f"netsharp.{name} needs scikit-learn: pip install 'netsharp[sklearn]'."
            ) from None
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*_names(), *(name for name in globals() if name.startswith("__"))})

    def _names():
        """Return the available public names; without scikit-learn there are no estimators."""
        from importlib.util import find_spec

        left_out = () if find_spec("sklearn") else _NEED_SKLEARN
        return sorted({"__version__", *_HOME}.difference(left_out))
