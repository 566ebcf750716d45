"""Formulas joined into programs, and programs put side by side, so that a step has few passes.

A formula joins the kernel that makes what it reads, where no other kernel has to run between both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from netsharp_engine.wgpu_backend.kernels import (
    Buffer,
    DeviceKernel,
    Each,
    LoopNest,
    Operation_,
    OverRow,
    StoreTo,
    named,
)
from netsharp_engine.wgpu_backend.planning.line import KernelLine

#: The most elements of a row that one workgroup computes, each of its threads keeping one.
ROW = 256


class Pass(NamedTuple):
    """Kernels that run at the same time."""

    kernels: tuple[DeviceKernel, ...]


def orders(kernels: Sequence[DeviceKernel]) -> list[set[int]]:
    """Return for each kernel those that have to run before: those that write what it reads, and
    those that read what it overwrites.
    """
    before: list[set[int]] = []
    writers: dict[int, int] = {}
    readers: dict[int, set[int]] = {}
    for place, kernel in enumerate(kernels):
        reads, writes = kernel.reads(), kernel.writes()
        found = {writers[b] for b in reads | writes if b in writers}
        for b in writes:
            found |= readers.pop(b, set())
            writers[b] = place
        for b in reads - writes:
            readers.setdefault(b, set()).add(place)
        found.discard(place)
        before.append(found)
    return before


def needed(kernels: Sequence[DeviceKernel], buffers: Sequence[Buffer]) -> list[DeviceKernel]:
    """Return the kernels and stores that a kept buffer depends on, in order."""
    wanted = {buffer.number for buffer in buffers if buffer.kept}
    found: list[DeviceKernel] = []
    for kernel in reversed(kernels):
        stores = tuple(store for store in kernel.stores if store.buffer in wanted)
        if not stores:
            continue
        used = _used(kernel.body, stores)
        body = tuple((k, operation) for k, operation in kernel.body if k in used)
        kernel = kernel._replace(body=body, stores=stores)
        wanted |= kernel.reads()
        found.append(kernel)
    return found[::-1]


def _used(body: Iterable[tuple[int, Operation_]], stores: Iterable[StoreTo]) -> set[int]:
    """Return the values that stores, and each other, need."""
    used = {store.value for store in stores}
    for number, operation in reversed(list(body)):
        if number in used and not isinstance(operation, LoopNest):
            used.update(named(operation.formula))
    return used


def join(kernels: Sequence[DeviceKernel]) -> list[DeviceKernel]:
    """Merge kernels where possible, in their order."""
    line = KernelLine(kernels)
    place: int | None = 0 if kernels else None
    while place is not None:
        joined = _join_one(line, place)
        place = line.following(place) if joined is None else joined
    return line.left()


def _join_one(line: KernelLine, place: int) -> int | None:
    """Join the kernel at a position to one that makes what it reads, and return their position;
    None where no other fits.
    """
    reader = line.at(place)
    if reader.sums or reader.pieces > 1:
        return None
    before = line.before(place)
    for number in sorted(before, reverse=True):
        maker = line.at(number)
        if not _fit(maker, reader):
            continue
        # Both take the reader's position, or the maker's where a kernel between needs what that
        # makes; neither will do where the reader, too, waits for one between.
        users = line.used_before(number, place)
        if users and any(k > number for k in before):
            continue
        kept, gone = (number, place) if users else (place, number)
        line.replace(kept, gone, _both(maker, reader))
        return kept
    return None


def _fit(maker: DeviceKernel, reader: DeviceKernel) -> bool:
    """Return whether the reader reads what the maker makes, at the same element."""
    if maker.pieces > 1 or (maker.rows, maker.size) != (reader.rows, reader.size):
        return False
    made = {store.buffer for store in maker.stores if not store.at and not store.once}
    shared = made & reader.reads()
    if not shared:
        return False
    by_rows = maker.by_rows or reader.by_rows
    if by_rows and (maker.sums or reader.sums) and maker.size > ROW:
        return False
    for _, operation in reader.body:
        for text in _formulas(operation):
            for number in shared:
                if len(re.findall(rf"\bb{number}\[", text)) != text.count(f"b{number}[e]"):
                    return False
    # What the maker wrote for other elements is not there yet.
    return not (maker.writes() - made) & reader.reads()


def _formulas(operation: Operation_) -> tuple[str, ...]:
    return () if isinstance(operation, LoopNest) else (operation.formula,)


def _both(maker: DeviceKernel, reader: DeviceKernel) -> DeviceKernel:
    """Return one kernel that does both, equal operations once."""
    made = {store.buffer: store.value for store in maker.stores if not store.at}
    body = list(maker.body)
    known = {operation: number for number, operation in body}
    renamed: dict[int, int] = {}
    for number, operation in reader.body:
        assert isinstance(operation, (Each, OverRow))
        formula = operation.formula
        for buffer, value in made.items():
            formula = formula.replace(f"b{buffer}[e]", f"v{value}")
        for old, new in renamed.items():
            formula = re.sub(rf"\bv{old}\b", f"v{new}", formula)
        changed = operation._replace(formula=formula)
        if isinstance(changed, Each) and re.fullmatch(r"v\d+", formula):
            renamed[number] = int(formula[1:])
        elif changed in known:
            renamed[number] = known[changed]
        else:
            known[changed] = number
            body.append((number, changed))
    stores = {store.buffer: store for store in maker.stores}
    for store in reader.stores:
        value = renamed.get(store.value, store.value)
        stores[store.buffer] = store._replace(value=value)
    return maker._replace(
        what=_shorter(maker, reader),
        family=reader.family if maker.family in ("activation", "bias", "sum") else maker.family,
        role=reader.role if reader.role == "update" else maker.role,
        body=tuple(body),
        stores=tuple(stores.values()),
        joined=maker.joined + reader.joined,
    )


def _shorter(maker: DeviceKernel, reader: DeviceKernel) -> str:
    """Return the name of a merged kernel: the first's, with the operation of the second."""
    return f"{maker.what}, {reader.what.rpartition(': ')[2]}"


def levels(kernels: Sequence[DeviceKernel], *, side_by_side: bool = True) -> list[Pass]:
    """Return passes in order: all kernels that may run at the same time, or one each."""
    if not side_by_side:
        return [Pass((kernel,)) for kernel in kernels]
    before = orders(kernels)
    found: list[list[DeviceKernel]] = []
    depth: list[int] = []
    for place, kernel in enumerate(kernels):
        level = max((depth[k] + 1 for k in before[place]), default=0)
        depth.append(level)
        if level == len(found):
            found.append([])
        found[level].append(kernel)
    return [Pass(tuple(each)) for each in found]
