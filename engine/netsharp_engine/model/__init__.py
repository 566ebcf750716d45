"""Trained models (`trained`), their files (`storing`), answers for files (`file_evaluation`)."""

from netsharp_engine.data.answers import Predictions
from netsharp_engine.model.file_evaluation import evaluate, evaluate_table, predict_stream
from netsharp_engine.model.storing import load_model, save_model
from netsharp_engine.model.trained import Model
from netsharp_engine.model_file import ModelError

__all__ = [
    "Model",
    "ModelError",
    "Predictions",
    "evaluate",
    "evaluate_table",
    "load_model",
    "predict_stream",
    "save_model",
]
