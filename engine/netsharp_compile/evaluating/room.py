"""The check whether a network in integers fits a device: the bytes that it needs beside the memory
of the device.

Knows the plan, and not where the sizes of the device are configured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from netsharp_compile.bundles import FilteredBundle, FullBundle
from netsharp_compile.probabilities import softmax_bytes
from netsharp_compile.writing.c_arrays import arrays_of
from netsharp_compile.writing.c_files import stored_size
from netsharp_compile.writing.device_steps import scratch_of, steps_of
from netsharp_engine.devices.footprint import code_of_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_compile.integers import IntegerNetwork

#: The number of largest layers that are named.
_NAMED = 3


class DeviceRoom(NamedTuple):
    """The memory of a device: bytes of flash and of RAM, None where unknown, and its processor,
    with which code is counted; ``softmax`` is whether probabilities are asked for.
    """

    flash: int | None
    ram: int | None
    processor: str | None = None
    softmax: bool = False


@dataclass(frozen=True, slots=True)
class RoomVerdict:
    """The bytes that a network needs, and the memory of its device; None where that is unknown.

    ``code`` is an estimate, None without a processor; ``scratch`` has its maximum at the layer
    ``peak``; ``largest`` are layers with the bytes of their weights and tables, the largest first.
    """

    processor: str | None
    weights: int
    tables: int
    code: int | None
    flash_limit: int | None
    features: int
    answers: int
    scratch: int
    ram_limit: int | None
    peak: str
    largest: tuple[tuple[str, int], ...]

    @property
    def flash(self) -> int:
        """Return the bytes of flash that are needed, without code where no processor is named."""
        return self.weights + self.tables + (self.code or 0)

    @property
    def ram(self) -> int:
        """Return the bytes of RAM that are needed, without the stack."""
        return self.features + self.answers + self.scratch

    @property
    def is_met(self) -> bool:
        """Return whether all of it fits."""
        pairs = ((self.flash, self.flash_limit), (self.ram, self.ram_limit))
        return all(limit is None or needed <= limit for needed, limit in pairs)

    def to_json(self) -> dict[str, Any]:
        """Return the derived fields as JSON."""
        return {"flash": self.flash, "ram": self.ram, "is_met": self.is_met}

    def lines(self) -> list[str]:
        """Return lines for people."""
        return [*self._flash(), *self._ram()]

    def _flash(self) -> Iterator[str]:
        if self.flash_limit is None:
            return
        code = ", code not counted"
        if self.code is not None:
            code = f" and about {self.code:,} of code for {self.processor}"
        parts = f"{self.weights:,} bytes of weights, biases and scales, {self.tables:,} of tables"
        line = f"flash: {parts}{code}: {_share_of_limit(self.flash, self.flash_limit)}"
        if self.flash > self.flash_limit:
            layers = (f"{name} takes {size:,}" for name, size in self.largest)
            line += f"; {', '.join(layers)}"
        yield line

    def _ram(self) -> Iterator[str]:
        if self.ram_limit is None:
            return
        parts = f"{self.features:,} bytes of features, {self.answers:,} of answers"
        line = f"RAM: {parts} and {self.scratch:,} of scratch memory, without the stack: "
        line += _share_of_limit(self.ram, self.ram_limit)
        if self.ram > self.ram_limit:
            line += f"; the maximum is at {self.peak}"
        yield line


def _share_of_limit(needed: int, limit: int) -> str:
    verdict = "fits" if needed <= limit else f"{needed - limit:,} TOO MANY"
    return f"{needed:,} of {limit:,}, {verdict}"


def room_of(network: IntegerNetwork, room: DeviceRoom) -> RoomVerdict:
    """Return the memory that a network needs on a device, and whether it fits."""
    steps, scratch = steps_of(network), scratch_of(network)
    last = network.layers[-1]
    tables = sum(table.nbytes for table in network.tables)
    code = None
    if room.processor is not None:
        windowed = [_has_windows(network, step.layer) for step in steps]
        code = code_of_steps(windowed, room.processor)
    features = network.features
    return RoomVerdict(
        processor=room.processor,
        weights=stored_size(network),
        tables=tables + (softmax_bytes(last.target) if room.softmax else 0),
        code=code,
        flash_limit=room.flash,
        features=len(features.offset) * features.codes.dtype.itemsize,
        answers=last.nodes * last.target.dtype.itemsize,
        scratch=scratch.bytes,
        ram_limit=room.ram,
        peak=network.layers[scratch.peak].name,
        largest=tuple(sorted(_stored(network), key=lambda one: -one[1])[:_NAMED]),
    )


def _stored(network: IntegerNetwork) -> Iterator[tuple[str, int]]:
    """Yield the bytes that each layer stores; a table counts for the first layer that has it."""
    seen = set()
    for layer in network.layers:
        table = 0
        if layer.table is not None and layer.table not in seen:
            seen.add(layer.table)
            table = network.tables[layer.table].nbytes
        yield layer.name, table + sum(one.size for one in arrays_of(layer.name, layer))


def _has_windows(network: IntegerNetwork, number: int) -> bool:
    bundle = network.layers[number].parts[0].bundle
    return not isinstance(bundle, FullBundle | FilteredBundle)
