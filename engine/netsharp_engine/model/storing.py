"""A model as a file: safetensors with JSON metadata.

Reading takes numbers and text and executes nothing.  The graph is built from the specification by
the caller, since no language is known here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netsharp_engine import stored
from netsharp_engine.data import Encoding, Normalizer, stream_rows
from netsharp_engine.data.labels import Labels
from netsharp_engine.data.scaling import TargetScale
from netsharp_engine.excerpt import excerpt
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.model.trained import Model
from netsharp_engine.model_file import ModelError, read_model, read_network, write_file
from netsharp_engine.train.report import Report
from netsharp_engine.train.settings import restore_settings
from netsharp_engine.train.state import Tensors, TrainingState

STATE = "state/"
GraphBuilder = Callable[[str, dict[str, Any]], Graph]


def save_model(model: Model, path: str, *, state: bool = True) -> None:
    """Write a model file: aside first, then renamed, so that no partial file is ever seen.

    Without ``state`` the run cannot be resumed and the file is smaller.  ModelError when it
    cannot be written.
    """
    # What reads rows by other means has a network of a file, and no text to write.
    if model._rows is not stream_rows:
        raise ModelError("This model has no specification: only the run that trains it writes it.")
    texts: dict[str, Any] = {
        "specification": model.specification,
        "context": model.context,
        "settings": model.settings.to_json(),
        "encoding": model.encoding.to_json(),
        "normalizer": model.normalizer.to_json(),
        "classes": None if model.classes is None else list(model.classes),
        "baseline": list(model.answer),
        "reports": [report.to_json() for report in model.reports],
        "history": model.history,
        "labels": None if model.labels is None else model.labels.to_json(),
        "scale": None if model.scale is None else model.scale.to_json(),
    }
    if model.trained_on:
        texts["trained_on"] = model.trained_on
    tensors = dict(model.tensors)
    if state and model.state is not None:
        texts["state"] = model.state.to_json()
        for vector, values in model.state.vectors.items():
            tensors |= {f"{STATE}{vector}/{name}": array for name, array in values.items()}
    write_file(path, texts, tensors)


def load_model(path: str, build_graph: GraphBuilder | None = None) -> Model:
    """Read a model file.

    ``build_graph(specification, context)`` makes the network, which must fit the weights;
    without it ``bind`` one before predicting.  ModelError, a sentence, for a file that is
    damaged, foreign or of a newer version.
    """
    texts, tensors = read_model(path)
    try:
        model = _restored(texts, tensors)
    except ValueError as error:
        raise ModelError(f"{path} is damaged: {error}. Train again or take a copy.") from None
    if build_graph is not None:
        try:
            model.bind(build_graph(model.specification, model.context))
        except (GraphError, ModelError) as error:
            raise ModelError(f"{path}: {error}") from None
    return model


def _restored(texts: dict[str, Any], tensors: Tensors) -> Model:
    """Return the model of a file's entries; ValueError where they are not one."""
    settings = restore_settings(stored.table(texts, "settings"))
    if isinstance(settings, list):
        raise ValueError(settings[0].removesuffix("."))
    specification, context = read_network(texts)
    classes = stored.optional(texts, "classes", stored.items)
    if classes == []:
        raise ValueError("it has no classes")
    reports = [stored.table({"report": each}, "report") for each in stored.items(texts, "reports")]
    answer = stored.items(texts, "baseline")
    model = Model(
        specification=specification,
        context=context,
        settings=settings,
        encoding=Encoding.from_json(stored.table(texts, "encoding")),
        normalizer=Normalizer.from_json(stored.table(texts, "normalizer")),
        classes=None
        if classes is None
        else tuple(stored.as_text(each, "class") for each in classes),
        answer=tuple(stored.as_number(each, "baseline") for each in answer),
        tensors={name: array for name, array in tensors.items() if not _of_state(name)},
        reports=[Report.from_json(report) for report in reports],
        history=[_event(each) for each in stored.items(texts, "history")],
    )
    if model.classes is not None and texts.get("labels") is not None:
        model.labels = Labels.from_json(stored.table(texts, "labels"), model.classes)
    if model.classes is None and texts.get("scale") is not None:
        model.scale = TargetScale.from_json(stored.table(texts, "scale"))
        if len(model.scale.mean) != len(model.answer):
            raise ValueError("its label has another number of scales")
    if texts.get("state") is not None:
        table = stored.table(texts, "state")
        model.state = TrainingState.from_json(table, _vectors(tensors))
    if texts.get("trained_on") is not None:
        model.trained_on = stored.text(texts, "trained_on")
    for name, array in model.tensors.items():
        if not np.isfinite((array.min(initial=0), array.max(initial=0))).all():
            raise ValueError(f"the weights '{excerpt(name)}' hold a number that is not finite")
    steps = np.concatenate((model.normalizer.offset, model.normalizer.scale))
    if np.any(np.abs(steps) > np.finfo(settings.dtype).max):
        raise ValueError(f"its normalizer goes beyond {settings.dtype}")
    if context.get("features") != model.encoding.features:
        raise ValueError("context and encoding have different numbers of features")
    if len(model.normalizer.offset) != model.encoding.features:
        raise ValueError("normaliser and encoding have different numbers of features")
    return model


def _event(values: Any) -> dict[str, Any]:
    """Return an epoch of the history; ValueError where a value that is drawn or reported is not a
    number.
    """
    event = dict(stored.table({"event": values}, "event"))
    for key in event.keys() & {"metrics", "validation"}:
        event[key] = stored.numbers(event, key, finite=False)
    for key in event.keys() & {"loss", "rate", "seconds"}:
        event[key] = stored.number(event, key, finite=False)
    for key in event.keys() & {"epoch", "step", "samples"}:
        event[key] = stored.whole(event, key)
    return event


def _of_state(name: str) -> bool:
    """Return whether a tensor is ``state/VECTOR/PARAMETER``; a layer may itself be called
    ``state``.
    """
    return name.startswith(STATE) and name.count("/") > 2


def _vectors(tensors: Tensors) -> dict[str, Tensors]:
    """Return the arrays below ``state/VECTOR/`` by vector and parameter name."""
    vectors: dict[str, Tensors] = {}
    for name, array in tensors.items():
        if _of_state(name):
            vector, _, parameter = name.removeprefix(STATE).partition("/")
            vectors.setdefault(vector, {})[parameter] = array
    return vectors
