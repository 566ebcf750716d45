"""Rules about what fits the device that settings name, before training."""

from __future__ import annotations

from netsharp_lsp.limits import DEVICE_LAYERS
from netsharp_lsp.netsharp.findings import Finding, Note
from netsharp_lsp.netsharp.rules import NETWORK, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_engine.devices.footprint import Footprint
    from netsharp_lsp.netsharp.meaning.device import DeviceNetwork
    from netsharp_lsp.netsharp.meaning.network import Network

#: The most of the largest layers that are listed.
_LISTED = 3


@rule("NS140", "warning", on=NETWORK)
def too_large(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a network that does not fit its device."""
    target = network.context.target
    if target is None or len(network.all_layers) > DEVICE_LAYERS.most:
        return
    # Where no device is named, nothing waits for these.
    from netsharp_engine.devices.footprint import code_bytes, footprint
    from netsharp_lsp.netsharp.meaning.device import device_network

    found = device_network(network)
    if found is None:
        return
    sizes = footprint(found.shapes, found.features)
    if target.flash is not None:
        code = code_bytes(sizes, found.shapes, target.processor) if target.processor else 0
        yield from _flash(network, found, sizes, target.flash, code)
    if target.ram is not None and sizes.ram > target.ram:
        layer = found.layers[sizes.scratch.peak]
        parts = f"{sizes.features:,} of features, {sizes.answers:,} of answers"
        message = (
            f"Layer '{layer.name}' is computed where most memory is in use: {parts} and "
            f"{sizes.scratch.bytes:,} of scratch memory are {sizes.ram:,} of {target.ram:,} bytes "
            f"of RAM, {sizes.ram - target.ram:,} too many."
        )
        yield Finding("NS140", layer.place, message)


def _flash(
    network: Network, found: DeviceNetwork, sizes: Footprint, limit: int, code: int
) -> Iterator[Finding]:
    needed = sum(one.flash for one in sizes.layers) + code
    if needed <= limit:
        return
    reached, passing = code, 0
    while passing < len(sizes.layers) - 1 and reached + sizes.layers[passing].flash <= limit:
        reached += sizes.layers[passing].flash
        passing += 1
    layer, own = found.layers[passing], sizes.layers[passing]
    counted = f", about {code:,} of them code" if code else ", code not counted"
    message = (
        f"Layer '{layer.name}' {_arithmetic(found, passing)}{own.weights:,} bytes of weights, "
        f"{own.scales:,} of biases and scales and {own.table:,} of a table; the network needs "
        f"{needed:,} of {limit:,} bytes of flash{counted}: {needed - limit:,} too many."
    )
    order = sorted(range(len(sizes.layers)), key=lambda one: -sizes.layers[one].flash)
    notes = [
        Note(
            f"'{found.layers[one].name}' takes {sizes.layers[one].flash:,}.",
            found.layers[one].place,
        )
        for one in order[:_LISTED]
    ]
    yield Finding("NS140", layer.place, message, notes)


def _arithmetic(found: DeviceNetwork, number: int) -> str:
    """Return the number of a layer's weights as a product."""
    shape = found.shapes[number]
    products = []
    for part in shape.parts:
        if part.kind == "full":
            products.append(f"{part.size:,} × {shape.nodes:,}")
        elif part.kind == "convolved":
            products.append(f"{part.kernels:,} × {part.taps:,}")
        elif part.kind == "filtered":
            products.append(f"{part.edges:,}")
    return f"has {' + '.join(products)} weights of 8 bits: " if products else "takes "


@rule("NS141", "warning", on=NETWORK)
def not_compiled(network: Network, _network: Network) -> Iterator[Finding]:
    """Report what `netsharp compile` refuses, where settings name a device."""
    if network.context.target is None:
        return
    from netsharp_lsp.netsharp.meaning.device import refused

    for subject, reason in refused(network):
        message = f"This cannot be compiled for a device yet: {reason}"
        yield Finding("NS141", subject.place, message)
