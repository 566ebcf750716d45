"""The memory of a network in integers on a device, from shapes alone: bytes that are stored, and
the places of values. The checker predicts with it, and the compiler places with it; neither knows
the other, and this must not know arrays or weights.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.activations import ACTIVATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Protocol

    class WalkedAxis(Protocol):
        """One dimension of a window's way, in cells."""

        @property
        def size(self) -> int:
            """Return the cells of the source."""

        @property
        def kernel(self) -> int:
            """Return the cells of the window."""

        @property
        def stride(self) -> int:
            """Return the distance between positions."""

        @property
        def first(self) -> int:
            """Return its first cell at the first position, negative in a pad."""

        @property
        def count(self) -> int:
            """Return the number of positions."""

        @property
        def padded(self) -> bool:
            """Return whether a window reaches beyond the source."""


#: The number of largest sums that are held beside the scratch memory while a pool is computed.
MOST_BEST = 128
#: Bits of codes, and of those that a table before the answers is looked up by; bytes of an answer.
CODE_BITS, LAST_INDEX_BITS, ANSWER_BYTES = 8, 10, 2
#: Bytes of a bias, a multiplier and a shift, where sums have 32 bits.
_CHANNEL_BYTES = 4 + 4 + 1
#: Operators that codes with ends do by themselves, and those of which all layers share a table.
BY_ENDS = ("linear", "rlinear", "brlinear")
SHARING = ("sigmoid", "tanh")
#: Why operations are refused.
REFUSALS = {
    "response norm": (
        "response normalisation divides each value by a power of a sum of squares around it, for "
        "which a device without floating point has no table. Leave the bundle out and train again."
    ),
    "softmax": "softmax within a network looks at all nodes at once.",
}


class BundleShape(NamedTuple):
    """A bundle: the number of the operand that it reads (0 the features, then the layers in order),
    how many of its values, its kind (full, filtered, convolved, largest or mean), the pairs of a
    filtered one, and the way of a window.
    """

    operand: int
    size: int
    kind: str
    edges: int = 0
    axes: Sequence[WalkedAxis] = ()
    sharing: Sequence[bool] = ()
    maps: Sequence[int] = ()

    @property
    def taps(self) -> int:
        """Return the number of cells of a window."""
        return prod(one.kernel for one in self.axes)

    @property
    def grid(self) -> tuple[tuple[int, int, bool], ...]:
        """Return, for each dimension, its maps, positions, and whether these share a kernel."""
        walks = zip(self.maps, self.axes, self.sharing, strict=True)
        return tuple((maps, one.count, shared) for maps, one, shared in walks)

    @property
    def kernels(self) -> int:
        """Return the number of kernels."""
        return prod(maps * (1 if shared else count) for maps, count, shared in self.grid)


class LayerShape(NamedTuple):
    """A layer: its name, how many nodes it has, its operator, and its bundles."""

    name: str
    nodes: int
    function: str
    parts: Sequence[BundleShape]

    @property
    def pool(self) -> BundleShape | None:
        """Return the pool that the layer is, None where it is not one."""
        return self.parts[0] if self.parts[0].kind in ("largest", "mean") else None


class DeviceStep(NamedTuple):
    """A layer that is computed, by its number, and the pool of it alone that is computed with it,
    of sums instead of values; None where there is none.
    """

    layer: int
    pool: int | None = None

    @property
    def made(self) -> int:
        """Return the number of the layer whose values are there afterwards."""
        return self.layer if self.pool is None else self.pool


class PlacedLayer(NamedTuple):
    """The parts of a layer that are placed: its nodes, the bytes of a value, and for each of its
    bundles the operand and the cells of a window that is copied; 0 where none is.
    """

    nodes: int
    width: int
    parts: Sequence[tuple[int, int]]


class ScratchMemory(NamedTuple):
    """The places of each layer's values in the scratch memory, by its number, and of the windows
    that a layer copies, by its number and that of the bundle; its number of bytes, the bytes of the
    widest number in it, and the layer of the step at which most of it is held.
    """

    offsets: dict[int, int]
    windows: dict[tuple[int, int], int]
    size: int
    width: int
    peak: int

    @property
    def bytes(self) -> int:
        """Return its bytes, with a margin to align the widest numbers."""
        return self.size + self.width - 1


class _Block(NamedTuple):
    """Bytes that are held from one step to another, of numbers of some bytes each."""

    size: int
    width: int
    born: int
    dies: int


class LayerBytes(NamedTuple):
    """Bytes of a layer: weights with their places, biases with multipliers and shifts, and the
    table that no layer before has.
    """

    weights: int
    scales: int
    table: int

    @property
    def flash(self) -> int:
        """Return the sum in bytes."""
        return self.weights + self.scales + self.table


