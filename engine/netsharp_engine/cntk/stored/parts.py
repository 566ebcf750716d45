"""The layout of the parts of single types of nodes in a file, where no list of fields gives it:
split when they are written, joined when they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netsharp_engine.cntk.stored.binary import BinaryReading, BinaryWriting
from netsharp_engine.cntk.stored.fields import NodePlace, words
from netsharp_engine.cntk.stored.matrices import with_matrix
from netsharp_engine.cntk.stored.old_normalization import with_old
from netsharp_engine.cntk.stored.values import StoredNode

Made = Callable[[BinaryReading, StoredNode, dict[str, Any]], StoredNode]
Spread = Callable[[StoredNode], dict[str, Any]]


def attributes(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Return a node with the attributes that were read."""
    written = {key: value for key, value in found.items() if not key.startswith(".")}
    kept = {key: value for key, value in found.items() if key.startswith(".")}
    shape = kept.pop(".shape", node.shape)
    return node._replace(attributes=written, shape=shape, kept={**node.kept, **kept})


def spread(node: StoredNode) -> dict[str, Any]:
    """Return the values to be written of a node, by the names of fields."""
    return {**node.attributes, **node.kept, ".shape": node.shape, ".matrix": node}


def _matrix(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    matrix = found.pop(".matrix")
    return with_matrix(given, attributes(given, node, found), matrix)


def _parameter(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    if ".updated" in found:
        found["learningRateMultiplier"] = float(found[".updated"])
        rows, columns = found[".rows"], found[".columns"]
        old = found.get(".oldShape")
        shape = (rows, columns) if old is None else (*old, *((columns,) if columns > 1 else ()))
        found[".shape"] = shape
    return _matrix(given, node, found)


def read_size_of_parameter(given: BinaryReading, place: NodePlace) -> tuple[Any, ...]:
    """Read rows and columns, and where there are no rows an older shape."""
    rows, columns = given.size(), given.size()
    return (rows, columns, None if rows else given.old_shape())


def write_size_of_parameter(out: BinaryWriting, value: Any, place: NodePlace) -> None:
    """Write rows and columns, and an older shape."""
    rows, columns, old = value
    out.size(rows)
    out.size(columns)
    if old is not None:
        out.shape(old)


def old_parameter(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Put a parameter together, also one of before version 3."""
    if ".size" in found:
        found[".rows"], found[".columns"], old = found.pop(".size")
        found |= {} if old is None else {".oldShape": old}
    return _parameter(given, node, found)


def spread_parameter(node: StoredNode) -> dict[str, Any]:
    """Take a parameter apart, also for a version before 3."""
    shape = node.shape
    rows = shape[0] if shape else 1
    others = 1
    for one in shape[1:]:
        others *= one
    known = spread(node)
    known.setdefault(".updated", node.attributes.get("learningRateMultiplier", 1.0) != 0)
    size = (known.get(".rows", rows), known.get(".columns", others), known.get(".oldShape"))
    return {**known, ".size": size}


def input_value(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Put an input together; an older file may contradict itself, and rows are right then."""
    axes = found.pop(".axes", ())
    node = attributes(given, node, found)
    size = 1
    for one in node.shape:
        size *= one
    rows = found.get(".rows", 0)
    if rows not in (0, size):
        node = node._replace(shape=(rows,), kept={**node.kept, ".shape": node.shape})
    named = axes[0] if axes else ""
    # A list of no axes is written as another number than one of a single axis without a name.
    kept = {**node.kept, **({} if axes else {".axes": ()})}
    return node._replace(attributes={"dynamicAxis": named}, kept=kept)


def spread_input(node: StoredNode) -> dict[str, Any]:
    """Take an input apart."""
    axes = (node.attributes.get("dynamicAxis", ""),)
    return {".shape": node.shape, ".axes": axes, **node.kept}


def read_axes(given: BinaryReading, place: NodePlace) -> tuple[str, ...]:
    """Read the name of an axis, if there is one."""
    return (given.text(),) if given.whole("I") == 1 else ()


def write_axes(out: BinaryWriting, axes: tuple[str, ...], place: NodePlace) -> None:
    """Write how many axes there are, and their names."""
    out.pack("I", len(axes))
    for one in axes:
        out.text(one)


def statistic(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Put a statistic together; ModelFault where it was never computed."""
    if not found[".computed"]:
        found.pop(".matrix")
        raise given.fault(f"'{node.name}' was never computed")
    return _matrix(given, node, found)


def delay(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Return a delay with its parts joined; its shape is also among its attributes."""
    if ".rows" in found:
        found[".shape"] = (found[".rows"],)
    node = attributes(given, node, found)
    return node._replace(attributes={**node.attributes, "shape": node.shape})


def spread_delay(node: StoredNode) -> dict[str, Any]:
    """Take a delay apart."""
    size = 1
    for one in node.shape:
        size *= one
    return {".rows": size, **spread(node)}


_SLICE_KEYS = ("beginIndex", "endIndex", "axis", "stride")


def read_slices(given: BinaryReading, place: NodePlace) -> tuple[tuple[int, ...], ...]:
    """Read ranges: begin, end, axis and stride of each."""
    found = []
    for _ in range(given.whole() if place.version >= 22 else 1):
        begin, size = given.take("qq")
        axis = given.whole() if place.version >= 3 else 1
        stride = given.whole() if place.version >= 27 else 1
        found.append((begin, begin + size, axis, stride))
    return tuple(found)


def write_slices(out: BinaryWriting, slices: tuple[Any, ...], place: NodePlace) -> None:
    """Write ranges, an end as its distance from the begin."""
    if place.version >= 22:
        out.pack("i", len(slices))
    for begin, end, axis, stride in slices:
        out.pack("qq", begin, end - begin)
        if place.version >= 3:
            out.pack("i", axis)
        if place.version >= 27:
            out.pack("i", stride)


def ranges(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Put a slice together; several ranges stand in tuples."""
    several = found[".slices"]
    if not several:
        raise given.fault(f"'{node.name}' slices along no axis")
    columns = dict(zip(_SLICE_KEYS, zip(*several, strict=True), strict=True))
    if len(several) == 1:
        columns = {key: value[0] for key, value in columns.items()}
    if set(columns.get("stride", ()) if len(several) > 1 else (columns["stride"],)) <= {1}:
        columns.pop("stride", None)
    return node._replace(attributes=columns)


def spread_slice(node: StoredNode) -> dict[str, Any]:
    """Take a slice apart."""
    given = {"stride": 1, "axis": 1, **node.attributes}
    begin = given["beginIndex"]
    count = len(begin) if isinstance(begin, tuple) else 1
    columns = [
        given[key] if isinstance(given[key], tuple) else (given[key],) * count
        for key in _SLICE_KEYS
    ]
    return {".slices": tuple(zip(*columns, strict=True))}


def read_reduced(given: BinaryReading, place: NodePlace) -> Any:
    """Read the axis that is reduced, or several."""
    if place.version < 27:
        return given.whole()
    axes = tuple(given.whole() for _ in range(given.whole()))
    return axes[0] if len(axes) == 1 else axes


def write_reduced(out: BinaryWriting, axis: Any, place: NodePlace) -> None:
    """Write the axis that is reduced, or several."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    if place.version >= 27:
        out.pack("i", len(axes))
    for one in axes:
        out.pack("i", one)


def read_swap(given: BinaryReading, place: NodePlace) -> tuple[int, ...]:
    """Read two axes; from version 25 two zeros, and all axes in their new order."""
    axes = given.take("ii")
    if place.version < 25 or any(axes):
        return axes
    at, count = given.at, given.size()
    if count * 4 > given.left:
        raise given.fault(f"a list of {count:,} axes does not fit into the file", at)
    return (*axes, *given.take(f"{count}i"))


def write_swap(out: BinaryWriting, axes: tuple[int, ...], place: NodePlace) -> None:
    """Write two axes, or zeros and an order of all."""
    out.pack("ii", *axes[:2])
    if place.version >= 25 and not any(axes[:2]):
        out.size(len(axes) - 2)
        out.pack(f"{len(axes) - 2}i", *axes[2:])


def swap(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Put an exchange of axes together."""
    first, second, *order = found.get(".axes", (1, 2))
    written: dict[str, Any] = {"axis1": first, "axis2": second}
    return node._replace(attributes={**written, "order": tuple(order)} if order else written)


def spread_swap(node: StoredNode) -> dict[str, Any]:
    """Take an exchange of axes apart."""
    given = node.attributes
    return {".axes": (given["axis1"], given["axis2"], *given.get("order", ()))}


#: CNTK's numbers of kinds of pooling and layouts of images.
KINDS, _LAYOUTS = ("none", "max", "average"), ("HWC", "CHW")
LAYOUT, OLD_LAYOUT = words(_LAYOUTS), words(_LAYOUTS, "I")


_OLD_SIDES = ("QQQQ", "II", "?", "Q")


def read_old_sides(given: BinaryReading, place: NodePlace) -> tuple[Any, ...]:
    """Read the windows of before version 5."""
    return tuple(value for form in _OLD_SIDES for value in given.take(form))


def write_old_sides(out: BinaryWriting, value: tuple[Any, ...], place: NodePlace) -> None:
    """Write the windows of before version 5."""
    out.pack("".join(_OLD_SIDES), *value)


def images(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Put moving windows together; those of before version 5 are planar."""
    if ".oldSides" in found:
        width, height, across, down, maps, layout, padded, memory = found.pop(".oldSides")
        if layout >= len(_LAYOUTS):
            raise given.fault(f"{layout} is expected to be less than {len(_LAYOUTS)}")
        found |= {"kernelShape": (width, height, 1), "mapCount": (maps,)}
        found |= {"strideShape": (across, down, 1), "dimSharing": (True,)}
        found |= {"dimPadding": (padded,), "dimPadLower": (0,), "dimPadUpper": (0,)}
        found |= {"pool": "none", "imageLayout": _LAYOUTS[layout], "form": "2D"}
        found |= {"maxTempMemSizeInSamples": memory, "transpose": False}
    elif found.pop(".planar", False):
        found["form"] = "2D"
    return attributes(given, node, found)


def spread_images(node: StoredNode) -> dict[str, Any]:
    """Take moving windows apart."""
    known = {**spread(node), ".planar": node.attributes.get("form") == "2D"}
    kernel, stride = (known.get(name, (1,)) for name in ("kernelShape", "strideShape"))
    if len(kernel) > 1 and len(stride) > 1:
        known[".oldSides"] = (
            *kernel[:2],
            *stride[:2],
            known.get("mapCount", (1,))[-1],
            _LAYOUTS.index(known.get("imageLayout", "CHW")),
            known.get("dimPadding", (False,))[0],
            known.get("maxTempMemSizeInSamples", 0),
        )
    return known


def normalization(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Join the parts of a batch normalisation; its count of samples becomes its number."""
    found = with_old(given, found)
    count = found.get(".samples", found.get(".batches", not found.get(".none", True)))
    node = attributes(given, node, found)
    return node._replace(values=np.array([count], np.float64))


def spread_normalization(node: StoredNode) -> dict[str, Any]:
    """Take a batch normalisation apart."""
    counted = 0 if node.values is None else int(np.asarray(node.values).reshape(-1)[0])
    known = spread(node)
    for key, value in ((".samples", counted), (".batches", counted), (".none", not counted)):
        known.setdefault(key, value)
    return known


_IMAGE = ("imageChannels", "imageWidth", "imageHeight")


def rows(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Return an image node with the older layout; shapes are the same."""
    image = found[".image"]
    if len(image) not in (0, len(_IMAGE)):
        raise given.fault(f"an image has width, height and channels, not {len(image)} sides")
    sides = dict(zip(_IMAGE, image or (0, 0, 0), strict=True))
    node = attributes(given, node, {**found, "imageLayout": "HWC"})
    return node._replace(attributes={**node.attributes, **sides})


def spread_rows(node: StoredNode) -> dict[str, Any]:
    """Take an older change of shape apart."""
    given = node.attributes
    channels, *sides = (given.get(name, 0) for name in _IMAGE)
    first = given.get("imageLayout", "HWC") == "HWC"
    return {".image": (channels, *sides) if first else (*sides, channels), **spread(node)}


#: The defaults of a trace's printing: truth values, and texts before, after and between.
PRINTED = (False, "", False, True, "", "", "", "", "\n", " ", "\n", "")
MOST = 100_000_000


def stack(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Return a stack of recurrences; before version 14 its data come first, and its words
    differ.
    """
    node = attributes(given, node, found)
    cell = _OLD_CELLS.get(node.attributes["recurrentOp"])
    if cell is None:
        return node
    kept = {**node.kept, ".cell": node.attributes["recurrentOp"]}
    return node._replace(attributes={**node.attributes, "recurrentOp": cell}, kept=kept)


_OLD_CELLS = {"LSTM": "lstm", "GRU": "gru", "RNN_RELU": "rnnReLU", "RNN_TANH": "rnnTanh"}


def spread_stack(node: StoredNode) -> dict[str, Any]:
    """Take a stack of recurrences apart."""
    known = spread(node)
    return {**known, "recurrentOp": known.get(".cell", known.get("recurrentOp", "lstm"))}


#: The offsets of a crop that determines them itself.
FOUND = float(np.finfo(np.float64).max)
OFFSETS = ("xOffset", "yOffset")


def crop(given: BinaryReading, node: StoredNode, found: dict[str, Any]) -> StoredNode:
    """Put a crop together: offsets that it finds itself are none of its attributes."""
    known = {name: found[name] for name in OFFSETS if found[name] != FOUND}
    whole = {name: int(one) for name, one in known.items() if one.is_integer()}
    return attributes(given, node, {**known, **whole})


#: How noise-contrastive estimation is evaluated: as it is trained, where labels do not say more.
TRAINED = 2


def read_mode(given: BinaryReading, place: NodePlace) -> int | None:
    """Read the mode of noise contrastive estimation; None where the number is not a mode: it was
    never written.
    """
    at, mode = given.at, given.whole()
    if 0 <= mode <= 2:
        return mode
    given.at = at
    return None


def write_mode(out: BinaryWriting, mode: int | None, place: NodePlace) -> None:
    """Write the mode of noise contrastive estimation, where it has one."""
    if mode is not None:
        out.pack("i", mode)
