"""A network in integers as JSON and back: alone enough to simulate it.

Floating-point numbers are hexadecimal, so that they keep every bit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from netsharp_compile.form import ModelForm
from netsharp_compile.integers import MOST_SHIFT, FeatureCodes, IntegerLayer, IntegerNetwork
from netsharp_compile.layers import ReadValues
from netsharp_compile.refusal import CompileError
from netsharp_compile.schemes import QuantizationScheme
from netsharp_engine.excerpt import excerpt

VERSION = 1
#: The types of weights and tables.
_TYPES = ("int8", "uint8", "int16", "uint16")


def manifest_of(network: IntegerNetwork, form: ModelForm) -> str:
    """Return a network, and what its rows and answers mean, as the text of a manifest."""
    found = {"netsharp_manifest": VERSION, "model": form.to_json(), **json_of(network)}
    return json.dumps(found, indent=1) + "\n"


def json_of(network: IntegerNetwork) -> dict[str, object]:
    """Return a network as plain values of JSON."""
    read = network.features
    return {
        "features": {
            "codes": _scheme(read.codes),
            "offset": [float(one).hex() for one in read.offset],
            "factor": [float(one).hex() for one in read.factor],
            "most": read.most.tolist(),
        },
        "layers": [
            {
                "name": layer.name,
                "function": layer.function,
                "origin": layer.origin,
                "sources": [one._asdict() for one in layer.sources],
                "weights": {"type": layer.weights.dtype.name, "rows": layer.weights.tolist()},
                "biases": layer.biases.tolist(),
                "multipliers": layer.multipliers.tolist(),
                "shifts": layer.shifts.tolist(),
                "result": _scheme(layer.result),
                "table": layer.table,
                "target": _scheme(layer.target),
                "bound": layer.bound,
            }
            for layer in network.layers
        ],
        "tables": [{"type": one.dtype.name, "values": one.tolist()} for one in network.tables],
    }


def network_of(text: str) -> tuple[IntegerNetwork, ModelForm]:
    """Return the network of a manifest, and what its rows and answers mean.

    Raises CompileError for a text that is none, or one of another version.
    """
    try:
        found = json.loads(text)
        version = found["netsharp_manifest"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CompileError("This is no manifest of a compiled network.") from None
    if version != VERSION:
        raise CompileError(
            f"The manifest has version {version!r}, and {VERSION} is read here: compile it again."
        )
    try:
        network = _network(found)
        form = ModelForm.from_json(found["model"], network.layers[-1].nodes)
        if form.encoding.features != len(network.features.offset):
            raise ValueError("its rows have another number of features")
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise CompileError(
            f"The manifest is damaged ({type(error).__name__}: {excerpt(str(error))}): compile the "
            "model again."
        ) from None
    return network, form


def _scheme(scheme: QuantizationScheme) -> dict[str, object]:
    return {
        "kind": scheme.kind,
        "operand": scheme.operand,
        "bits": scheme.bits,
        "scale": scheme.scale.hex(),
        "zero_point": scheme.zero_point,
    }


def _read_scheme(found: Mapping[str, Any]) -> QuantizationScheme:
    return QuantizationScheme(
        found["kind"],
        found["operand"],
        int(found["bits"]),
        float.fromhex(found["scale"]),
        int(found["zero_point"]),
    )


def _type(name: Any) -> str:
    """A type by its name; ValueError for one that no network has."""
    if name not in _TYPES:
        raise ValueError(f"there are no numbers of type {name!r}")
    return str(name)


def _network(found: Mapping[str, Any]) -> IntegerNetwork:
    read = found["features"]
    codes = _read_scheme(read["codes"])
    offset, factor = (
        np.array([float.fromhex(one) for one in read[key]]) for key in ("offset", "factor")
    )
    tables = tuple(np.array(one["values"], _type(one["type"])) for one in found["tables"])
    layers = tuple(_layer(one) for one in found["layers"])
    network = IntegerNetwork(
        FeatureCodes(codes, offset, factor, np.array(read["most"], np.int64)), layers, tables
    )
    _require_sound(network)
    network.simulate(network.features.of(np.zeros((1, len(offset)))))
    return network


def _require_sound(network: IntegerNetwork) -> None:
    """Raise ValueError for numbers that no network has."""
    read = network.features
    of_features = (read.offset, read.factor, read.most)
    if {one.shape for one in of_features} != {(len(read.most),)} or not len(read.most):
        raise ValueError("its features have different numbers of codes")
    if not np.isfinite([read.offset, read.factor]).all():
        raise ValueError("a feature is infinite or no number")
    if read.most.min() < 0 or read.most.max() >= read.codes.size:
        raise ValueError("a feature has codes beyond all others")
    for layer in network.layers:
        if layer.shifts.min(initial=0) < 0 or layer.shifts.max(initial=0) > MOST_SHIFT:
            raise ValueError(f"a shift of {layer.name} is none")
        sizes = {} if layer.table is None else dict(enumerate(map(len, network.tables)))
        if layer.table is not None and sizes.get(layer.table) != layer.result.size:
            raise ValueError(f"the table of {layer.name} is not that of its sums")


def _layer(found: Mapping[str, Any]) -> IntegerLayer:
    numbers = {key: np.array(found[key], np.int64) for key in ("biases", "multipliers", "shifts")}
    return IntegerLayer(
        name=str(found["name"]),
        function=str(found["function"]),
        origin=str(found["origin"]),
        sources=tuple(ReadValues(**one) for one in found["sources"]),
        weights=np.array(found["weights"]["rows"], _type(found["weights"]["type"])),
        result=_read_scheme(found["result"]),
        table=found["table"],
        target=_read_scheme(found["target"]),
        bound=int(found["bound"]),
        **numbers,
    )
