"""The cursor with what is known about it, and a proposal: shared by the modules of completion."""

from __future__ import annotations

from netsharp_lsp.netsharp.ide.completion.templates import Template
from netsharp_lsp.netsharp.ide.places.subjects import index_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.ide.answers import CompletionKind
    from netsharp_lsp.netsharp.ide.places.situation import Situation
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network


class Proposal:
    """Text that may be written: its label, what is inserted, what documents it."""

    __slots__ = ("detail", "kind", "label", "template", "topic")

    def __init__(
        self,
        label: str,
        kind: CompletionKind,
        template: Template | None = None,
        *,
        detail: str = "",
        topic: str = "",
    ) -> None:
        self.label = label
        self.kind = kind
        self.template = template if template is not None else Template(label)
        self.detail = detail
        self.topic = topic


class Cursor:
    """A place of a text, with the layer and the connection that it belongs to."""

    __slots__ = ("leaves_out", "network", "offset", "situation")

    def __init__(self, network: Network, situation: Situation, offset: int) -> None:
        self.network = network
        self.situation = situation
        self.offset = offset
        #: Whether more names would suit than are proposed.
        self.leaves_out = False

    @property
    def typed(self) -> str:
        """Return the part of the word at the cursor that is before it."""
        return self.network.specification.data[self.situation.start : self.offset].decode()

    @property
    def layer(self) -> Layer | None:
        """Return the layer at the cursor, as far as it was parsed."""
        return self.network.layers.get(self.situation.layer)

    @property
    def source(self) -> Layer | None:
        """Return the source of the connection at the cursor."""
        return self.network.layers.get(self.situation.source)

    @property
    def declared(self) -> tuple[int, ...] | None:
        """Return the shape that the layer at the cursor declares."""
        return self.layer.shape if self.layer is not None else None

    @property
    def bundle(self) -> Bundle | None:
        """Return the connection at the cursor: the last one of its layer that starts before it."""
        layer = self.layer
        if layer is None:
            return None
        base = self.network.specification.starts[layer.declaration]
        started = [b for b in layer.bundles if base + b.item.start <= self.situation.start]
        if not started or started[-1].source_name != self.situation.source:
            return None
        return started[-1]

    @property
    def text_after(self) -> bytes:
        """Return the rest of the line after the word at the cursor, less blanks."""
        data = self.network.specification.data
        end = data.find(b"\n", self.situation.end)
        return data[self.situation.end : end if end >= 0 else len(data)].strip()

    @property
    def blank(self) -> str:
        """Return a blank, unless one follows the word at the cursor."""
        end = self.situation.end
        following = self.network.specification.data[end : end + 1]
        return "" if following in (b" ", b"\t") else " "

    def nearest_source(self) -> Layer | None:
        """Return the last layer above the cursor that a new layer may read."""
        specification = self.network.specification
        number = index_at(specification, self.situation.start)
        for declaration in reversed(specification.declarations[: number + 1]):
            if declaration.kind in ("input", "hidden") and declaration.items:
                name = getattr(declaration.items[-1], "name", None)
                layer = self.network.layers.get(name.text) if name is not None else None
                if layer is not None and layer.name != self.situation.layer:
                    return layer
        return None

    def free_name(self, stem: str) -> str:
        """Return a name that no layer or constant has yet."""
        taken, number, name = self.network.layers, 1, stem
        while name in taken:
            number += 1
            name = f"{stem}{number}"
        return name
