"""What must hold of a plan before any of it is given to a device: bounds that all of them have.

It reads plain data, and knows no device.
"""

from __future__ import annotations

from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend.kernels import DeviceKernel, LoopNest, OverRow
from netsharp_engine.wgpu_backend.planning.joining import ROW, Pass
from netsharp_engine.wgpu_backend.planning.placing import ARENA, ARENAS, Placement
from netsharp_engine.wgpu_backend.planning.splitting import MOST_TRIPS
from netsharp_engine.wgpu_backend.writing import GROUPS, folded, groups, threads

#: Bytes that the threads of a group share.
GROUP_BYTES = 16_384
THREADS = ROW


def trips(kernel: DeviceKernel, width: int) -> int:
    """How often the loops of one invocation turn at most, all of them together."""
    total = sum(op.trips for _, op in kernel.body if isinstance(op, LoopNest))
    looks = sum(isinstance(op, OverRow) for _, op in kernel.body)
    if kernel.by_rows:
        total += looks * min(kernel.size, width)
        if kernel.size > width:
            total += (looks + 1) * -(-kernel.size // width)
    return total


def group_bytes(one: Pass) -> int:
    """The bytes that the threads of a group share."""
    return 4 * threads(one) if any(kernel.by_rows for kernel in one.kernels) else 0


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
            raise GraphError(f"{what}: a group of {width} threads is too large")
        for kernel in one.kernels:
            turns = trips(kernel, width)
            if turns > MOST_TRIPS:
                raise GraphError(
                    f"{kernel.what}: loops turn up to {turns:,} times for one number; beyond "
                    f"{MOST_TRIPS:,} some drivers stop without a word. Make the layer smaller."
                )