class Footprint(NamedTuple):
    """Bytes of a network with the compiler's usual settings: of each layer, of scratch memory, of
    features and of answers; and how many instructions' bytes were measured for such steps.
    """

    layers: tuple[LayerBytes, ...]
    scratch: ScratchMemory
    steps: tuple[DeviceStep, ...]
    features: int
    answers: int

    @property
    def ram(self) -> int:
        """Return the bytes of features, answers and scratch memory."""
        return self.features + self.answers + self.scratch.bytes


def place_bytes(most: int) -> int:
    """Return the bytes of the smallest number that holds a place."""
    return 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4


def footprint(layers: Sequence[LayerShape], features: int, width: int = 1) -> Footprint:
    """Return the memory of a network with operands of 8 bits and outputs of 16.

    Weights of filtered bundles that become 0 are not stored, sums beyond 32 bits take four bytes
    more a bias, and features with far wider ranges than most have codes of two bytes, which is
    their ``width``: that is known only with data.
    """
    widths = list(_value_bytes(layers))
    steps = _steps(layers)
    pooled = {step.layer: step.pool is not None for step in steps}
    placed = [
        PlacedLayer(
            layer.nodes,
            width,
            [
                (part.operand, part.taps if copies(layer.parts, pooled=pooled[number]) else 0)
                for part in layer.parts
            ]
            if number in pooled
            else [],
        )
        for number, (layer, width) in enumerate(zip(layers, widths, strict=True))
    ]
    tables = _table_bytes(layers)
    parts = tuple(
        LayerBytes(sum(_weight_bytes(one, layer.nodes) for one in layer.parts), _scales(layer), own)
        for layer, own in zip(layers, tables, strict=True)
    )
    scratch = scratch_of_steps(placed, steps, width)
    answers = layers[-1].nodes * widths[-1]
    return Footprint(parts, scratch, tuple(steps), features * width, answers)


def scratch_of_steps(
    layers: Sequence[PlacedLayer], steps: Sequence[DeviceStep], features: int
) -> ScratchMemory:
    """Return a place for the values of each step but the last, and for its windows, that nothing
    else holds while they are read: larger ones first, each at the lowest free place.  ``features``
    are the bytes of one.
    """
    values: dict[int, _Block] = {}
    windows: dict[tuple[int, int], _Block] = {}
    for place, step in enumerate(steps):
        for number, (operand, cells) in enumerate(layers[step.layer].parts):
            if operand:
                values[operand - 1] = values[operand - 1]._replace(dies=place)
            if cells:
                width = layers[operand - 1].width if operand else features
                windows[step.layer, number] = _Block(cells * width, width, place, place)
        made = layers[step.made]
        values[step.made] = _Block(made.nodes * made.width, made.width, place, place)
    del values[len(layers) - 1]
    blocks = [*values.values(), *windows.values()]
    starts = _packed(blocks)
    ends = [start + one.size for start, one in zip(starts, blocks, strict=True)]
    held = [0] * len(steps)
    for one in blocks:
        for place in range(one.born, one.dies + 1):
            held[place] += one.size
    return ScratchMemory(
        dict(zip(values, starts[: len(values)], strict=True)),
        dict(zip(windows, starts[len(values) :], strict=True)),
        max(ends, default=1),
        max((one.width for one in blocks), default=1),
        steps[held.index(max(held))].layer,
    )


def copies(parts: Sequence[BundleShape], *, pooled: bool) -> bool:
    """Return whether each window is copied once for all maps, where its sums fit as well."""
    first = parts[0]
    if first.kind != "convolved" or prod(first.maps) < 2:
        return False
    if pooled and prod(first.maps) > MOST_BEST:
        return False
    return all(one.kind == "convolved" and one.grid == first.grid for one in parts)


def windows_along(
    axes: Sequence[WalkedAxis],
    sharing: Sequence[bool],
    maps: Sequence[int],
    pool: Sequence[WalkedAxis],
) -> dict[int, WalkedAxis] | None:
    """Return, by axes of a convolution, the axes of a pool whose windows move over their
    positions; None where a window reaches over maps or kernels, or over more than one axis.
    """
    grid = [
        (extent, d if extent == axis.count and not is_map and sharing[d] else None)
        for d, axis in enumerate(axes)
        for is_map, extent in ((True, maps[d]), (False, axis.count))
        if extent > 1
    ]
    found: dict[int, WalkedAxis] = {}
    for over in pool:
        size, taken = 1, []
        while size < over.size and grid:
            extent, d = grid.pop(0)
            size *= extent
            taken.append(d)
        if size != over.size:
            return None
        if not _is_steady(over) and over.size > 1:
            if len(taken) > 1 or taken[0] is None:
                return None
            found[taken[0]] = over
    return found


def _is_steady(axis: WalkedAxis) -> bool:
    """Return whether each window is the one cell of its own position."""
    return (axis.kernel, axis.stride, axis.first, axis.count) == (1, 1, 0, axis.size)


