"""Where buffers lie: offsets in arenas of what one binding holds; nothing overlaps.

It knows sizes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend.kernels import TABLES, WEIGHTS, WORK, Buffer

#: Numbers that a binding holds: 128 MiB of four bytes.
ARENA = (128 << 20) // 4
#: Buffers begin at multiples of this number of values, so that each can be copied alone.
STEP = 64
#: The most arenas, with that of the tables: storage buffers of one program.
ARENAS = 8


class ArenaPlace(NamedTuple):
    """An arena by its name, and the number in it at which a buffer begins."""

    arena: str
    offset: int


class Placement(NamedTuple):
    """A place for each buffer, and how many numbers each arena has, in order of binding."""

    places: Mapping[int, ArenaPlace]
    arenas: Mapping[str, int]


def placed(buffers: Iterable[Buffer], used: set[int], arena: int = ARENA) -> Placement:
    """Return places for the buffers that are used; parameters, and what is kept, always have one.

    GraphError where a buffer is larger than a binding, or all are more than the arenas hold.
    """
    places: dict[int, ArenaPlace] = {}
    arenas: dict[str, int] = {}
    count = {WEIGHTS: 0, WORK: 0, TABLES: 0}
    for buffer in buffers:
        if buffer.number not in used and not buffer.kept:
            continue
        size = -(-buffer.size // STEP) * STEP
        if size > arena:
            raise GraphError(
                f"'{buffer.label}' has {buffer.size:,} numbers, and a device binds at most "
                f"{arena:,} at once. {_remedy(buffer.rows > 1)}"
            )
        name = _arena(buffer.room, count[buffer.room])
        if arenas.get(name, 0) + size > arena:
            count[buffer.room] += 1
            name = _arena(buffer.room, count[buffer.room])
        places[buffer.number] = ArenaPlace(name, arenas.get(name, 0))
        arenas[name] = arenas.get(name, 0) + size
    if len(arenas) > ARENAS:
        total = 4 * sum(arenas.values())
        raise GraphError(
            f"The network takes {total / (1 << 20):,.0f} MiB of the device in {len(arenas)} parts; "
            f"at most {ARENAS} can be bound. {_remedy(count[WORK] >= count[WEIGHTS])}"
        )
    return Placement(places, arenas)


def _remedy(rows: bool) -> str:
    """Return the advice if memory is used by rows, or by parameters."""
    if rows:
        return "Take fewer rows a step (batch_size), or train on another device: --device cpu."
    return "Make the layers smaller, or train on another device: --device cpu."


def _arena(room: str, number: int) -> str:
    """Return the name of an arena in a program's text."""
    return room if not number else f"{room}{number}"
