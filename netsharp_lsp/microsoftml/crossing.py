"""The calls of R's package netsharp, on columns as bytes, in R's names and words.

Bytes cross between R and Python whatever the versions of numpy and reticulate; models are files'
bytes, so that no object of Python is held by R.  It knows no R beyond names and numbers.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from netsharp_engine.host_arguments import ARGUMENTS, OPTIMIZERS
from netsharp_engine.model import ModelError, save_model
from netsharp_engine.plain_files import open_plain
from netsharp_lsp.language import read_model
from netsharp_lsp.microsoftml.learning import NeuralNetwork, rx_neural_network
from netsharp_lsp.microsoftml.plain import PlainFactor, PlainFrame
from netsharp_lsp.microsoftml.scoring import scored_frame
from netsharp_lsp.microsoftml.values import (
    HostOptimizer,
    adadelta_optimizer,
    concat,
    sgd_optimizer,
)

#: A column as it crosses: "name", "kind", "values" (bytes) and "levels".
Crossed = dict[str, Any]
#: What calls and arguments are called in R, by their names in Python.
R_NAMES = {
    **{row.python: row.r for row in (*ARGUMENTS, *OPTIMIZERS) if row.r and row.python},
    "rx_neural_network": "rxNeuralNet",
    "rx_predict": "rxPredict",
    "sgd_optimizer": "sgd",
    "adadelta_optimizer": "adaDeltaSgd",
    "extra_vars_to_write": "extraVarsToWrite",
    "True": "TRUE",
    "False": "FALSE",
    "None": "NULL",
}
_PYTHON_NAMES = {row.r: row.python for row in (*ARGUMENTS, *OPTIMIZERS) if row.r}
_RULES: Mapping[str, Callable[..., HostOptimizer]] = {
    "sgd": sgd_optimizer,
    "adadelta": adadelta_optimizer,
}
#: What is quoted, which stays, and words.
_QUOTED_OR_WORD = re.compile(r"'[^']*'|\w+")


def learned(
    formula: str,
    columns: Sequence[Crossed],
    names: Sequence[str],
    arguments: Mapping[str, Any],
    rule: Mapping[str, Any],
    vectors: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Train a network on ``columns`` of a frame that has columns called ``names``.

    ``arguments`` have R's names, as the settings of the ``rule``, whose "name" says which it is;
    ``vectors`` are the columns of each vector.  Returns "model" (the bytes of a model file),
    "label", "features", "told" and "definition" (texts), "warnings"; or "error", a sentence.
    """

    def learn() -> dict[str, Any]:
        settings = _in_python(rule)
        network = rx_neural_network(
            formula,
            _frame(columns, names),
            optimizer=_RULES[settings.pop("name")](**settings),
            ml_transforms=[concat(vectors)] if vectors else None,
            **_in_python(arguments),
        )
        return {
            "model": _stored(network),
            "label": network.label,
            "features": list(network.features),
            "told": repr(network.model_),
            "definition": network.model_.specification.rstrip(),
        }

    return _answered(learn)


def scored(
    model: bytearray,
    trained: Mapping[str, Any],
    columns: Sequence[Crossed],
    names: Sequence[str],
    *,
    whole: bool,
    extra: Sequence[str],
    suffix: str,
) -> dict[str, Any]:
    """Score rows by the bytes of a model; ``trained`` has "type", "label" and "features".

    Returns "columns", in their order, of which those that R has itself come by name alone, and
    "warnings"; or "error", a sentence.
    """

    def score() -> dict[str, Any]:
        network = NeuralNetwork(
            _restored(model),
            "",
            trained["type"],
            trained["label"],
            tuple(trained["features"]),
        )
        classes = network.model_.classes or ()
        scores = scored_frame(
            network, _frame(columns, names), whole=whole, extra=extra, suffix=suffix, named=classes
        )
        return {"columns": [_crossed(name, scores[name]) for name in scores.columns]}

    return _answered(score)


def in_words_of_r(sentence: str) -> str:
    """Return a sentence with the names of calls and arguments in R; quoted text stays."""
    return _QUOTED_OR_WORD.sub(lambda found: R_NAMES.get(found[0], found[0]), sentence)


def _answered(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the result of some work with its warnings, or the sentence of its refusal."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            answer = work()
        except ValueError as error:
            answer = {"error": in_words_of_r(str(error))}
        except OSError as error:
            answer = {"error": f"{error.filename} cannot be read: {error.strerror or error}."}
    warned = [one.message for one in caught if isinstance(one.message, UserWarning)]
    return {**answer, "warnings": [in_words_of_r(str(one)) for one in warned]}


def _in_python(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by their names in Python; R's numbers have a point, whole ones none here."""
    return {
        _PYTHON_NAMES.get(name, name): int(value)
        if isinstance(value, float) and value.is_integer()
        else value
        for name, value in arguments.items()
    }


def _frame(columns: Sequence[Crossed], names: Sequence[str]) -> PlainFrame:
    arrived = {column["name"]: _arrived(column) for column in columns}
    return PlainFrame({name: arrived.get(name) for name in names})


def _arrived(column: Crossed) -> Any:
    """Return a column that R sent: numbers, truths, texts, or a factor."""
    values = bytes(column["values"])
    if column["kind"] == "numbers":
        return np.frombuffer(values, "<f8")
    if column["kind"] == "truths":
        truths = np.frombuffer(values, "<f8")
        absent = np.isnan(truths)
        return np.where(absent, None, truths == 1) if absent.any() else truths == 1
    codes = np.frombuffer(values, "<i4").astype(np.int32)
    factor = PlainFactor(np.array(column["levels"], dtype=np.str_), codes)
    return factor if column["kind"] == "factor" else factor.astype(object)


def _crossed(name: str, values: Any) -> Crossed:
    """Return a column as it goes to R; nothing but its name where that has the values."""
    if values is None:
        return {"name": name, "kind": "own"}
    array = np.asarray(values)
    present = [value for value in array.tolist() if value is not None]
    if present and all(isinstance(value, str) for value in present):
        levels = list(dict.fromkeys(present))
        places = {level: place for place, level in enumerate(levels)}
        codes = np.array([places.get(value, -1) for value in array.tolist()], dtype="<i4")
        return {"name": name, "kind": "texts", "values": bytearray(codes), "levels": levels}
    truths = bool(present) and all(isinstance(value, bool) for value in present)
    numbers = np.array([np.nan if v is None else v for v in array.tolist()], dtype="<f8")
    kind = "truths" if truths else "numbers"
    return {"name": name, "kind": kind, "values": bytearray(numbers), "levels": []}


def _stored(network: NeuralNetwork) -> bytearray:
    """Return the bytes of a model file, without the state that only resuming its run needs."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save_model(network.model_, str(path), state=False)
        with open_plain(str(path)) as stream:
            return bytearray(stream.read())


def _restored(model: bytearray) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(model)
        try:
            return read_model(str(path))
        except ModelError as error:
            raise ValueError(str(error).replace(str(path), "The model")) from None
