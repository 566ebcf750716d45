"""Text with holes to fill in, and the blocks of attributes that are proposed for a connection."""

from __future__ import annotations

from netsharp_engine.geometry import Axis, product
from netsharp_lsp.netsharp.meaning.attributes import CONVOLVE, NORM
from netsharp_lsp.netsharp.meaning.evaluate import show
from netsharp_lsp.netsharp.meaning.model import Bundle
from netsharp_lsp.netsharp.repairs.proposals import (
    CONSTANTS,
    POOL_WINDOWS,
    WINDOWS,
    proposed_kernel,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Layer

#: What stands for a source whose shape is unknown.
UNKNOWN_SHAPE = (28, 28)
#: The feature maps that are proposed.
MAPS = 5


class Template:
    """Text with holes; a snippet for editors, and plain text with each hole's proposal."""

    __slots__ = ("_holes", "_parts", "_plain")

    def __init__(self, text: str = "") -> None:
        self._parts: list[str] = []
        self._plain: list[str] = []
        self._holes = 0
        self.add(text)

    def add(self, text: str) -> Template:
        """Go on with fixed text."""
        self._parts.append(text.replace("\\", "\\\\").replace("$", "\\$"))
        self._plain.append(text)
        return self

    def hole(self, proposal: str) -> Template:
        """Go on with something to fill in."""
        self._holes += 1
        self._parts.append(f"${{{self._holes}:{proposal}}}" if proposal else f"${self._holes}")
        self._plain.append(proposal)
        return self

    def shape(self, sizes: tuple[int, ...]) -> Template:
        """Go on with a tuple of holes."""
        self.add("[")
        for position, size in enumerate(sizes):
            self.add(", " if position else "").hole(str(size))
        return self.add("]")

    @property
    def has_holes(self) -> bool:
        """Whether anything is to fill in."""
        return self._holes > 0

    @property
    def snippet(self) -> str:
        """In the syntax of editors."""
        return "".join(self._parts)

    @property
    def plain(self) -> str:
        """For a client that knows no snippets."""
        return "".join(self._plain)


def window(kind: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A usual kernel: a convolution mixes all maps, a pool or norm takes each alone."""
    size = WINDOWS.get(kind, POOL_WINDOWS)[0]
    if kind == NORM:
        size = 3
    kernel = tuple(min(size, cells) for cells in shape)
    if len(shape) < 3:
        return kernel
    return (shape[0] if kind == CONVOLVE else 1, *kernel[1:])


def imagined(bundle: Bundle | None, kind: str) -> Bundle | None:
    """The same connection as if its kind were already written."""
    if bundle is None:
        return None
    other = Bundle(bundle.layer, bundle.item, bundle.number)
    other.kind, other.source = kind, bundle.source
    return other


def kernel_for(kind: str, shape: tuple[int, ...], bundle: Bundle | None) -> tuple[int, ...]:
    """A kernel for a source's shape; one that gives the declared size if there is one."""
    like = imagined(bundle, kind)
    found = proposed_kernel(like) if like is not None else None
    return found if found is not None and len(found) == len(shape) else window(kind, shape)


def shape_of(source: Layer | None) -> tuple[int, ...]:
    """The shape of a source; a usual one where it is unknown."""
    known = source.shape if source is not None else None
    return known if known is not None else UNKNOWN_SHAPE


def block(
    template: Template, kind: str, source: Layer | None, bundle: Bundle | None = None
) -> Template:
    """Go on with the attributes of a connection, InputShape filled in and the rest proposed."""
    shape = shape_of(source)
    kernel = kernel_for(kind, shape, bundle)
    template.add(f" {{\n  InputShape = {show(shape)};\n  KernelShape = ").shape(kernel)
    if kind == CONVOLVE:
        template.add(";\n  Stride = ").shape((1,) * len(shape))
        template.add(";\n  MapCount = ").hole(str(MAPS))
    elif kind == NORM:
        for name, value in CONSTANTS.items():
            template.add(f";\n  {name} = ").hole(show(value))
        template.add(";\n  Padding = ").hole("true")
    else:
        template.add(";\n  Stride = ").shape(kernel)
    return template.add(";\n}")


def output_of(kind: str, source: Layer | None) -> tuple[int, ...]:
    """The shape that the proposed attributes lead to."""
    shape = shape_of(source)
    kernel = window(kind, shape)
    if kind == NORM:
        return shape
    strides = (1,) * len(shape) if kind == CONVOLVE else kernel
    steps = zip(shape, kernel, strides, strict=True)
    counts = tuple(Axis(size, cells, stride).count for size, cells, stride in steps)
    if kind != CONVOLVE:
        return counts
    kept = counts[1:] if len(counts) > 2 else counts
    return (MAPS, *kept) if product(kept) == product(counts) else (MAPS, *counts)
