"""Lenses above declarations: training, beside a run file, compiling, beside a trained model, and
the parameters of layers.

A layer's parameters are counted only for visible lenses.
"""

from __future__ import annotations

from netsharp_lsp.ide.answers import DOCUMENT, Command, Lens
from netsharp_lsp.netsharp.ide.meanings.counting import layer_equation
from netsharp_lsp.netsharp.ide.meanings.formulas import layer_parameters
from netsharp_lsp.netsharp.reading.syntax import LayerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.ide.answers import LensOptions
    from netsharp_lsp.netsharp.meaning.network import Network

TRAIN = "netsharp.server.train"
COMPILE = "netsharp.server.compile"


def lenses_of(network: Network, options: LensOptions) -> list[Lens]:
    """Return the lens that trains, where there is a run file, the one that compiles a trained
    model, and with the option one for each layer.
    """
    declarations = network.specification.declarations
    found = []
    commands = []
    if options.run_file is not None:
        title = f"Train with {file_name(options.run_file)}"
        commands.append(Command(TRAIN, title, (DOCUMENT, {"runFile": options.run_file})))
    if options.trained:
        commands.append(Command(COMPILE, "Compile for a device", (DOCUMENT,)))
    if declarations:
        start = network.specification.starts[declarations[0]]
        found += [Lens(start, start, one.title, one) for one in commands]
    if options.parameters:
        found += layer_lenses(network)
    return found


def file_name(path: str) -> str:
    """Return the last part of a path of any system."""
    return path.replace("\\", "/").rpartition("/")[2]


def layer_lenses(network: Network) -> Iterator[Lens]:
    """Yield a lens without a title for each trained layer."""
    for declaration, item in network.specification.items():
        if isinstance(item, LayerItem) and item.bundles:
            base = network.specification.starts[declaration]
            name = item.name.text
            yield Lens(base + item.name.start, base + item.name.end, key=name)


def lens_title(network: Network, key: str) -> str:
    """Return the parameters of a layer; empty where it is gone."""
    layer = network.layers.get(key)
    if layer is None:
        return ""
    count = layer_parameters(layer, network)
    if count is not None and count.known == 0:
        return "nothing to train"
    return f"parameters: {layer_equation(layer, network)}"
