"""A network in integers as JSON and back: alone enough to simulate it.

Floating-point numbers are hexadecimal, so that they keep every bit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_compile.bundles import (
    Bundle,
    ConvolvedBundle,
    FilteredBundle,
    FullBundle,
    PooledBundle,
    ReadValues,
    WindowAxis,
)
from netsharp_compile.form import ModelForm
from netsharp_compile.formulas import FixedFormula
from netsharp_compile.integers import FeatureCodes, IntegerBundle, IntegerLayer, IntegerNetwork
from netsharp_compile.refusal import CompileError
from netsharp_compile.rescaling import MOST_SHIFT
from netsharp_compile.schemes import QuantizationScheme
from netsharp_engine.excerpt import excerpt

if TYPE_CHECKING:
    import numpy.typing as npt

VERSION = 1
#: No figure of a window is larger.
_MOST = 1 << 20
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
            "lowest": read.lowest.tolist(),
            "most": read.most.tolist(),
            "edges": [[float(one).hex() for one in edges] for edges in read.edges],
        },
        "layers": [
            {
                "name": layer.name,
                "function": layer.function,
                "origin": layer.origin,
                "nodes": layer.nodes,
                "bundles": [_bundle(one) for one in layer.parts],
                "biases": layer.biases.tolist(),
                "multipliers": layer.multipliers.tolist(),
                "shifts": layer.shifts.tolist(),
                "result": _scheme(layer.result),
                "table": layer.table,
                "target": _scheme(layer.target),
                "bound": layer.bound,
                **({} if layer.formula is None else {"formula": asdict(layer.formula)}),
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
        raise CompileError("This is not the manifest of a compiled network.") from None
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


def _bundle(part: IntegerBundle) -> dict[str, object]:
    bundle = part.bundle
    found: dict[str, object] = {"kind": bundle.kind, "source": bundle.source._asdict()}
    if isinstance(bundle, FilteredBundle):
        found |= {"owners": bundle.owners.tolist(), "places": bundle.places.tolist()}
    if isinstance(bundle, ConvolvedBundle | PooledBundle):
        found["axes"] = [asdict(one) for one in bundle.axes]
    if isinstance(bundle, ConvolvedBundle):
        found |= {"sharing": list(bundle.sharing), "maps": list(bundle.maps), "zero": part.zero}
    if not isinstance(bundle, PooledBundle):
        found["weights"] = {"type": part.weights.dtype.name, "values": part.weights.tolist()}
    return found


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
    """Return a type by its name; ValueError for an unknown one."""
    if name not in _TYPES:
        raise ValueError(f"there are no numbers of type {name!r}")
    return str(name)


def _network(found: Mapping[str, Any]) -> IntegerNetwork:
    read = found["features"]
    codes = _read_scheme(read["codes"])
    offset, factor = (_floats(read[key]) for key in ("offset", "factor"))
    lowest, most = (np.array(read[key], np.int64) for key in ("lowest", "most"))
    edges = tuple(_floats(one) for one in read["edges"])
    tables = tuple(np.array(one["values"], _type(one["type"])) for one in found["tables"])
    layers = tuple(_layer(one) for one in found["layers"])
    features = FeatureCodes(codes, offset, factor, lowest, most, edges)
    network = IntegerNetwork(features, layers, tables)
    _require_sound(network)
    network.simulate(np.zeros((1, len(offset)), codes.dtype))
    return network


def _require_sound(network: IntegerNetwork) -> None:
    """Raise ValueError for numbers that no network has."""
    read = network.features
    of_features = (read.offset, read.factor, read.lowest, read.most)
    if {one.shape for one in of_features} != {(len(read.most),)} or not len(read.most):
        raise ValueError("its features have different numbers of codes")
    if len(read.edges) not in (0, len(read.most)):
        raise ValueError("its features have different numbers of bins")
    if not np.isfinite([read.offset, read.factor]).all():
        raise ValueError("a feature is infinite or no number")
    if read.lowest.min() < 0 or read.most.max() >= read.codes.size:
        raise ValueError("a feature has codes beyond all others")
    if (read.lowest > read.most).any():
        raise ValueError("a feature has no code")
    for layer in network.layers:
        if layer.shifts.min(initial=0) < 0 or layer.shifts.max(initial=0) > MOST_SHIFT:
            raise ValueError(f"a shift of {layer.name} is none")
        sizes = {} if layer.table is None else dict(enumerate(map(len, network.tables)))
        if layer.table is not None and sizes.get(layer.table) != layer.result.size:
            raise ValueError(f"the table of {layer.name} is not that of its sums")
        if layer.formula is not None and layer.table is not None:
            raise ValueError(f"{layer.name} has a table and a formula")
        if layer.formula is not None and layer.formula.most not in layer.target.codes():
            raise ValueError(f"the formula of {layer.name} ends at no code")


def _floats(found: Sequence[str]) -> npt.NDArray[np.float64]:
    return np.array([float.fromhex(one) for one in found])


def _layer(found: Mapping[str, Any]) -> IntegerLayer:
    numbers = {key: np.array(found[key], np.int64) for key in ("biases", "multipliers", "shifts")}
    return IntegerLayer(
        name=str(found["name"]),
        function=str(found["function"]),
        origin=str(found["origin"]),
        parts=tuple(_read_bundle(one, int(found["nodes"])) for one in found["bundles"]),
        result=_read_scheme(found["result"]),
        table=found["table"],
        target=_read_scheme(found["target"]),
        bound=int(found["bound"]),
        formula=_formula(found["formula"]) if "formula" in found else None,
        **numbers,
    )


def _formula(found: Mapping[str, Any]) -> FixedFormula:
    numbers = {key: int(value) for key, value in found.items() if key != "function"}
    return FixedFormula(function=str(found["function"]), **numbers)


def _read_bundle(found: Mapping[str, Any], nodes: int) -> IntegerBundle:
    weights = np.zeros(0, np.int8)
    if "weights" in found:
        weights = np.array(found["weights"]["values"], _type(found["weights"]["type"]))
    source = ReadValues(**{key: int(value) for key, value in found["source"].items()})
    bundle = _KINDS[found["kind"]](found, source, nodes)
    if bundle.nodes != nodes:
        raise ValueError(f"a bundle has {bundle.nodes} nodes, and its layer {nodes}")
    return IntegerBundle(bundle, weights, int(found.get("zero", 0)))


def _full(found: Mapping[str, Any], source: ReadValues, nodes: int) -> Bundle:
    return FullBundle(source, nodes)


def _filtered(found: Mapping[str, Any], source: ReadValues, nodes: int) -> Bundle:
    owners, places = (np.array(found[key], np.int64) for key in ("owners", "places"))
    return FilteredBundle(source, nodes, owners, places)


def _convolved(found: Mapping[str, Any], source: ReadValues, nodes: int) -> Bundle:
    sharing, maps = tuple(map(bool, found["sharing"])), tuple(map(int, found["maps"]))
    return ConvolvedBundle(source, _axes(found), sharing, maps)


def _pooled(found: Mapping[str, Any], source: ReadValues, nodes: int) -> Bundle:
    return PooledBundle(source, _axes(found), found["kind"] == "largest")


def _axes(found: Mapping[str, Any]) -> tuple[WindowAxis, ...]:
    axes = [WindowAxis(**{key: int(value) for key, value in one.items()}) for one in found["axes"]]
    for one in axes:
        figures = (one.size, one.kernel, one.stride, one.count)
        if min(figures) < 1 or max(figures) > _MOST or not -one.kernel < one.first < one.size:
            raise ValueError(f"{one} is no way of a window")
    return tuple(axes)


#: What reads each kind of bundle.
_KINDS: dict[str, Callable[[Mapping[str, Any], ReadValues, int], Bundle]] = {
    "full": _full,
    "filtered": _filtered,
    "convolved": _convolved,
    "largest": _pooled,
    "mean": _pooled,
}
