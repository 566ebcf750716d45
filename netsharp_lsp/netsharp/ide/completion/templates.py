"""Text with placeholders, and the blocks of attributes that are proposed for a connection."""

from __future__ import annotations

from netsharp_engine.geometry import Axis
from netsharp_lsp.netsharp.ide.completion.fitting import WITH_MAPS, fitted, usual
from netsharp_lsp.netsharp.meaning.values.attributes import CONVOLVE, NORM
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.repairs.proposals import CONSTANTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Layer

#: Placeholder for a source whose shape is unknown.
UNKNOWN_SHAPE = (28, 28)
#: The feature maps that are proposed.
MAPS = 5


class Template:
    """Text with placeholders: a snippet for editors, and plain text with each one's default."""

    __slots__ = ("_holes", "_parts", "_plain")

    def __init__(self, text: str = "") -> None:
        self._parts: list[str] = []
        self._plain: list[str] = []
        self._holes = 0
        self.add(text)

    def add(self, text: str) -> Template:
        """Append fixed text."""
        self._parts.append(text.replace("\\", "\\\\").replace("$", "\\$"))
        self._plain.append(text)
        return self

    def hole(self, proposal: str) -> Template:
        """Append a placeholder."""
        self._holes += 1
        self._parts.append(f"${{{self._holes}:{proposal}}}")
        self._plain.append(proposal)
        return self

    def shape(self, sizes: tuple[int, ...]) -> Template:
        """Append a tuple of placeholders."""
        self.add("[")
        for position, size in enumerate(sizes):
            self.add(", " if position else "").hole(str(size))
        return self.add("]")

    @property
    def has_holes(self) -> bool:
        """Return whether there are placeholders."""
        return self._holes > 0

    @property
    def snippet(self) -> str:
        """Return the text in the syntax of editors."""
        return "".join(self._parts)

    @property
    def plain(self) -> str:
        """Return the text for a client that does not support snippets."""
        return "".join(self._plain)


def shape_of(source: Layer | None) -> tuple[int, ...]:
    """Return the shape of a source; a usual one where it is unknown."""
    known = source.shape if source is not None else None
    return known if known is not None else UNKNOWN_SHAPE


def block(
    template: Template,
    kind: str,
    source: Layer | None,
    declared: tuple[int, ...] | None = None,
) -> Template:
    """Append the attributes of a connection: InputShape from the source, kernels proposed.

    ``declared`` is the shape that they should give, if it is known.
    """
    shape = shape_of(source)
    found = fitted(kind, shape, declared)
    figures = found if found is not None else usual(kind, shape)
    template.add(f" {{\n  InputShape = {show(shape)};\n  KernelShape = ").shape(figures.kernel)
    if kind != NORM:
        template.add(";\n  Stride = ").shape(figures.stride)
    if kind == CONVOLVE:
        template.add(";\n  MapCount = ").hole(str(figures.maps if found is not None else MAPS))
    elif kind == NORM:
        for name, value in CONSTANTS.items():
            template.add(f";\n  {name} = ").hole(show(value))
    if any(figures.padding):
        uniform = all(figures.padding)
        template.add(";\n  Padding = ").add("true" if uniform else show(figures.padding))
    return template.add(";\n}")


def output_of(kind: str, source: Layer | None) -> tuple[int, ...]:
    """Return the shape that the usual attributes give."""
    shape = shape_of(source)
    figures = usual(kind, shape)
    steps = zip(shape, figures.kernel, figures.stride, figures.padding, strict=True)
    counts = tuple(Axis(i, k, s, padding=p).count for i, k, s, p in steps)
    if kind != CONVOLVE:
        return counts
    return (MAPS, *counts[1:]) if len(shape) >= WITH_MAPS else (MAPS, *counts)
