"""What must hold of a plan before any of it is given to a device: bounds that all of them have.

It reads plain data, and knows no device.
"""

from __future__ import annotations

from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend.kernels import DeviceKernel, LoopNest, OverRow
from netsharp_engine.wgpu_backend.planning.joining import ROW, Pass
from netsharp_engine.wgpu_backend.planning.placing import ARENA, ARENAS, Placement
from netsharp_engine.wgpu_backend.planning.splitting import MOST_TRIPS
from netsharp_engine.wgpu_backend.tuned import UNROLLED
from netsharp_engine.wgpu_backend.variants import Variant, longest, nest_of, piece, variant_of
from netsharp_engine.wgpu_backend.writing import (
    GROUPS,
    folded,
    groups,
    looked,
    threads,
    tiled,
)

#: Bytes that the threads of a group share.
GROUP_BYTES = 16_384
THREADS = ROW


def trips(kernel: DeviceKernel, width: int) -> int:
    """Return the maximum number of iterations of the loops of one invocation together."""
    row, nest = variant_of(kernel), nest_of(kernel)
    total = sum(op.trips for _, op in kernel.body if isinstance(op, LoopNest))
    looks = sum(isinstance(op, OverRow) for _, op in kernel.body)
    if row.form == "tiles" and nest is not None:
        total = _tile_trips(row, nest, kernel.pieces, width)
    elif row.form == "lanes" and nest is not None:
        total = _lane_trips(row, nest)
    if kernel.by_rows:
        total += looks * min(kernel.size, width)
        if kernel.size > width:
            total += (looks + 1) * -(-kernel.size // width)
    return total


def _tile_trips(row: Variant, nest: LoopNest, pieces: int, width: int) -> int:
    assert nest.matrix is not None
    fetched = sum(-(-count // width) for count in row.loads)
    tiles = -(-piece(nest.matrix, pieces) // row.deep)
    return tiles * (1 + fetched + row.deep // UNROLLED)


def _lane_trips(row: Variant, nest: LoopNest) -> int:
    shared = longest(nest)
    loops = tuple(
        loop._replace(most=-(-loop.most // row.lanes)) if loop is shared else loop
        for loop in nest.loops
    )
    return nest._replace(loops=loops).trips


def group_bytes(one: Pass) -> int:
    """Return the bytes that the threads of a group share: numbers they look at, and tiles."""
    return 4 * looked(one) + 16 * tiled(one)


def prove(passes: list[Pass], placement: Placement) -> None:
    """Raise GraphError, a sentence that names the kernel, where a bound does not hold."""
    if len(placement.arenas) > ARENAS:
        raise GraphError(f"{len(placement.arenas)} arenas are bound; at most {ARENAS} can be")
    for name, size in placement.arenas.items():
        if size > ARENA:
            raise GraphError(
                f"the arena '{name}' has {size:,} numbers; at most {ARENA:,} are bound"
            )
    for one in passes:
        width = threads(one)
        count = sum(groups(kernel, width) for kernel in one.kernels)
        down = folded(count)[1]
        what = one.kernels[0].what
        if down > GROUPS:
            raise GraphError(f"{what}: {count:,} groups are more than a device counts")
        if width > THREADS or group_bytes(one) > GROUP_BYTES:
            raise GraphError(
                f"{what}: a group of {width} threads that share {group_bytes(one):,} bytes is too "
                "large"
            )
        for kernel in one.kernels:
            turns = trips(kernel, width)
            if turns > MOST_TRIPS:
                raise GraphError(
                    f"{kernel.what}: loops turn up to {turns:,} times for one number; beyond "
                    f"{MOST_TRIPS:,} some drivers stop silently. Make the layer smaller."
                )
