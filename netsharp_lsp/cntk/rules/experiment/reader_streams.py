"""The streams of a reader by name, each with the number of values per sample.

Only readers whose streams are determined by the configuration are known; others have no streams
here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.meaning.usage import sections
from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.text.numbers import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netsharp_lsp.cntk.configuration.entries import Entry
    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.scope import Found


class Stream(NamedTuple):
    """A stream: its name, its key, the number of values per sample, and the option that sets it."""

    name: str
    entry: Entry
    size: int | None
    why: str
    found: Found | None
    alias: str | None


#: The option with the number of classes of a column.
_CLASSES = "labelDim"
#: Readers whose streams are all known.
_KNOWN = frozenset(
    (
        *("CNTKTextFormatReader", "ImageReader", "CompositeDataReader", "HTKMLFReader"),
        *("HTKDeserializers", "UCIFastReader", "readers"),
    )
)


def streams_of(
    reader: Visit, visits: Iterable[Visit], labels: Callable[[str], int | None]
) -> list[Stream] | None:
    """Return the streams of a reader, None if they cannot all be known.

    `labels` returns the number of labels that a file lists, None if it is unknown.
    """
    if reader.table.name not in _KNOWN:
        return None
    found: list[Stream] = []
    below = [visit for visit in visits if _is_inside(visit, reader)]
    if any(visit.is_open for visit in below):
        return None
    for visit in below:
        if visit.table.name == "readers" or visit is reader:
            continue
        if visit.table.name == "streams":
            found += _no_blocks(visit)
        if visit.outer is not None and visit.outer.table.name == "readers":
            if visit.table.name not in _KNOWN:
                return None
            continue
        stream = _stream(visit, labels)
        if stream is not None:
            found.append(stream)
    return found


def _no_blocks(visit: Visit) -> list[Stream]:
    """Return streams that are not blocks, of which only the name is known."""
    return [
        Stream(entry.key.decode("utf-8", "replace"), entry, None, "", None, None)
        for entry, found in sections(visit)
        if not is_block(found.text.text)
    ]


def _is_inside(visit: Visit, reader: Visit) -> bool:
    at: Visit | None = visit
    while at is not None:
        if at is reader:
            return True
        at = at.outer
    return False


def _stream(visit: Visit, labels: Callable[[str], int | None]) -> Stream | None:
    """Return the stream of a block, None if the block is not a stream."""
    read = _TABLES.get(visit.table.name)
    counted = None if read is None else read(visit)
    if counted is None:
        return None
    count, why, found = counted
    if why == _CLASSES and visit.table.name == "column section":
        count, why = _listed(visit, count, labels)
    alias = visit.text("alias") if visit.table.find("alias") is not None else None
    return Stream(visit.name, visit.found.entry, count, why, found, alias)


_Counted = tuple[int | None, str, "Found | None"]


def _text_stream(visit: Visit) -> _Counted:
    return _number(visit, "dim"), "dim", visit.option("dim")


def _image_section(visit: Visit) -> _Counted | None:
    if visit.scope.here(b"width") is not None:
        sides = [_number(visit, name) for name in ("width", "height", "channels")]
        return _product(sides), "width x height x channels", visit.option("width")
    if visit.scope.here(b"labelDim") is not None:
        return _number(visit, "labelDim"), "labelDim", visit.option("labelDim")
    return None


def _speech_section(visit: Visit) -> _Counted | None:
    if visit.scope.here(b"scpFile") is not None:
        return _frames(visit)
    if visit.scope.here(b"mlfFile") is None and visit.scope.here(b"mlfFileList") is None:
        return None
    for name in ("labelDim", "dim"):
        if visit.option(name) is not None:
            mapped = visit.text("labelToTargetMappingFile") if _has(visit, "targetDim") else None
            name = "targetDim" if mapped else name
            return _number(visit, name), name, visit.option(name)
    return None, "", None


def _has(visit: Visit, name: str) -> bool:
    return visit.table.find(name) is not None


def _frames(visit: Visit) -> _Counted:
    """Return the values per frame, times the frames of the context window."""
    dim, found = _number(visit, "dim"), visit.option("dim")
    window = visit.option("contextWindow")
    frames = 1 if window is None else _window(window)
    if dim is None or frames is None:
        return None, "dim", found
    why = "dim" if frames == 1 else f"dim {dim} in {frames} frames of contextWindow"
    return dim * frames, why, found


def _window(found: Found) -> int | None:
    """Return the frames of a window, given as one odd number or as those to the left and to the
    right.
    """
    if found.problem is not None:
        return None
    texts = [one.text.decode("utf-8", "replace").strip() for one in elements(found.text) or ()]
    numbers = [number for text in texts if (number := whole_number(text)) is not None]
    if len(numbers) < len(texts):
        return None
    if len(numbers) == 1:
        return numbers[0]
    return sum(numbers) + 1 if len(numbers) == 2 else None


def _deserialized(visit: Visit) -> _Counted | None:
    """Return the stream of a deserializer, by the deserializer's type."""
    outer = visit.outer.outer if visit.outer is not None else None
    kind = outer.text("type") if outer is not None else None
    if kind == "CNTKTextFormatDeserializer":
        return _text_stream(visit)
    if kind in ("HTKFeatureDeserializer", "HTKMLFDeserializer"):
        return _speech_section(visit)
    if kind != "ImageDeserializer":
        return None, "", None
    if visit.scope.here(b"labelDim") is not None:
        return _number(visit, "labelDim"), "labelDim", visit.option("labelDim")
    return _scaled(visit)


def _scaled(visit: Visit) -> _Counted:
    """Return the size that the last Scale of the transforms sets."""
    found = visit.option("transforms")
    for part in reversed(elements(found.text) or () if found is not None else ()):
        scope = visit.scope.inside(type(visit.found)(visit.found.entry, visit.found.scope, part))
        if scope.option(b"type", "") == "Scale":
            sides = [_whole(scope.option(name, "")) for name in (b"width", b"height", b"channels")]
            return _product(sides), "width x height x channels of Scale", found
    return None, "", found


def _columns(visit: Visit) -> _Counted | None:
    if visit.scope.here(b"labelDim") is not None or visit.scope.here(b"labelType") is not None:
        kind = (visit.text("labelType") or "category").lower()
        name = _CLASSES if kind == "category" else "dim"
        return (None if kind == "none" else _number(visit, name)), name, visit.option(name)
    return _number(visit, "dim"), "dim", visit.option("dim")


def _listed(
    visit: Visit, count: int | None, labels: Callable[[str], int | None]
) -> tuple[int | None, str]:
    """Return the classes of a column: the number of listed labels, if that exceeds labelDim."""
    path = visit.text("labelMappingFile")
    listed = labels(path) if path else None
    if listed is None or (count or 0) >= listed or (count is None and _has_own(visit)):
        return count, _CLASSES
    return listed, f"'{path}' lists that number of labels, more than labelDim"


def _has_own(visit: Visit) -> bool:
    return visit.option(_CLASSES) is not None


def _number(visit: Visit, name: str) -> int | None:
    return _whole(visit.text(name))


def _whole(text: str | None) -> int | None:
    return None if text is None else whole_number(text.strip())


def _product(sides: list[int | None]) -> int | None:
    product = 1
    for side in sides:
        if side is None:
            return None
        product *= side
    return product


_TABLES = {
    "stream": _text_stream,
    "image section": _image_section,
    "speech section": _speech_section,
    "deserialized stream": _deserialized,
    "column section": _columns,
}