def _steps(layers: Sequence[LayerShape]) -> list[DeviceStep]:
    readers: dict[int, list[int]] = {}
    for number, layer in enumerate(layers):
        for part in layer.parts:
            readers.setdefault(part.operand - 1, []).append(number)
    pools = {
        number: read[0]
        for number, layer in enumerate(layers)
        if len(read := readers.get(number, [])) == 1
        and _is_pooled_at_once(layer, layers[read[0]], last=read[0] == len(layers) - 1)
    }
    gone = set(pools.values())
    numbers = [number for number in range(len(layers)) if number not in gone]
    return [DeviceStep(number, pools.get(number)) for number in numbers]


def _is_pooled_at_once(layer: LayerShape, pool: LayerShape, *, last: bool) -> bool:
    found, first = pool.pool, layer.parts[0]
    if found is None or found.kind != "largest" or pool.function != "linear" or last:
        return False
    if any(one.stride < one.kernel for one in found.axes):
        return False
    if not ACTIVATIONS[layer.function].monotone:
        return False
    if not all(one.kind == "convolved" and one.grid == first.grid for one in layer.parts):
        return False
    return windows_along(first.axes, first.sharing, first.maps, found.axes) is not None


def _packed(blocks: Sequence[_Block]) -> list[int]:
    """Return the first byte of each block."""
    starts: dict[int, int] = {}
    for number in sorted(range(len(blocks)), key=lambda one: (-blocks[one].size, one)):
        block = blocks[number]
        taken = sorted(
            (start, start + blocks[other].size)
            for other, start in starts.items()
            if blocks[other].born <= block.dies and block.born <= blocks[other].dies
        )
        start = 0
        for first, end in taken:
            if start + block.size <= first:
                break
            start = max(start, -(-end // block.width) * block.width)
        starts[number] = start
    return [starts[number] for number in range(len(blocks))]


def _value_bytes(layers: Sequence[LayerShape]) -> Iterator[int]:
    for number in range(len(layers)):
        yield ANSWER_BYTES if number == len(layers) - 1 else 1


def _table_bytes(layers: Sequence[LayerShape]) -> list[int]:
    """Return the bytes of each layer's table: 0 where it has none, or shares an earlier layer's."""
    found, shared = [], set[str]()
    for number, layer in enumerate(layers):
        is_largest = layer.pool is not None and layer.pool.kind == "largest"
        if number == len(layers) - 1:
            plain = layer.function in ("linear", "softmax")
            index = CODE_BITS if is_largest else LAST_INDEX_BITS
            found.append(0 if plain and not is_largest else ANSWER_BYTES << index)
        elif layer.function in (("linear",) if is_largest else (*BY_ENDS, *shared)):
            found.append(0)
        else:
            if layer.function in SHARING and not is_largest:
                shared.add(layer.function)
            found.append(1 << CODE_BITS)
    return found


def _weight_bytes(part: BundleShape, nodes: int) -> int:
    if part.kind == "full":
        return nodes * part.size
    if part.kind == "convolved":
        return part.kernels * part.taps
    if part.kind == "filtered":
        edges = max(part.edges, 1)
        ends = nodes * place_bytes(part.edges)
        return edges * (1 + place_bytes(part.size - 1)) + ends
    return 0


def _scales(layer: LayerShape) -> int:
    pool = layer.pool
    if pool is not None and pool.kind == "largest":
        return 0
    if pool is not None:
        padded = any(one.padded for one in pool.axes)
        return _CHANNEL_BYTES * (pool.taps if padded else 1)
    grids = {_channels_of(one, layer.nodes) for one in layer.parts}
    if len(grids) > 1 or grids == {None}:
        return _CHANNEL_BYTES * layer.nodes
    return _CHANNEL_BYTES * layer.parts[0].kernels


def _channels_of(part: BundleShape, nodes: int) -> tuple[tuple[int, int, bool], ...] | None:
    """Return the dimensions by which nodes share weights; None where none do."""
    if part.kind != "convolved" or part.kernels == nodes:
        return None
    return tuple((maps, count, shared and count > 1) for maps, count, shared in part.grid)


#: Bytes of code of a network, and of each of its steps by whether it has windows, fitted to what
#: boards of gcc -O2 hold: within a quarter of each of four networks.
CODE_BYTES: Mapping[str, tuple[int, int, int]] = {
    "cortex-m0": (12, 168, 500),
    "cortex-m3": (68, 120, 508),
    "cortex-m4": (56, 120, 512),
    "cortex-m7": (40, 132, 480),
    "cortex-m33": (68, 120, 508),
    "rv32": (14, 174, 562),
}


def code_bytes(found: Footprint, layers: Sequence[LayerShape], processor: str) -> int:
    """Return about how many bytes the code has on a processor, one of `CODE_BYTES`."""
    kinds = [layers[step.layer].parts[0].kind for step in found.steps]
    return code_of_steps([kind not in ("full", "filtered") for kind in kinds], processor)


def code_of_steps(windowed: Sequence[bool], processor: str) -> int:
    """Return the same of steps, by whether each has windows."""
    base, plain, with_windows = CODE_BYTES[processor]
    return base + sum(with_windows if one else plain for one in windowed)
