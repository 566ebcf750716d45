"""The interface of compiled networks: a model, an estimator or a file becomes integers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from netsharp._training import load, rows_of, trained_model
from netsharp_compile.compiled import CompiledNetwork, compile_model
from netsharp_compile.evaluating.gate import GateRows
from netsharp_compile.widths import CompileSettings
from netsharp_engine.data.table import Table, translate_classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp._training import FittedEstimator
    from netsharp_compile.calibrating.rows import LabelledRows
    from netsharp_compile.widths import Activations, Logits, Requantisation, Transfer, Weights
    from netsharp_engine.model import Model


def compile(
    model: Model | FittedEstimator | str | os.PathLike[str],
    calibration: Any,
    *,
    activations: Activations = "uint8",
    weights: Weights = "int8",
    logits: Logits = "int16",
    share_tables: bool = True,
    range: str = "operator",
    layers: Mapping[str, str] | None = None,
    requant: Requantisation = "auto",
    transfer: Transfer = "lut",
    big_tables: bool = False,
    holdout: tuple[Any, Any] | None = None,
    max_drop: float | None = None,
    auto_widths: bool = False,
) -> CompiledNetwork:
    """Convert a trained network to integers, with tables for its transfer functions.

    All bundles of Net# are compiled, any number into one layer, with every activation, except
    response normalisation; of CNTK's networks products, convolutions, pools and batch normalisation
    with sigmoid, tanh and rectifiers, and sums of these.

    Parameters
    ----------
    model : Model, estimator, str or path object
        A trained model, a fitted estimator, or the path of a model's file.
    calibration : array-like, data frame or dict of str to array-like
        Rows of features from which ranges are read: a hundred or more that are like those on a
        device; a dict has arrays (rows, ...) by the names of inputs.
    activations : str
        The operands of features and hidden layers: "uint8", "int8", "symmetric8" or "qmn8" (steps
        that are powers of two), with 4 to 16 bits; "int16/12" are looked up by 12 of them.
    weights : {"int8", "int8-tensor", "int16", "qmn8"}
        The weights, with a scale for each node, or one for each layer, or powers of two.
    logits : {"int16", "int8", "uint8"}
        The answers.
    share_tables : bool
        Give operators that are bounded the same range in every layer, so that they share a table;
        it needs the range "operator".
    range : str
        What the codes of a layer cover of what the rows show: "operator" (of sums only where the
        operator still moves the result), "minmax" (all), "percentile:99.9" (that percentage) or
        "mse" (the least mean square error); the last two also look where the operator moves.
    layers : dict of str to str, optional
        Operands of layers or inputs by name, where they are others than ``activations``.
    requant : {"auto", "mul", "shift"}
        How sums become codes: by a multiplier and a shift, or by a shift alone, for which the
        weights have scales that fit; "auto" shifts where that loses nothing.
    transfer : {"lut", "arith"}
        How these become codes of values: looked up in tables, or computed in fixed point without
        any, for comparison.
    big_tables : bool
        Allow tables that are looked up by more than 12 bits.
    holdout : tuple of two, optional
        Rows of features and their labels that neither the training nor the calibration has seen;
        ``report.gate`` is the result on them.
    max_drop : float, optional
        The percentage points of accuracy that may be lost on them, 0.5 by default; of a regression
        the percentage of their spread that answers may be off, 2 by default.
    auto_widths : bool
        Where more than that is lost, take the cheapest wider operands that pass;
        ``report.proposal`` has them in any case.

    Returns
    -------
    CompiledNetwork
        The network in integers, with its report.

    Raises
    ------
    CompileError
        A layer has no form in integers (with the place in the specification), the rows have no
        information, or a setting is invalid.
    DataError
        The rows have other values than numbers, or numbers are missing.
    ModelError
        The file is not a model.
    ValueError
        The features have another shape, or there is no trained model.

    Since
    -----
    0.1
    """
    settings = CompileSettings(
        activations=activations,
        weights=weights,
        logits=logits,
        share_tables=share_tables,
        range=range,
        layers=tuple((layers or {}).items()),
        requant=requant,
        big_tables=big_tables,
        transfer=transfer,
    )
    given = load(model) if isinstance(model, str | os.PathLike) else model
    trained = trained_model(given, "compiled")
    features = trained.encoded(rows_of(trained, calibration))
    gate = None if holdout is None else GateRows(_held_out(trained, *holdout), "holdout", max_drop)
    return compile_model(trained, lambda: iter([features]), settings, gate, auto_widths=auto_widths)


def _held_out(model: Model, x: Any, y: Any) -> LabelledRows:
    """Return rows with the numbers of their classes, or their target values. Raises DataError."""
    features = model.encoded(rows_of(model, x))
    task = "regression" if model.classes is None else "classification"
    table = Table.from_arrays(features, y, task=task, dtype=model.settings.dtype)
    wanted = table.targets if model.classes is None else translate_classes(table, model.classes)
    assert wanted is not None
    found = wanted
    return lambda: iter([(features, found)])
