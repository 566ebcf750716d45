"""The description of the words at a place, as Markdown: one module per subject, one table.

It reads the declaration at the place and those that it names, never a whole text.
"""

from __future__ import annotations

from netsharp_lsp.ide.answers import Hover
from netsharp_lsp.netsharp.ide.hover.bundles import bundle_markdown
from netsharp_lsp.netsharp.ide.hover.layers import auto_markdown, layer_markdown, size_markdown
from netsharp_lsp.netsharp.ide.hover.values import (
    attribute_in_force,
    constant_markdown,
    value_markdown,
)
from netsharp_lsp.netsharp.ide.hover.words import (
    activation_at,
    comment_at,
    function_at,
    keyword_at,
    parameter_at,
    shared_bias_at,
)
from netsharp_lsp.netsharp.ide.places.subjects import subject_at
from netsharp_lsp.netsharp.meaning.model import Constant, Layer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.netsharp.ide.places.subjects import Subject
    from netsharp_lsp.netsharp.meaning.network import Network


def hover_at(network: Network, offset: int) -> Hover | None:
    """Return the description of the words at an offset; None where there is none."""
    subject = subject_at(network, offset)
    if subject is None:
        return None
    markdown = SUBJECTS[subject.kind](subject, network, offset)
    return Hover(markdown, subject.start, subject.end) if markdown else None


def _layer(subject: Subject, network: Network, offset: int) -> str:
    return layer_markdown(subject.named, network) if isinstance(subject.named, Layer) else ""


def _constant(subject: Subject, network: Network, offset: int) -> str:
    if isinstance(subject.named, Constant):
        return constant_markdown(subject.named, network)
    named = network.layers.get(subject.text)
    return layer_markdown(named, network) if named is not None else ""


def _bundle(subject: Subject, network: Network, offset: int) -> str:
    if subject.bundle is None:
        return keyword_at(subject, network, offset)
    return bundle_markdown(subject.bundle, network)


def _size(subject: Subject, network: Network, offset: int) -> str:
    return size_markdown(subject.layer, network) if subject.layer is not None else ""


def _auto(subject: Subject, network: Network, offset: int) -> str:
    return auto_markdown(subject.layer, network) if subject.layer is not None else ""


#: The description of each kind of subject.
SUBJECTS: dict[str, Callable[[Subject, Network, int], str]] = {
    "activation": activation_at,
    "attribute": attribute_in_force,
    "auto": _auto,
    "bundle": _bundle,
    "comment": comment_at,
    "constant": _constant,
    "function": function_at,
    "keyword": keyword_at,
    "layer": _layer,
    "one": shared_bias_at,
    "parameter": parameter_at,
    "size": _size,
    "value": value_markdown,
}
